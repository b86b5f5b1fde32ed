"""Writes parts of lines to a terminal: no cell that shows already what it should, and of each style what is new in it.

A style takes up to 40 bytes, most often more than the words in it, and a terminal may be far away.
"""

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from textual.geometry import Size

from quarterdeck.tui.terminal.ink import OWN, PLAIN, Ink, ink_of, of_blank, turn
from quarterdeck.tui.terminal.sheet import Run, Sheet

Part = tuple[int, int, Iterable[Segment]]
"""Cell and line where a part of a line begins, both counted from 0, and what is written there."""


class Pen:
    """Writes to one terminal, and knows what it has written there and in which style the terminal is left.

    So what is written next need not say again what it has in common with what was written last.
    """

    def __init__(self, console: Console) -> None:
        self._colours = console._color_system
        self._ink = OWN
        self._sheet = Sheet()
        self._size = Size()

    def write(self, parts: Iterable[Part], size: Size) -> str:
        """Parts of lines, as a terminal of that size is sent them."""
        begin = self.put_down() if size != self._size else ""
        self._size = size
        runs = [run for part in parts for run in self._changed(*part)]
        turns = {ink: at for at, ink in enumerate(dict.fromkeys((self._ink, *(run.ink for run in runs))))}
        by_ink = sorted(runs, key=lambda run: turns[run.ink])
        words, self._ink = min(_words(runs, self._ink), _words(by_ink, self._ink), key=lambda written: len(written[0]))
        return begin + words

    def put_down(self) -> str:
        """What the terminal is sent before somebody else writes, or when somebody else may have written.

        A terminal that has got another size is one of these: who knows what it shows.
        """
        self._ink = OWN
        self._sheet = Sheet()
        return PLAIN if self._colours is not None else ""

    def _changed(self, x: int, y: int, segments: Iterable[Segment]) -> list[Run]:
        colours = self._colours
        if colours is None:
            return self._sheet.put(x, y, [(text, OWN) for text, _, _ in segments])
        return self._sheet.put(x, y, [(text, ink_of(style, colours) if style else OWN) for text, style, _ in segments])


def _words(runs: Iterable[Run], ink: Ink) -> tuple[str, Ink]:
    """Runs as a terminal is sent them whose style is an ink, and the ink in which they leave it."""
    words: list[str] = []
    line = column = -1
    for x, y, text, own in runs:
        if (line, column) != (y, x):
            words.append(f"\x1b[{x + 1}G" if line == y else f"\x1b[{y + 1};{x + 1}H")
        becomes = of_blank(own, ink) if not text.strip(" ") else own
        if becomes is not ink:
            words.append(turn(ink, becomes))
            ink = becomes
        words.append(text)
        line, column = y, x + cell_len(text)
    return "".join(words), ink


def cut_out(line: Iterable[Segment], start: int, end: int) -> Iterator[Segment]:
    """The part of a line from one cell to the one behind it; half of a wide character is a blank."""
    x = 0
    for segment in line:
        next_x = x + segment.cell_length
        if next_x > start and x < end:
            yield segment if start <= x and next_x <= end else _cut(segment, max(start - x, 0), min(end, next_x) - x)
        x = next_x


def _cut(segment: Segment, start: int, end: int) -> Segment:
    if segment.text.isascii():
        return Segment(segment.text[start:end], segment.style)
    return segment.split_cells(end)[0].split_cells(start)[1]
