"""The styles of a table's lines under one theme."""

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style as RichStyle
from textual.color import Color
from textual.style import Style

from quarterdeck.tui import theme
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import STYLES

WITHOUT_COLOUR = {Tone.MUTED: "dim", Tone.WARN: "bold", Tone.EDITED: "italic", Tone.BUSY: "italic"}
"""What sets tones apart where there is no colour, besides the weight that `paint.STYLES` gives."""


class Look(NamedTuple):
    """How a row stands out."""

    cursor: bool = False
    focused: bool = False
    marked: bool = False

    @property
    def ground(self) -> str | None:
        """The variable of the background, None for the one behind the table."""
        if self.cursor:
            return theme.ROW_CURSOR if self.focused else theme.ROW_BLURRED
        return theme.ROW_MARKED if self.marked else None


class Palette:
    """Styles made from a theme's variables; `background` is the colour behind the table."""

    def __init__(self, variables: Mapping[str, str], background: Color, *, colour: bool = True) -> None:
        self._variables = dict(variables)
        self._background = background
        self._colour = colour
        self._tones: dict[Look, dict[Tone, RichStyle]] = {}
        self.ground = self._style(None, f"${theme.tone_variable(Tone.PLAIN)}")
        self.header = self._style(theme.TABLE_HEADER_BACKGROUND, f"bold ${theme.TABLE_HEADER}")
        self.sorted = self.header + RichStyle(reverse=True)

    def tones(self, look: Look) -> Mapping[Tone, RichStyle]:
        """The style of each tone in a row that looks like this."""
        if look not in self._tones:
            self._tones[look] = {tone: self._style(look.ground, self._words(tone, look)) for tone in Tone}
        return self._tones[look]

    def _words(self, tone: Tone, look: Look) -> str:
        at_cursor = look.cursor and look.focused
        words = [f"${theme.tone_variable(Tone.PLAIN)}", *STYLES[tone].split()]
        if not self._colour:
            weight = [word for word in words[1:] if not word.startswith("$")]
            words = [words[0], "reverse"] if at_cursor else [words[0], *weight, WITHOUT_COLOUR.get(tone, "")]
        return " ".join([*words, "bold"] if at_cursor else words)

    def _style(self, ground: str | None, words: str) -> RichStyle:
        background = self._background if ground is None else Color.parse(self._variables[ground])
        return (Style(background=background) + Style.parse(words, self._variables)).rich_style
