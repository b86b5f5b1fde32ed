"""Which columns of a table fit into a width, and the position and width of each."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from quarterdeck.tui.cells import Cell

R = TypeVar("R")
"""A row: an immutable record."""

GUTTER = 3
"""Cells before the first column: cursor, mark, space."""
MARGIN = 1
"""Empty cells after the last column."""
GAP = 2
"""Cells between two columns."""
LEAST = 4
"""Minimum cells of a flexible column."""
ARROW = 2
"""Cells for the arrow after the title of the sorted column."""


class Column(NamedTuple, Generic[R]):
    """One column: its width, what it shows, how it sorts.

    A column is as wide as its title and its content, but at most `width` cells unless it gets a share (`flex`) of the
    remaining space. In a narrow table, columns of higher `priority` are dropped first, those of priority 0 never.
    """

    key: str
    title: str
    width: int
    cell: Callable[[R, datetime], Cell]
    """Returns what a row shows at a time (UTC)."""
    sort: Callable[[R], Any] | None = None
    """Returns the sort key; None if the column cannot be sorted by."""
    flex: int = 0
    priority: int = 0
    right: bool = False
    whole_end: bool = False
    """Whether a cell that is too long is cut before its last span, which is a count for example."""


class Placed(NamedTuple):
    """A visible column: its index, its first cell, its width in cells."""

    number: int
    x: int
    width: int


def chosen(columns: Sequence[Column[R]], names: Sequence[str] | None) -> tuple[Column[R], ...]:
    """Return the columns with these names in that order; None means all, unknown names are skipped.

    Columns in another order than their own have a priority by that order: in a narrow table, the last is dropped first.
    """
    if names is None:
        return tuple(columns)
    by_key = {column.key: column for column in columns}
    known = [by_key[name] for name in names if name in by_key]
    if known == [column for column in columns if column in known]:
        return tuple(known)
    return tuple(column._replace(priority=at) for at, column in enumerate(known))


def fit(
    columns: Sequence[Column[Any]], room: int, content: Mapping[str, int] | None = None, sorted_by: str | None = None
) -> tuple[Placed, ...]:
    """Place columns in `room` cells in their order, between gutter and margin.

    `content` has the width of the widest text of each column by key; an empty column may be left out. Without it, only
    the titles need room. The sorted column is always shown, because it explains the order.
    """
    columns = [_explaining(column) if column.key == sorted_by else column for column in columns]
    wanted = {number: _wanted(column, content, sorted_by) for number, column in enumerate(columns)}
    widths = {number: min(cells, columns[number].width) for number, cells in wanted.items() if cells}
    _drop(columns, widths, room)
    _share_out(columns, widths, wanted, room - _needed(widths.values()))
    placed: list[Placed] = []
    x = GUTTER
    for number, cells in widths.items():
        width = min(cells, room - MARGIN - x)
        if width <= 0:
            break
        placed.append(Placed(number, x, width))
        x += width + GAP
    return tuple(placed)


def _explaining(column: Column[R]) -> Column[R]:
    """Return the sorted column: never dropped, and wide enough for its title and the arrow."""
    return column._replace(priority=0, width=max(column.width, len(column.title) + ARROW))


def _wanted(column: Column[Any], content: Mapping[str, int] | None, sorted_by: str | None) -> int:
    """Return the cells a column would take with enough room; 0 for an empty one that may be left out."""
    inside = content.get(column.key, 0) if content is not None else len(column.title)
    if not inside and column.priority:
        return 0
    return max(len(column.title) + (ARROW if column.key == sorted_by else 0), inside)


def _needed(widths: Collection[int]) -> int:
    return GUTTER + sum(widths) + GAP * (len(widths) - 1) + MARGIN


def _drop(columns: Sequence[Column[Any]], widths: dict[int, int], room: int) -> None:
    """Drop columns that do not fit, among equals the rightmost first."""
    while _needed(widths.values()) > room:
        least = max(reversed(list(widths)), key=lambda number: columns[number].priority, default=None)
        if least is None or columns[least].priority == 0:
            return
        del widths[least]


def _share_out(columns: Sequence[Column[Any]], widths: dict[int, int], wanted: Mapping[int, int], spare: int) -> None:
    """Distribute spare cells to flexible columns as far as they need them, the rest to the one with the largest share.

    If cells are missing, they are taken from the same columns, the largest share first.
    """
    sharers = sorted((number for number in widths if columns[number].flex), key=lambda number: -columns[number].flex)
    for number in sharers:
        most, least = wanted[number] - widths[number], min(LEAST - widths[number], 0)
        part = max(min(spare, most), least)
        widths[number] += part
        spare -= part
    if sharers and spare > 0:
        widths[sharers[0]] += spare
