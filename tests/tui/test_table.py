"""The table of a list: keys and mouse, the cursor and the marks, how little is painted for a change, its colours."""

from typing import Any

import pytest
from rich.cells import cell_len
from textual.strip import Strip

from quarterdeck.tui.lists import screen as list_screen
from quarterdeck.tui.widgets.table import Table
from tests.tui.fake_fleet import FakeFleet, at_conversations, at_sandboxes
from tests.tui.seat import WIDE, Seat

TITLES = ("Fix login bug", "Migrate the schema to v2", "修复登录错误并添加测试 🎉", "Cafe\u0301 menu import")


def fleet_of(count: int) -> FakeFleet:
    """So many sandboxes, each with a conversation."""
    fleet = FakeFleet.of(count)
    for number, box in enumerate(fleet.sandboxes):
        fleet.talk(f"talk{number:02}", box, TITLES[number % len(TITLES)])
    return fleet


def lines(seat: Seat) -> list[Strip]:
    """What the table paints."""
    table = seat.list_screen.table
    return table.render_lines(table.size.region)


async def test_keys_move_the_cursor_and_it_stays_in_sight() -> None:
    async with at_sandboxes(fleet_of(60)) as seat:
        table = seat.list_screen.table
        page = len(table.visible_ids) - 1
        for keys, cursor in (
            ("down j j up k", 1),
            ("up", 0),
            ("end down", 59),
            ("G g", 0),
            ("G home", 0),
            ("pagedown pagedown pageup", page),
            ("ctrl+d ctrl+d ctrl+u", round(page / 2)),
        ):
            await seat.press("g", *keys.split())
            assert table.cursor_id == table.ids[cursor], keys
            assert table.cursor_id in table.visible_ids
            assert f" {table.cursor_id} " in seat.line_of("▌")


async def test_a_vanished_row_leaves_the_cursor_on_its_line_and_says_so() -> None:
    fleet = fleet_of(9)
    async with at_sandboxes(fleet, size=WIDE) as seat:
        table = seat.list_screen.table
        await seat.press("j", "j", sees="id              box02")
        del fleet.sandboxes["box02"]
        await seat.press("ctrl+r", sees="id              box03")
        assert (table.cursor_id, table.ids.index("box03")) == ("box03", 2)


async def test_a_click_moves_a_double_click_opens_the_gutter_marks_and_a_title_sorts() -> None:
    async with at_sandboxes(fleet_of(9)) as seat:
        table = seat.list_screen.table
        await seat.pilot.click(table, offset=(20, 5))
        assert (table.cursor_id, seat.deck.screen.is_modal) == (table.ids[4], False)
        await seat.pilot.double_click(table, offset=(20, 6))
        await seat.sees("Addresses")
        await seat.press("escape")
        assert table.cursor_id == table.ids[5]
        await seat.pilot.click(table, offset=(1, 2))
        assert table.marks == {table.ids[1]}
        await seat.pilot.click(table, offset=(20, 15))
        assert table.cursor_id == table.ids[1], "there is no row"
        for order in ("▲", "▼"):
            await seat.click("SANDBOX", sees=f"SANDBOX {order}")


@pytest.mark.usefixtures("no_colour")
async def test_without_colour_each_status_has_a_sign_in_ascii_and_cursor_and_order_stand_in_reverse_video() -> None:
    async with at_sandboxes(fleet_of(9)) as seat:
        await seat.press("s", sees=("STATUS ▲", "> Running", "> 9 Running"))
        assert "●" not in seat.text
        turned = [
            [piece.text.strip() for piece in strip if piece.style and piece.style.reverse] for strip in lines(seat)
        ]
        assert turned[0] == ["STATUS ▲"]
        assert [number for number, pieces in enumerate(turned) if pieces] == [0, 1]
        assert all(piece.style and piece.style.reverse for piece in lines(seat)[1])


