"""Converts cells to Textual content, and shows a connection's name on a band in its colour.

Each band colour has a contrast of 3:1 to the header of both themes, and of 4.5:1 to its white text (WCAG 2.2, success
criteria 1.4.11 and 1.4.3); a test computes it. The name says the same without colour.
"""

from collections.abc import Iterable

from textual.content import Content
from textual.geometry import Size

from quarterdeck.config.connections import Colour
from quarterdeck.tui.cells import Cell, Span, Tone, cell
from quarterdeck.tui.glyphs import in_ascii
from quarterdeck.tui.text import Shown
from quarterdeck.tui.theme import tone_variable

BOLD = {Tone.STRONG, Tone.BAD, Tone.KEY}
STYLES = {tone: f"{'bold ' if tone in BOLD else ''}${tone_variable(tone)}" for tone in Tone} | {Tone.PLAIN: ""}
"""The style of each tone; the theme defines the colours, and a plain text has that of what is around it."""


def content(spans: Iterable[Span]) -> Content:
    """Return content for spans; their text is never parsed as markup."""
    return Content.assemble(*((text, STYLES[tone]) for text, tone in spans))


def lines(rows: Iterable[Cell]) -> Content:
    """Return content with one cell per line."""
    return Content("\n").join(content(row) for row in rows)


def plain(words: str, tone: Tone = Tone.PLAIN) -> Content:
    """Return content for any text: one safe line."""
    return content(cell(words, tone))


def cut(said: Content, size: Size) -> Content:
    """Return a text cut to the columns and lines of a size, if that has any, with an ellipsis where there is more."""
    wrapped = said.wrap(size.width) if size else [said]
    kept = wrapped[: max(size.height, 1)]
    if len(kept) < len(wrapped):
        kept[-1] = Content.assemble(kept[-1].rstrip(), "…").truncate(size.width, ellipsis=True)
    return Content("\n").join(kept)


# The colour of a connection

INK = "#ffffff"
GROUNDS: dict[Colour, str] = {
    "red": "#d03b35",
    "orange": "#b15916",
    "green": "#348047",
    "teal": "#217d85",
    "blue": "#3872c2",
    "violet": "#915ab8",
    "grey": "#68737f",
}


def band(name: Shown, colour: Colour | None) -> Content:
    """Return a name on a band in its colour, or only the name."""
    if colour is None or not name:
        return Content.assemble((name, STYLES[Tone.STRONG]))
    return Content.assemble((f" {name} ", f"bold {INK} on {GROUNDS[colour]}"))


def mark(colour: Colour | None) -> Content:
    """Return two cells that go before a name in a list: in no sign of a cursor, and blank without colours."""
    return Content("  ") if colour is None or in_ascii() else Content.assemble(("■", GROUNDS[colour]), " ")
