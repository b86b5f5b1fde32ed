"""Which columns of a table fit a width, where each stands and how wide it is."""

from collections.abc import Callable, Collection, Sequence
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
"""Blank cells after the last column, before the scrollbar."""
GAP = 2
"""Cells between two columns."""
LEAST = 4
"""Cells below which a column with a share is not shrunk."""


class Column(NamedTuple, Generic[R]):
    """One column: how wide, what it shows, how it sorts.

    `width` in cells is the least it needs, two for the header's arrow included; `flex` its share of what is left over.
    Columns of higher `priority` are dropped first where the table is narrow, those of priority 0 never.
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


def fit(columns: Sequence[Column[Any]], room: int) -> tuple[Placed, ...]:
    """Place columns in `room` cells in their order, between gutter and margin."""
    shown = _kept(columns, room)
    widths = {number: columns[number].width for number in shown}
    _share_out(columns, widths, room - _needed(widths.values()))
    placed: list[Placed] = []
    x = GUTTER
    for number in shown:
        width = min(widths[number], room - MARGIN - x)
        if width <= 0:
            break
        placed.append(Placed(number, x, width))
        x += width + GAP
    return tuple(placed)


def _needed(widths: Collection[int]) -> int:
    return GUTTER + sum(widths) + GAP * (len(widths) - 1) + MARGIN


def _kept(columns: Sequence[Column[Any]], room: int) -> list[int]:
    """The columns left after dropping, rightmost first among equals, what does not fit."""
    shown = list(range(len(columns)))
    while _needed([columns[number].width for number in shown]) > room:
        least = max(reversed(shown), key=lambda number: columns[number].priority, default=None)
        if least is None or columns[least].priority == 0:
            break
        shown.remove(least)
    return shown


def _share_out(columns: Sequence[Column[Any]], widths: dict[int, int], spare: int) -> None:
    """Give spare cells to the columns with a share, or take missing ones from them."""
    sharers = [number for number in widths if columns[number].flex]
    shares = sum(columns[number].flex for number in sharers)
    for number in sharers:
        part = max(spare * columns[number].flex // shares, min(LEAST - widths[number], 0))
        shares -= columns[number].flex
        widths[number] += part
        spare -= part
