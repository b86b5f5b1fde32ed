"""Painted lines: styles of a theme, texts cut to a width, and spans joined into strips."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.color import Color
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from quarterdeck.tui import theme
from quarterdeck.tui.cells import Cell, Span, Tone
from quarterdeck.tui.paint import STYLES
from quarterdeck.tui.text import Shown

CURSOR, BLANK = Shown("▌"), Shown(" ")
_CONSOLE = Console()
"""Rich asks it for the tab size, but texts here have no tabs."""
WITHOUT_COLOUR = {Tone.MUTED: "dim", Tone.WARN: "bold", Tone.EDITED: "italic", Tone.BUSY: "italic"}
"""What distinguishes tones without colour, in addition to the weight from `paint.STYLES`."""


class Highlight(NamedTuple):
    """How a row is highlighted."""

    cursor: bool = False
    focused: bool = False
    marked: bool = False

    @property
    def ground(self) -> str | None:
        """The variable of the background, None for the table's own."""
        if self.cursor:
            return theme.ROW_CURSOR if self.focused else theme.ROW_BLURRED
        return theme.ROW_MARKED if self.marked else None


PLAIN_LINE = Highlight()


class ThemedWidget(Widget):
    """A widget that draws its own lines, in the styles of the current theme."""

    @cached_property
    def _tones(self) -> dict[Highlight, Mapping[Tone, RichStyle]]:
        """The styles that were needed since the theme changed."""
        return {}

    def tones(self, highlight: Highlight = PLAIN_LINE) -> Mapping[Tone, RichStyle]:
        """Return the style of each tone in a line with this highlight."""
        if highlight not in self._tones:
            words = {tone: _style_words(tone, highlight, no_color=self.app.no_color) for tone in Tone}
            self._tones[highlight] = {tone: self.themed(words[tone], highlight.ground) for tone in Tone}
        return self._tones[highlight]

    def themed(self, words: str, ground: str | None) -> RichStyle:
        """Return a style whose colours are variables of the theme; `ground` is one, in place of the background."""
        variables = self.app.theme_variables
        background = self.background_colors[1] if ground is None else Color.parse(variables[ground])
        return (Style(background=background) + Style.parse(words, variables)).rich_style

    def redraw_changed_lines(self, before: Iterable[object], after: Iterable[object]) -> None:
        """Redraw the lines that differ between two states."""
        pairs = enumerate(zip_longest(before, after))
        changed = [Region(0, y, self.size.width, 1) for y, (old, new) in pairs if old != new]
        if changed:
            self.refresh(*changed)

    def notify_style_update(self) -> None:
        """Discard the styles, because the theme may have changed."""
        super().notify_style_update()
        self._tones.clear()


def _style_words(tone: Tone, highlight: Highlight, *, no_color: bool) -> str:
    at_cursor = highlight.cursor and highlight.focused
    words = [f"${theme.tone_variable(Tone.PLAIN)}", *STYLES[tone].split()]
    if no_color:
        weight = [word for word in words[1:] if not word.startswith("$")]
        words = [words[0], "reverse"] if at_cursor else [words[0], *weight, WITHOUT_COLOUR.get(tone, "")]
    return " ".join([*words, "bold"] if at_cursor else words)


def clip(text: str, width: int) -> tuple[str, int]:
    """Cut a text to `width` cells, with an ellipsis in the last one; returns it with its number of cells."""
    if (cells := cell_len(text)) <= width:
        return text, cells
    if width <= 0:
        return "", 0
    kept = chop_cells(text, width - 1)[0] if width > 1 else ""
    return f"{kept}…", cell_len(kept) + 1


def wrap(spans: Cell, width: int) -> list[Cell]:
    """Break a line at its line breaks, between words, and within words that are longer than the width."""
    if cell_length(spans) <= width and not any("\n" in part for part, _ in spans):
        return [spans]
    line = Text()
    for part, tone in spans:
        line.append(part, tone)
    wrapped = line.wrap(_CONSOLE, max(width, 2))
    return [
        tuple((Shown(each.plain[start:end]), Tone(str(tone))) for start, end, tone in each.spans) for each in wrapped
    ]


def hanging(label: Cell, said: Cell, width: int) -> list[Cell]:
    """Return a label and a text, wrapped, whose further lines begin below its first."""
    indent = cell_length(label)
    first, *others = wrap(said, width - indent)
    return [(*label, *first), *(((Shown(" " * indent), Tone.PLAIN), *each) for each in others)]


def cell_length(cell: Cell) -> int:
    """Return how many cells of the screen the spans of a cell take."""
    return sum(cell_len(text) for text, _ in cell)


def fit_cell(cell: Cell, width: int, *, right: bool = False, whole_end: bool = False) -> list[Span]:
    """Cut the spans of a cell to `width` cells together, or fill them up with spaces.

    With `whole_end`, the last of several spans is not cut, but those before it.
    """
    end = cell[1:][-1:] if whole_end else ()
    rest, room = cell[: len(cell) - len(end)], width - cell_length(end)
    shown, cells = clip("".join([text for text, _ in rest]), room)
    blank = Shown(" " * (room - cells)), Tone.PLAIN
    pieces: list[Span] = []
    for text, tone in rest:
        pieces.append((Shown(shown[: len(text)]), tone))
        shown = shown[len(text) :]
    return [blank, *pieces, *end] if right else [*pieces, *end, blank]


def joined(spans: Sequence[Span], width: int, tones: Mapping[Tone, RichStyle]) -> Strip:
    """Return spans as a line of that width.

    Spaces take the style of the text before them, because each change of style sends some 40 bytes to the terminal.
    """
    style = next((tones[tone] for text, tone in spans if text.strip()), tones[Tone.PLAIN])
    segments: list[Segment] = []
    for text, tone in spans:
        if text.strip():
            style = tones[tone]
        segments.append(Segment(text, style))
    return Strip(filter(None, segments)).adjust_cell_length(width, style).simplify()


def selectable(strip: Strip, y: int, widget: Widget) -> Strip:
    """Return a widget's line with text that the mouse can select; what is selected of it stands out."""
    if (selection := widget.text_selection) is not None and (span := selection.get_span(y)) is not None:
        start, end = (cell_len(strip.text[:x]) if x >= 0 else strip.cell_length for x in span)
        ground = RichStyle(bgcolor=widget.screen.get_component_rich_style("screen--selection").bgcolor)
        selected = Strip(Segment.apply_style(strip.crop(start, end), post_style=ground), end - start)
        strip = Strip.join([strip.crop(0, start), selected, strip.crop(end)])
    return strip.apply_offsets(0, y)


def selected_text(lines: Iterable[Cell], selection: Selection) -> tuple[str, str]:
    """Return what is selected of these lines, and what goes behind it."""
    return selection.extract("\n".join("".join(text for text, _ in line).rstrip() for line in lines)), "\n"
