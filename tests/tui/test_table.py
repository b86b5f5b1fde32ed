from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.events import AppBlur
from textual.strip import Strip

from quarterdeck.fleet import order, watch
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.tui.cells import EMPTY
from quarterdeck.tui.lists import screen as list_screen
from quarterdeck.tui.widgets.table_layout import GAP, GUTTER, MARGIN, Column, fit
from tests.tui.fake_fleet import FakeFleet, at_conversations, at_sandboxes
from tests.tui.user import WIDE, User

TITLES = ("Fix login bug", "Migrate the schema to v2", "修复登录错误并添加测试 🎉", "Cafe\u0301 menu import")


def fleet_of(count: int) -> FakeFleet:
    fleet = FakeFleet.of(count)
    for number, box in enumerate(fleet.sandboxes):
        fleet.talk(f"talk{number:02}", box, TITLES[number % len(TITLES)])
    return fleet


def lines(user: User) -> list[Strip]:
    return user.table.render_lines(user.table.size.region)


async def test_keys_move_the_cursor_the_wheel_leaves_it_and_it_stays_in_sight() -> None:
    async with at_sandboxes(fleet_of(60)) as user:
        page = len(user.table.visible_ids) - 1
        pages = {"pagedown pagedown pageup": page, "ctrl+d ctrl+d ctrl+u": round(page / 2)}
        for keys, cursor in {"down j j up k": 1, "up": 0, "end down": 59, "G g": 0, "G home": 0, **pages}.items():
            await user.press("g", *keys.split())
            assert user.table.cursor_id == user.table.ids[cursor], keys
            assert user.table.cursor_id in user.table.visible_ids
            assert f" {user.table.cursor_id} " in user.line_of("▌")
        await user.press("g", "j")
        user.table.scroll_to(y=30, animate=False)
        await user.pause()
        assert (user.table.cursor_id, user.table.visible_ids[0]) == ("box01", "box30")
        await user.press("j", until=lambda: "box02" in user.table.visible_ids)
        await user.press("G")
        await user.resize(80, 20, until=lambda: len(user.table.visible_ids) == page + 1 - 4)
        assert user.table.cursor_id in user.table.visible_ids


async def test_a_vanished_row_leaves_the_cursor_on_its_line_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HIDDEN", 3600.0)
    fleet = fleet_of(9)
    async with at_sandboxes(fleet, size=WIDE) as user:
        await user.press("j", "j", sees="id              box02")
        del fleet.sandboxes["box02"]
        await user.press("ctrl+r", sees="id              box03")
        assert (user.table.cursor_id, user.table.ids.index("box03")) == ("box03", 2)
        user.deck.post_message(AppBlur())
        del fleet.sandboxes["box03"]
        await user.press("j", "k", sees="id              box04")  # whoever presses a key is looking


async def test_a_click_moves_a_double_click_opens_the_gutter_marks_and_a_title_sorts() -> None:
    async with at_sandboxes(fleet_of(9)) as user:
        await user.pilot.click(user.table, offset=(20, 5))
        assert (user.table.cursor_id, user.deck.screen.is_modal) == (user.table.ids[4], False)
        await user.pilot.double_click(user.table, offset=(20, 6))
        await user.sees("Addresses")
        await user.press("escape", until=lambda: user.table.cursor_id == user.table.ids[5])
        await user.pilot.click(user.table, offset=(1, 2))
        assert user.table.marks == {user.table.ids[1]}
        await user.pilot.click(user.table, offset=(20, 15))
        assert user.table.cursor_id == user.table.ids[1], "there is no row"
        for order in ("▲", "▼"):
            await user.click("SANDBOX", sees=f"SANDBOX {order}")


