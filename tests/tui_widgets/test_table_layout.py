"""The columns of a table by its width: which are shown, and how wide each is."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.tui.cells import EMPTY
from quarterdeck.tui.widgets.table_layout import GAP, GUTTER, MARGIN, Column, fit


def column(width: int, *, flex: int = 0, priority: int = 0, key: str = "key") -> Column[None]:
    return Column(key, "TITLE", width, lambda _row, _now: EMPTY, flex=flex, priority=priority)


def shown(columns: Sequence[Column[None]], room: int) -> list[int]:
    return [place.number for place in fit(columns, room)]


def widths(columns: Sequence[Column[None]], room: int, content: Mapping[str, int] | None = None) -> list[int]:
    return [place.width for place in fit(columns, room, content)]


def room_for(*sizes: int) -> int:
    return GUTTER + sum(sizes) + GAP * (len(sizes) - 1) + MARGIN


LAYOUTS = st.lists(
    st.builds(column, st.integers(1, 40), flex=st.integers(0, 3), priority=st.integers(0, 4)), min_size=1, max_size=10
)


def test_the_highest_priority_number_is_dropped_first() -> None:
    columns = [column(10), column(10, priority=1), column(10, priority=3), column(10, priority=2)]
    assert shown(columns, room_for(10, 10, 10, 10)) == [0, 1, 2, 3]
    assert shown(columns, room_for(10, 10, 10, 10) - 1) == [0, 1, 3]
    assert shown(columns, room_for(10, 10, 10) - 1) == [0, 1]
    assert shown(columns, room_for(10, 10) - 1) == [0]


def test_a_column_with_a_share_takes_what_it_wants_and_the_largest_share_the_rest() -> None:
    columns = [column(10), column(10, flex=1, key="place"), column(10, flex=2, key="title")]
    content = {"key": 10, "place": 14, "title": 16}
    assert widths(columns, room_for(10, 10, 10) + 8, content) == [10, 12, 16]
    assert widths(columns, room_for(10, 10, 10) + 20, content) == [10, 14, 26]
    columns = [column(4, key="age"), column(10, flex=1, key="state"), column(20, flex=2, key="title")]
    narrow = fit(columns, room_for(7, 10, 9), {"age": 3, "state": 10, "title": 20}, "age")
    assert [place.width for place in narrow] == [len("TITLE ▲"), 10, 9], "the arrow costs the largest share"


def test_a_column_is_as_wide_as_what_stands_in_it_and_one_without_gives_its_place_away() -> None:
    columns = [column(20, key="state"), column(16, key="place", priority=1), column(9, key="cost", priority=2)]
    assert widths(columns, 120, {"state": 9, "place": 0, "cost": 7}) == [9, 7]
    assert widths(columns, 120, {"state": 30, "place": 0, "cost": 1}) == [20, len("TITLE")]
    assert shown(columns, 120) == [0, 1, 2], "a table without rows shows all of its titles"


@given(LAYOUTS, st.integers(0, 250))
def test_columns_never_overlap_nor_leave_the_table(columns: list[Column[None]], room: int) -> None:
    edge = GUTTER
    for place in fit(columns, room):
        assert place.x >= edge
        assert place.width >= 1
        edge = place.x + place.width + GAP
        assert place.x + place.width + MARGIN <= room
    assert set(shown(columns, room)) <= set(shown(columns, room + 1)), "a wider table shows no fewer"
