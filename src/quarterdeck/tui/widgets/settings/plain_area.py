"""A field of several lines for any text, however long: pasted text loses what would act on a terminal."""

from textual import events
from textual.widgets import TextArea

from quarterdeck.tui import text

PIECE = 10_000
"""Characters made safe at a time: longer texts would be cut."""


class PlainArea(TextArea):
    """Textual's text area without wrapping and colours; tab moves the focus on."""

    def __init__(self, value: str = "", *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(value, soft_wrap=False, tab_behavior="focus", compact=True, id=id)
        self.cursor_blink = False

    def on_paste(self, event: events.Paste) -> None:
        """Put pasted text in at the cursor, line breaks kept."""
        event.prevent_default()
        event.stop()
        self.replace(_safe(event.text), *self.selection)


def _safe(pasted: str) -> str:
    """A text of any length without what would act on a terminal."""
    whole = pasted.replace("\r\n", "\n")
    return "".join(text.block(whole[start : start + PIECE]) for start in range(0, len(whole), PIECE))