@pytest.mark.usefixtures("no_colour")
async def test_without_colour_each_status_has_a_sign_in_ascii_and_cursor_and_order_stand_in_reverse_video() -> None:
    async with at_sandboxes(fleet_of(9)) as user:
        await user.press("s", sees=("STATUS ▲", "> Running", "> 9 Running"), lacks="●")
        turned = [[piece for piece in strip if piece.style and piece.style.reverse] for strip in lines(user)]
        assert [piece.text.strip() for piece in turned[0]] == ["STATUS ▲"]
        assert ([number for number, pieces in enumerate(turned) if pieces], turned[1]) == ([0, 1], list(lines(user)[1]))


async def test_columns_grow_at_once_and_become_narrower_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "AGED_AFTER", 1e9)
    fleet = fleet_of(9)
    async with at_sandboxes(fleet, size=(66, 20), sees="Fix login bug") as user:
        narrow = user.line_of("STATUS")

        async def become(status: str, word: str) -> str:
            fleet.sandboxes["box01"]["status"] = status
            await user.reread(sees=f" {word}\n")
            return user.line_of("STATUS")

        wide = await become("HIBERNATING", "1 HIBERNATING")
        assert wide.index("SANDBOX") > narrow.index("SANDBOX")
        assert ("AGENT" in wide, "AGENT" in narrow) == (False, True)
        assert await become("RUNNING", "9 Running") == wide
        await user.press("slash", "z", "z", sees="0 of 9")
        await user.press("escape", sees="Fix login bug")
        assert user.line_of("STATUS") == wide, "a moment without rows changes nothing"
        await user.press("ctrl+r")
        assert user.line_of("STATUS") == narrow
        assert await become("HIBERNATING", "1 HIBERNATING") == wide
        await become("RUNNING", "9 Running")
        monkeypatch.setattr(list_screen, "AGED_AFTER", 0.0)
        await user.until(lambda: user.line_of("STATUS") == narrow)


async def test_scrolling_and_filtering_leave_the_columns_where_they_are() -> None:
    fleet = fleet_of(60)
    fleet.sandboxes["box59"]["status"] = "HIBERNATING"
    async with at_sandboxes(fleet, sees=("Fix login bug", "live now")) as user:
        header = user.line_of("STATUS")
        assert "HIBERNATING" not in "".join(line.text for line in lines(user))
        for keys in (("G",), ("g",), ("slash", "z", "z"), ("escape",)):
            await user.press(*keys)
            assert user.line_of("STATUS") == header, keys


async def test_lines_are_as_wide_as_the_table_whatever_the_script_and_coloured_to_their_edge() -> None:
    async with at_conversations(fleet_of(9)) as user:
        for width in (30, 61, 80, 133):
            await user.resize(width, 24)
            assert {cell_len(line.text) for line in lines(user)} == {user.table.size.width}

        def grounds() -> set[object]:
            return {piece.style.bgcolor for line in lines(user) for piece in line if piece.style}

        dark = grounds()
        await user.press("T")
        assert not dark & grounds()
        await user.press("T")
        assert grounds() == dark


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> FakeFleet:
    monkeypatch.setattr(list_screen, "AT_ONCE", 2)
    monkeypatch.setattr(list_screen, "UNSEEN_WITHIN", 0.1)
    monkeypatch.setattr(order, "HOLD", 0.5)
    return FakeFleet.of(40)


async def test_what_changed_while_another_list_was_shown_is_there_after(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, sees="● 40 Running") as user:
        await user.press("1")
        fleet.sandboxes["box37"]["status"] = "PAUSED"
        del fleet.sandboxes["box38"]
        fleet.add("box99")
        await user.press("ctrl+r", until=lambda: "box99" in user.session.sandboxes.records)
        await user.press("2", sees=("● 39 Running", "1 Paused"))
        assert {"box38", "box99"} & user.rows.keys() == {"box99"}
        await user.press("G", sees=("box99", "box39"))


