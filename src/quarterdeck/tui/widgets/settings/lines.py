"""The form as lines: group headings, fields, MCP servers, and under each row the sentence on what is wrong with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from quarterdeck.draft import words
from quarterdeck.draft.field import Field, Group
from quarterdeck.draft.mcp import Entry
from quarterdeck.service.models.mcp import StdioServer
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.cells import brief, chip, server_cells, server_chip, value_cell
from quarterdeck.tui.widgets.settings.view import OTHER_ROW, SERVER_ROW, FormView

LABEL_WIDTH = 24
EDGES = 4
"""Cells of a line that sentences leave free: cursor, blank, margin."""
SHORTEST = 20
GAP = (Shown("  "), Tone.PLAIN)
KIND_WIDTH = 7
NAME_SHARE = 0.42
"""Of the line's width, at most, for the name of a stdio server."""


@dataclass(frozen=True)
class Line:
    """One line: cells with their widths (0 takes the rest) and the chip at its right end.

    `row` is the id of the row it belongs to; a line without one is never under the cursor.
    """

    cells: tuple[tuple[Cell, int], ...] = ()
    chip: Cell = ()
    row: str = ""
    heading: Group | None = None
    struck: bool = False


def form_lines(view: FormView, width: int) -> tuple[Line, ...]:
    """All lines of the form at a width in cells."""
    found: list[Line] = []
    for group in Group:
        rows = tuple(_group_lines(view, group, width))
        if not rows:
            continue
        if found:
            found.append(Line())
        found.append(Line(((cell(Shown(group), Tone.KEY), 0),), count_cell(view, group), heading=group))
        found.extend(rows)
    return tuple(found)


def count_cell(view: FormView, group: Group) -> Cell:
    """`2 edited  1 error`, or nothing."""
    counts = view.counts(group)
    edits: Cell = cell(Shown(f"{counts.edits} edited"), Tone.EDITED) if counts.edits else ()
    errors: Cell = cell(Shown(words.counted(counts.errors, "error")), Tone.BAD) if counts.errors else ()
    gap: Cell = cell(Shown("  ")) if edits and errors else ()
    return edits + gap + errors


def _group_lines(view: FormView, group: Group, width: int) -> Iterator[Line]:
    for entry in view.fields(group):
        yield from _field_lines(view, entry, width)
    if group is Group.MCP:
        yield from _server_lines(view, width)
    if group is Group.OTHER:
        for name, value in view.others():
            label = cell(brief(name), Tone.MUTED)
            yield Line(
                ((label, LABEL_WIDTH), (cell(brief(value), Tone.MUTED), 0)),
                cell(Shown("sent back as it is"), Tone.MUTED),
                f"{OTHER_ROW}{name}",
            )


def _field_lines(view: FormView, entry: Field, width: int) -> Iterator[Line]:
    label = cell(Shown(entry.label))
    yield Line(((label, LABEL_WIDTH), (value_cell(view, entry), 0)), chip(view, entry), entry.key)
    if view.is_edited(entry.key):
        yield from _problem_lines(view, entry.key, LABEL_WIDTH, width)


def _server_lines(view: FormView, width: int) -> Iterator[Line]:
    entries = tuple(view.servers())
    stdio = (entry.server.name for entry in entries if isinstance(entry.server, StdioServer))
    name_width = min(max(map(len, stdio), default=0) + 2, int(width * NAME_SHARE))
    for entry in entries:
        yield from _one_server(view, entry, width, name_width)
    if not entries and not view.query:
        hint = cell(Shown("None yet. "), Tone.MUTED)
        yield Line((((*hint, (Shown("a"), Tone.KEY), (Shown(" adds one."), Tone.MUTED)), 0),), row=SERVER_ROW)


def _one_server(view: FormView, entry: Entry, width: int, name_width: int) -> Iterator[Line]:
    row = f"{SERVER_ROW}{entry.row}"
    kind, name, details = server_cells(entry)
    in_columns = isinstance(entry.server, StdioServer)
    rest = ((name, name_width), (details, 0)) if in_columns else (((*name, GAP, *details), 0),)
    yield Line(((kind, KIND_WIDTH), *rest), server_chip(view, entry), row, struck=entry.removed)
    if view.is_edited(row) and not entry.removed:
        yield from _problem_lines(view, row, KIND_WIDTH, width)


def _problem_lines(view: FormView, row: str, indent: int, width: int) -> Iterator[Line]:
    problem = view.problem_at(row)
    if problem is None:
        return
    mark, tone = ("! ", Tone.BAD) if problem.stops else ("· ", Tone.WARN)
    said = wrap(line(problem.words), max(width - indent - EDGES, SHORTEST), initial_indent=mark, subsequent_indent="  ")
    for part in said:
        yield Line((((), indent), (cell(Shown(part), tone), 0)), row=row)
