"""A one-line field that takes a paste as one line, and refuses a pasted secret of several."""

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input

from quarterdeck.settings import masks
from quarterdeck.tui import text
from quarterdeck.tui.text import Shown

MOST = 4_000
"""Characters that a field begins with, or takes from a paste: far more than anybody edits in one line."""


def abridged(value: str) -> Shown:
    """A value as its field begins with it: the rest of a very long one stands behind a mask.

    A field left alone keeps the value whole, and no check lets a changed one through while the mask is in it.
    """
    return text.line(value) if len(value) <= MOST else Shown(f"{text.line(value[:MOST])} {masks.MASK}")


class LineInput(Input):
    """Textual's input without a border; pasted text loses what would act on a terminal."""

    @dataclass
    class Noticed(Message):
        """A paste was changed or refused; `words` say how."""

        input: "LineInput"
        words: Shown

        @property
        def control(self) -> "LineInput":
            """The input, for `@on(..., "#id")`."""
            return self.input

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        password: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(
            value, placeholder=placeholder, password=password, compact=True, select_on_focus=not password, id=id
        )
        self.cursor_blink = False
        self.is_secret = password

    def on_paste(self, event: events.Paste) -> None:
        """Put pasted text in as one line."""
        event.prevent_default()
        event.stop()
        self.paste(event.text)

    def paste(self, pasted: str) -> None:
        """Put a text in at the cursor, in place of what is selected."""
        if len(pasted) > MOST:
            too_long = Shown(f"The pasted text is longer than {MOST} characters. Not taken.")
            self.post_message(self.Noticed(self, too_long))
            return
        cleaned = pasted.strip() if self.is_secret else text.line(pasted)
        if self.is_secret and len(cleaned.splitlines()) > 1:
            self.post_message(self.Noticed(self, Shown("The pasted text has several lines; a key is one. Not taken.")))
            return
        if self.is_secret and cleaned != pasted:
            self.post_message(self.Noticed(self, Shown("Blanks around the pasted key were left out.")))
        self.replace(cleaned, *sorted(self.selection))