async def test_rows_that_only_time_changes_are_counted_although_nobody_sees_them(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, sees="● 40 Running") as user:
        fleet.deaf = {"box37", "box38", "box39"}
        for sandbox_id in fleet.deaf:
            await user.session.request(Action.PAUSE, sandbox_id)
        await user.sees("● 37 Running", "3 Pausing")
        user.later(minutes=7)
        await user.sees("● 40 Running")


async def test_a_cursor_that_nobody_moved_holds_no_row_back_and_goes_to_no_other(fleet: FakeFleet) -> None:
    for number in range(0, 40, 2):
        fleet.sandboxes[f"box{number:02}"]["status"] = "PAUSED"
    async with at_sandboxes(fleet, sees=("● 20 Running", "20 Paused")) as user:
        assert {user.rows[each].record.status for each in user.table.ids[:20]} == {"RUNNING"}
        under = user.table.cursor_id
        for each, record in fleet.sandboxes.items():
            record["status"] = "RUNNING" if each == under else "ERROR"
        await user.reread(sees="39 Error")
        assert user.table.cursor_id == under
        assert under in user.table.visible_ids


async def test_the_row_of_the_cursor_stays_on_its_line_until_it_is_left_or_a_refresh(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, sees="● 40 Running") as user:
        top, under, *_ = user.table.visible_ids
        fleet.sandboxes["box37"]["status"] = "ERROR"
        await user.reread(until=lambda: user.table.visible_ids[:3] == ("box37", top, under))
        assert user.table.cursor_id == top, "nobody moved the cursor: it holds no row"
        await user.press("g")
        first, second, third = "box37", top, under
        for sandbox_id in (first, second):
            fleet.sandboxes[sandbox_id]["status"] = "PAUSED"
        fleet.sandboxes["box39"]["status"] = "ERROR"
        await user.reread(sees=("● 37 Running", "2 Paused", "1 Error"))
        await user.until(lambda: user.table.visible_ids[:3] == (first, "box39", third))
        assert user.table.cursor_id == first
        await user.press("down", until=lambda: user.table.visible_ids[:2] == (third, "box39"))
        fleet.sandboxes["box38"]["status"] = "ERROR"
        await user.reread(until=lambda: user.table.visible_ids[:3] == ("box38", "box39", third))
        fleet.sandboxes["box39"]["status"] = "PAUSED"
        await user.reread(sees="3 Paused")
        assert (user.table.visible_ids[1], user.table.cursor_id) == ("box39", "box39")
        await user.press("ctrl+r")
        assert (user.table.ids[:2], user.table.cursor_id) == (["box38", third], "box39")


def column(width: int, *, flex: int = 0, priority: int = 0, key: str = "key") -> Column[None]:
    return Column(key, "TITLE", width, lambda _row, _now: EMPTY, flex=flex, priority=priority)


def shown(columns: Sequence[Column[None]], room: int) -> list[int]:
    return [place.number for place in fit(columns, room)]


def widths(columns: Sequence[Column[None]], room: int, content: Mapping[str, int] | None = None) -> list[int]:
    return [place.width for place in fit(columns, room, content)]


def room_for(*sizes: int) -> int:
    return GUTTER + sum(sizes) + GAP * (len(sizes) - 1) + MARGIN


COLUMNS = st.builds(column, st.integers(1, 40), flex=st.integers(0, 3), priority=st.integers(0, 4))


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
    assert shown(columns, room_for(5, 5, 5)) == [0, 1, 2], "a table without rows shows all of its titles"


@given(st.lists(COLUMNS, min_size=1, max_size=10), st.integers(0, 250))
def test_columns_never_overlap_nor_leave_the_table(columns: list[Column[None]], room: int) -> None:
    edge = GUTTER
    for place in fit(columns, room):
        assert place.x >= edge
        assert place.width >= 1
        edge = place.x + place.width + GAP
        assert place.x + place.width + MARGIN <= room
    assert set(shown(columns, room)) <= set(shown(columns, room + 1)), "a wider table shows no fewer"
