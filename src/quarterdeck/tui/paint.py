"""From cells to what Textual paints."""

from collections.abc import Iterable

from textual.content import Content

from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.text import Shown

STYLES: dict[Tone, str] = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold $tone-strong",
    Tone.MUTED: "$tone-muted",
    Tone.GOOD: "$tone-good",
    Tone.BUSY: "$tone-busy",
    Tone.REST: "$tone-rest",
    Tone.WARN: "$tone-warn",
    Tone.BAD: "bold $tone-bad",
    Tone.EDITED: "$tone-edited",
    Tone.KEY: "bold $tone-key",
}
"""Style of each tone; the theme defines the colours."""


def content(spans: Iterable[Span]) -> Content:
    """Paintable content of spans, every text literal."""
    return Content.assemble(*((text, STYLES[tone]) for text, tone in spans))


def lines(rows: Iterable[Cell]) -> Content:
    """Paintable content of one cell a line."""
    return Content("\n").join(content(row) for row in rows)


def plain(text: Shown, tone: Tone = Tone.PLAIN) -> Content:
    """Paintable content of one text."""
    return content(((text, tone),))