async def test_it_tells_which_rows_are_on_the_screen_and_the_wheel_leaves_the_cursor() -> None:
    async with at_sandboxes(fleet_of(60)) as seat:
        table = seat.list_screen.table
        page = len(table.visible_ids)
        await seat.press("j")
        table.scroll_to(y=30, animate=False)
        await seat.pause()
        assert (table.cursor_id, table.visible_ids[0]) == ("box01", "box30")
        await seat.press("j")
        assert "box02" in table.visible_ids
        await seat.press("G")
        assert table.visible_ids == tuple(table.ids[-page:])
        await seat.pilot.resize_terminal(80, 20)
        await seat.until(lambda: len(table.visible_ids) == page - 4 and table.cursor_id in table.visible_ids)


async def test_every_line_is_as_wide_as_the_table_whatever_the_script() -> None:
    async with at_conversations(fleet_of(9)) as seat:
        for width in (30, 61, 80, 133):
            await seat.pilot.resize_terminal(width, 24)
            await seat.pause()
            assert {cell_len(line.text) for line in lines(seat)} == {seat.list_screen.table.size.width}


async def test_columns_grow_at_once_and_become_narrower_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "AGED_AFTER", 1e9)
    fleet = fleet_of(9)
    async with at_sandboxes(fleet) as seat:
        await seat.sees("Fix login bug")
        narrow = seat.line_of("STATUS")

        async def become(status: str, word: str) -> str:
            fleet.sandboxes["box01"]["status"] = status
            seat.session.refresh()
            await seat.sees(f" {word}\n")
            return seat.line_of("STATUS")

        wide = await become("HIBERNATING", "1 HIBERNATING")
        assert wide.index("SANDBOX") > narrow.index("SANDBOX")
        assert await become("RUNNING", "9 Running") == wide
        await seat.press("slash", "z", "z", sees="0 of 9")
        await seat.press("escape", sees="Fix login bug")
        assert seat.line_of("STATUS") == wide, "a moment without rows changes nothing"
        await seat.press("ctrl+r")
        assert seat.line_of("STATUS") == narrow
        assert await become("HIBERNATING", "1 HIBERNATING") == wide
        await become("RUNNING", "9 Running")
        monkeypatch.setattr(list_screen, "AGED_AFTER", 0.0)
        await seat.until(lambda: seat.line_of("STATUS") == narrow)


async def test_scrolling_sorting_and_filtering_leave_the_columns_where_they_are() -> None:
    fleet = fleet_of(60)
    fleet.sandboxes["box59"]["status"] = "HIBERNATING"
    async with at_sandboxes(fleet) as seat:
        await seat.sees("Fix login bug", "live now")
        header = seat.line_of("STATUS")
        assert "HIBERNATING" not in "".join(line.text for line in lines(seat))
        for keys in (("G",), ("g",), ("slash", "z", "z"), ("escape",)):
            await seat.press(*keys)
            assert seat.line_of("STATUS") == header, keys
        x = header.index("SANDBOX")
        for order in ("▲", "▼"):
            await seat.pilot.click(seat.list_screen.table, offset=(x, 0))
            await seat.sees(f"SANDBOX {order}")


async def test_only_what_changed_in_sight_is_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "UNSEEN_WITHIN", 0.1)
    fleet, painted = fleet_of(60), set[int]()
    render = Table.render_line

    def noting(table: Table[Any], y: int) -> Strip:
        painted.add(y)
        return render(table, y)

    monkeypatch.setattr(Table, "render_line", noting)
    async with at_conversations(fleet) as seat:

        async def painted_for(renamed: str) -> set[int]:
            await seat.pause()
            painted.clear()
            fleet.conversations[renamed]["title"] = "Renamed"
            seat.session.refresh()
            await seat.until(lambda: seat.list_screen.rows[renamed].title == "Renamed")
            await seat.pause()
            return painted

        await seat.sees("live now")
        assert await painted_for("talk40") == set()
        assert await painted_for("talk03") == {4}
        assert "Renamed" in lines(seat)[4].text
        await seat.go_to("talk40", until=lambda: "Renamed" in seat.line_of("▌"))


async def test_another_theme_colours_the_lines_to_their_very_edge() -> None:
    async with at_sandboxes(fleet_of(9)) as seat:

        def grounds() -> set[object]:
            return {piece.style.bgcolor for line in lines(seat) for piece in line if piece.style}

        dark = grounds()
        await seat.press("T")
        assert not dark & grounds()
        await seat.press("T")
        assert grounds() == dark
