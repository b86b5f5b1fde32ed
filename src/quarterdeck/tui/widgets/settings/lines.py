"""The form as lines: group headings, fields, and under each row the sentence on what is wrong with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from quarterdeck.settings import words
from quarterdeck.settings.fields import Field
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.cells import brief, chip, value_cell
from quarterdeck.tui.widgets.settings.rows import RowKind
from quarterdeck.tui.widgets.settings.view import FormView

LABEL_WIDTH = 24
GUTTER = 2
"""Cells before a line: cursor and a blank."""
MARGIN = 1
"""Blank cells after the chip."""
EDGES = 4
"""Cells of a line that sentences leave free: cursor, blank, margin."""
SHORTEST = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line: cells with their widths (0 takes the rest) and the chip at its right end.

    `row` is the id of the row it belongs to; a line without one is never under the cursor.
    """

    cells: tuple[tuple[Cell, int], ...] = ()
    chip: Cell = ()
    row: str = ""
    heading: str | None = None
    struck: bool = False

    def drawn(self) -> "Line":
        """The line with its cells; a subclass may make them only now."""
        return self


def count_cell(view: FormView, group: str) -> Cell:
    """`2 edited  1 error`, or nothing."""
    counts = view.counts(group)
    edits: Cell = cell(Shown(f"{counts.edits} edited"), Tone.EDITED) if counts.edits else ()
    errors: Cell = cell(Shown(words.counted(counts.errors, "error")), Tone.BAD) if counts.errors else ()
    gap: Cell = cell(Shown("  ")) if edits and errors else ()
    return edits + gap + errors


def field_lines(view: FormView, group: str, width: int) -> Iterator[Line]:
    """The fields of a group, and how many more a search finds."""
    for entry in view.fields(group):
        yield from _one_field(view, entry, width)
    hidden = view.hidden(group)
    if hidden:
        said = ((Shown(f"{hidden} more: "), Tone.MUTED), (Shown("/"), Tone.KEY), (Shown(" finds them."), Tone.MUTED))
        yield Line(((said, 0),), row=f"{RowKind.MORE}{group}")


def other_lines(view: FormView) -> Iterator[Line]:
    """The fields that the deck does not know."""
    for name, value in view.others():
        label, held = cell(brief(name), Tone.MUTED), cell(brief(value), Tone.MUTED)
        chip = cell(Shown("kept as it is"), Tone.MUTED)
        yield Line(((label, LABEL_WIDTH), (held, 0)), chip, f"{RowKind.OTHER}{name}")


def problem_lines(view: FormView, row: str, indent: int, width: int) -> Iterator[Line]:
    """The sentence on what is wrong with a row."""
    problem = view.problem_at(row)
    if problem is None:
        return
    mark, tone = ("! ", Tone.BAD) if problem.stops else ("· ", Tone.WARN)
    said = wrap(line(problem.words), max(width - indent - EDGES, SHORTEST), initial_indent=mark, subsequent_indent="  ")
    for part in said:
        yield Line((((), indent), (cell(Shown(part), tone), 0)), row=row)


def _one_field(view: FormView, entry: Field, width: int) -> Iterator[Line]:
    dim = entry.absent or view.draft.off_for(entry.key) is not None
    label = cell(brief(entry.label), Tone.MUTED if dim else Tone.PLAIN)
    yield Line(((label, LABEL_WIDTH), (value_cell(view, entry), 0)), chip(view, entry), entry.key)
    if view.is_edited(entry.key):
        yield from problem_lines(view, entry.key, LABEL_WIDTH, width)
