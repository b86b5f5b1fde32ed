"""Where a message is written, several lines of it; what is not sent is kept."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from quarterdeck.tui.widgets.settings.plain_area import PlainArea


class Composer(PlainArea):
    """A few lines of text below the log."""

    DEFAULT_CSS = """
    Composer {
        height: auto; min-height: 1; max-height: 8; padding: 0 1; border: none; border-top: solid $edge;
        &:focus { border: none; border-top: solid $tone-key; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", show=False),
        Binding("ctrl+s", "send", "Send", show=False, priority=True),
        Binding("f4", "edit", "Editor", show=False, priority=True),
    ]

    class Left(Message):
        """The person goes back to reading."""

    class Submitted(Message):
        """A message is to be sent; it still stands in the composer."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class EditorAsked(Message):
        """The person wants to write in another program."""

    def __init__(self) -> None:
        super().__init__(id="composer")
        self.soft_wrap = True
        self.placeholder = "m writes a message"

    def action_leave(self) -> None:
        """Go back to reading; what is written stays."""
        self.post_message(self.Left())

    def action_send(self) -> None:
        """Send what is written."""
        self.post_message(self.Submitted(self.text))

    def action_edit(self) -> None:
        """Write in the person's own editor."""
        self.post_message(self.EditorAsked())
