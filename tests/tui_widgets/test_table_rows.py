"""The rows without a screen: cursor and marks hold on to ids through any change of the list."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.tui.widgets.table_rows import TableRows

IDS = st.lists(st.text("abcdefgh", min_size=1, max_size=2), unique=True, max_size=30)


@dataclass(frozen=True)
class Row:
    id: str
    version: int = 0


def table(*ids: str, cursor: int = 0) -> TableRows[Row]:
    rows: TableRows[Row] = TableRows()
    rows.replace([Row(row_id) for row_id in ids])
    rows.move(cursor)
    return rows


def cursor_id(rows: TableRows[Row]) -> str | None:
    return None if rows.cursor_row is None else rows.cursor_row.id


@given(IDS, IDS, st.integers(0, 40))
def test_the_cursor_follows_its_id_or_keeps_its_line(before: list[str], after: list[str], number: int) -> None:
    rows = table(*before, cursor=number)
    held, line = cursor_id(rows), rows.cursor
    rows.replace([Row(row_id, 1) for row_id in after])
    if held in after:
        assert cursor_id(rows) == held
    elif after:
        assert rows.cursor == min(line, len(after) - 1)
    else:
        assert rows.cursor_row is None


def test_a_cursor_without_rows_finds_its_id_again() -> None:
    rows = table("a", "b", "c", cursor=2)
    rows.replace([])
    rows.replace([Row("x"), Row("c"), Row("y")])
    assert cursor_id(rows) == "c"


def test_marks_outlive_their_rows() -> None:
    rows = table("a", "b")
    rows.toggle_mark("b")
    rows.replace([Row("a")])
    assert rows.marks == {"b"}
    rows.toggle_mark("b")
    assert rows.marks == frozenset()


@given(IDS, IDS)
def test_a_patch_changes_the_rows_it_names_and_nothing_else(ids: list[str], patched: list[str]) -> None:
    rows = table(*ids)
    rows.patch({row_id: Row(row_id, 1) for row_id in patched})
    assert list(rows.all) == [Row(row_id, int(row_id in patched)) for row_id in ids]


@given(IDS, IDS, st.integers(0, 40), st.integers(1, 10), st.integers(0, 40))
def test_a_row_in_sight_stays_where_it_was(
    before: list[str], after: list[str], cursor: int, page: int, scrolled: int
) -> None:
    rows = table(*before, cursor=cursor)
    top = min(scrolled, max(len(before) - page, 0))
    anchor = rows.anchor(top, page)
    rows.replace([Row(row_id) for row_id in after])
    now = rows.holding(anchor, top, page)
    furthest = max(len(after) - page, 0)
    assert 0 <= now <= furthest
    if anchor is not None and anchor[0] in after and top > 0:
        line = after.index(anchor[0]) - now
        assert line == anchor[1] or now in (0, furthest)


def test_a_table_at_its_top_shows_what_comes_in_above() -> None:
    rows = table("a", "b", "c")
    anchor = rows.anchor(0, 3)
    rows.replace([Row(row_id) for row_id in ("new", "a", "b", "c")])
    assert rows.holding(anchor, 0, 3) == 0
    anchor = rows.anchor(0, 3)
    rows.replace([Row(row_id) for row_id in ("1", "2", "3", "new", "a", "b", "c")])
    assert rows.holding(anchor, 0, 3) == 2


@given(IDS, st.integers(0, 40), st.integers(1, 10), st.integers(0, 40))
def test_revealing_scrolls_as_little_as_it_takes(ids: list[str], cursor: int, page: int, top: int) -> None:
    rows = table(*ids, cursor=cursor)
    now = rows.revealing(top, page)
    assert now <= rows.cursor < now + page
    assert now == top or rows.cursor in (now, now + page - 1)
