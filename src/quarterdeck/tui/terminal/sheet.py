"""What stands on a terminal, so that only those cells are written that would show something else."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size

from quarterdeck.tui.terminal.ink import OWN, Ink, of_blank

NEAR = 4
"""As many cells as are written again rather than passed over: to go to a column takes four to six bytes."""
_BLANK = " "
_REST = ""
"""What stands in the second cell of a letter that takes two."""
_UNKNOWN = "\0"

Words = tuple[str, Ink]
"""Text in one ink."""


class Run(NamedTuple):
    """Words of a line, from a cell on."""

    x: int
    y: int
    text: str
    ink: Ink


class _Line(NamedTuple):
    """Letter and ink of each cell, from the left."""

    letters: list[str]
    inks: list[Ink]


class Sheet:
    """Cells as they were written last; nothing is known of the others."""

    def __init__(self) -> None:
        self._lines: dict[int, _Line] = {}

    def put(self, x: int, y: int, words: Iterable[Words]) -> list[Run]:
        """Note what is written from a cell on, and tell what of it shows something new."""
        letters, inks = _cells(words)
        end = x + len(letters)
        line = self._line(y, end + 1)
        was_letters, was_inks = line.letters[x:end], line.inks[x:end]
        if letters == was_letters and inks == was_inks:
            return []
        line.letters[x:end], line.inks[x:end] = letters, inks
        _forget_halves(line.letters, x, end)
        each = enumerate(zip(letters, was_letters, inks, was_inks, strict=True), x)
        changed = [at for at, (letter, was, ink, ink_was) in each if letter != was or ink != ink_was]
        return [run for start, stop in _ranges(line, changed) for run in _runs(line, y, start, stop)]

    def _line(self, y: int, width: int) -> _Line:
        line = self._lines.setdefault(y, _Line([], []))
        missing = width - len(line.letters)
        if missing > 0:
            line.letters.extend([_UNKNOWN] * missing)
            line.inks.extend([OWN] * missing)
        return line


def _forget_halves(letters: list[str], start: int, end: int) -> None:
    """Of a letter of two cells that is written over in one of them, a terminal takes away the other one too."""
    if start and letters[start] != _REST and cell_len(letters[start - 1]) > 1:
        letters[start - 1] = _UNKNOWN
    if letters[end] == _REST:
        letters[end] = _UNKNOWN


def _cells(words: Iterable[Words]) -> tuple[list[str], list[Ink]]:
    """Letter and ink of each cell; the ink of a blank says no more than what is seen of it."""
    letters: list[str] = []
    inks: list[Ink] = []
    for text, ink in words:
        more: Iterable[str] = text if text.isascii() else _spread(text)
        letters += more
        blank = of_blank(ink, OWN)
        inks += [blank if letter == _BLANK else ink for letter in more]
    return letters, inks


@lru_cache(maxsize=1024)
def _spread(text: str) -> tuple[str, ...]:
    """A letter for each cell; an accent stands with the letter before it."""
    letters: list[str] = []
    for letter in text:
        width = get_character_cell_size(letter)
        if width or not letters:
            letters += [letter, _REST][:width]
        else:
            at = -2 if letters[-1] == _REST else -1
            letters[at] += letter
    return tuple(letters)


def _goes_on(ink: Ink, text: str, own: Ink) -> bool:
    """Whether an ink need not be left for a text; blanks need not where they look the same."""
    return ink == (own if text.strip(_BLANK) else of_blank(own, ink))


def _runs(line: _Line, y: int, start: int, stop: int) -> Iterator[Run]:
    at, ink = start, line.inks[start]
    for own, cells in groupby(line.inks[start:stop]):
        end = at + len(list(cells))
        if not _goes_on(ink, "".join(line.letters[at:end]), own):
            yield Run(start, y, "".join(line.letters[start:at]), ink)
            start, ink = at, own
        at = end
    yield Run(start, y, "".join(line.letters[start:stop]), ink)


def _ranges(line: _Line, changed: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Changed cells as ranges, from the first to the one behind the last.

    One goes on over a few cells between, unless they are of another ink: that takes more than to go past them.
    """
    start = stop = -1
    for at in changed:
        if start < 0:
            start = at
        elif at > stop and not _near(line, stop, at):
            yield start, stop
            start = at
        stop = at + 1
    if start >= 0:
        yield start, stop


def _near(line: _Line, start: int, stop: int) -> bool:
    """Whether it takes less to write what is between two changed cells again than to go past it."""
    ink = line.inks[start - 1]
    cells = zip(line.letters[start:stop], line.inks[start:stop], strict=True)
    return stop - start <= NEAR and all(_goes_on(ink, letter, own) for letter, own in cells)
