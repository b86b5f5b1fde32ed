"""Which columns of a table fit a width, where each stands and how wide it is."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from quarterdeck.tui.cells import Cell


class Keyed(Protocol):
    """A row: a frozen record with an id of its own."""

    @property
    def id(self) -> str:
        """The id, unique in the table."""


R = TypeVar("R", bound=Keyed)

GUTTER = 3
"""Cells before the first column: cursor, mark, blank."""
MARGIN = 1
"""Blank cells after the last column."""
GAP = 2
"""Cells between two columns."""
LEAST = 4
"""Cells below which a column with a share is not shrunk."""
ARROW = 2
"""Cells that the mark of the sorted column takes behind its title."""


class Column(NamedTuple, Generic[R]):
    """One column: how wide, what it shows, how it sorts.

    A column is as wide as its title and what stands in it, but takes no more than `width` cells unless it has a share
    (`flex`) of what is left over. Columns of higher `priority` are dropped first where the table is narrow, those of
    priority 0 never.
    """

    key: str
    title: str
    width: int
    cell: Callable[[R, datetime], Cell]
    """What a row shows at a time (UTC)."""
    sort: Callable[[R], Any] | None = None
    """Sort key; None where sorting by this column means nothing."""
    flex: int = 0
    priority: int = 0
    right: bool = False


class Placed(NamedTuple):
    """A column that is shown: its number, the cell it starts at, its width in cells."""

    number: int
    x: int
    width: int


def chosen(columns: Sequence[Column[R]], names: Sequence[str] | None) -> tuple[Column[R], ...]:
    """The columns of these names in their order, the last ones dropped first where there is little room.

    None stands for all of them as they are; names that are not there are passed over.
    """
    if names is None:
        return tuple(columns)
    by_key = {column.key: column for column in columns}
    known = [by_key[name] for name in names if name in by_key]
    return tuple(column._replace(priority=at) for at, column in enumerate(known))


def fit(
    columns: Sequence[Column[Any]],
    room: int,
    content: Mapping[str, int] | None = None,
    sorted_by: str | None = None,
) -> tuple[Placed, ...]:
    """Place columns in `room` cells in their order, between gutter and margin.

    `content` tells by key how many cells the widest text in a column takes; a column in which nothing stands gives its
    place away. Without it each column is taken to be full. The one sorted by is always there: it says why the rows are
    in their order.
    """
    columns = [column._replace(priority=0) if column.key == sorted_by else column for column in columns]
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


def _wanted(column: Column[Any], content: Mapping[str, int] | None, sorted_by: str | None) -> int:
    """Cells a column would take if there were room enough; 0 for one that may give its place away."""
    inside = column.width if content is None else content.get(column.key, 0)
    if not inside and column.priority:
        return 0
    return max(len(column.title) + (ARROW if column.key == sorted_by else 0), inside)


def _needed(widths: Collection[int]) -> int:
    return GUTTER + sum(widths) + GAP * (len(widths) - 1) + MARGIN


def _drop(columns: Sequence[Column[Any]], widths: dict[int, int], room: int) -> None:
    """Drop what does not fit, the rightmost first among equals."""
    while _needed(widths.values()) > room:
        least = max(reversed(list(widths)), key=lambda number: columns[number].priority, default=None)
        if least is None or columns[least].priority == 0:
            return
        del widths[least]


def _share_out(columns: Sequence[Column[Any]], widths: dict[int, int], wanted: Mapping[int, int], spare: int) -> None:
    """Give spare cells to the columns with a share as far as they want them, the rest to the one with the largest.

    Where cells are missing they are taken from the same columns, the smallest share first.
    """
    sharers = sorted((number for number in widths if columns[number].flex), key=lambda number: -columns[number].flex)
    for number in sharers if spare > 0 else reversed(sharers):
        most, least = wanted[number] - widths[number], min(LEAST - widths[number], 0)
        part = max(min(spare, most), least)
        widths[number] += part
        spare -= part
    if sharers and spare > 0:
        widths[sharers[0]] += spare
