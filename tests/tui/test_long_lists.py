"""Long lists are brought up to date a few rows at a time; in the end they say what short ones say."""

from datetime import timedelta

import pytest

from quarterdeck.fleet import order
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.tui.lists import screen as list_screen
from tests.tui.fake_fleet import FakeFleet, at_sandboxes


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> FakeFleet:
    """More sandboxes than a screen shows."""
    monkeypatch.setattr(list_screen, "AT_ONCE", 2)
    monkeypatch.setattr(list_screen, "UNSEEN_WITHIN", 0.1)
    monkeypatch.setattr(order, "HOLD", 0.5)
    return FakeFleet.of(40)


async def test_what_changed_while_another_list_was_shown_is_there_after(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.sees("● 40 Running")
        await seat.press("1")
        fleet.sandboxes["box37"]["status"] = "PAUSED"
        del fleet.sandboxes["box38"]
        fleet.add("box99")
        await seat.press("ctrl+r", until=lambda: "box99" in seat.session.sandboxes.records)
        await seat.press("2", sees=("● 39 Running", "1 Paused"))
        assert {"box38", "box99"} & seat.list_screen.rows.keys() == {"box99"}
        await seat.press("G", sees=("box99", "box39"))


async def test_rows_that_only_time_changes_are_counted_although_nobody_sees_them(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.sees("● 40 Running")
        fleet.deaf = {"box37", "box38", "box39"}
        for sandbox_id in fleet.deaf:
            await seat.session.ask(Action.PAUSE, sandbox_id)
        await seat.sees("● 37 Running", "3 Pausing")
        began = seat.deck.clock
        seat.deck.clock = lambda: began() + timedelta(minutes=7)
        await seat.sees("● 40 Running")


async def test_the_cursor_that_nobody_moved_goes_to_no_other_row_though_many_rise_over_its_own(
    fleet: FakeFleet,
) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.sees("● 40 Running")
        table = seat.list_screen.table
        under = table.cursor_id
        for each in fleet.sandboxes:
            fleet.sandboxes[each]["status"] = "RUNNING" if each == under else "ERROR"
        seat.session.refresh()
        await seat.sees("39 Error")
        assert table.cursor_id == under
        assert under in table.visible_ids


async def test_the_row_of_the_cursor_stays_on_its_line_until_the_cursor_leaves_it_or_a_refresh(
    fleet: FakeFleet,
) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.sees("● 40 Running")
        table = seat.list_screen.table
        top, under, *_ = table.visible_ids
        fleet.sandboxes["box37"]["status"] = "ERROR"
        seat.session.refresh()
        await seat.until(lambda: table.visible_ids[:3] == ("box37", top, under))
        assert table.cursor_id == top, "nobody moved the cursor: it holds no row"
        await seat.press("g")
        first, second, third = "box37", top, under
        for sandbox_id in (first, second):
            fleet.sandboxes[sandbox_id]["status"] = "PAUSED"
        fleet.sandboxes["box39"]["status"] = "ERROR"
        seat.session.refresh()
        await seat.sees("● 37 Running", "2 Paused", "1 Error")
        await seat.until(lambda: table.visible_ids[:3] == (first, "box39", third))
        assert table.cursor_id == first
        await seat.press("down", until=lambda: table.visible_ids[:2] == (third, "box39"))
        fleet.sandboxes["box38"]["status"] = "ERROR"
        seat.session.refresh()
        await seat.until(lambda: table.visible_ids[:3] == ("box38", "box39", third))
        fleet.sandboxes["box39"]["status"] = "PAUSED"
        seat.session.refresh()
        await seat.sees("3 Paused")
        assert (table.visible_ids[1], table.cursor_id) == ("box39", "box39")
        await seat.press("ctrl+r")
        assert (table.ids[:2], table.cursor_id) == (["box38", third], "box39")


async def test_rows_that_come_after_the_first_ones_go_to_their_places_at_once(fleet: FakeFleet) -> None:
    """The cursor that appears on the first row was moved by nobody: nothing waits for it to rest."""
    for number in range(0, 40, 2):
        fleet.sandboxes[f"box{number:02}"]["status"] = "PAUSED"
    async with at_sandboxes(fleet) as seat:
        await seat.sees("● 20 Running", "20 Paused")
        table = seat.list_screen.table
        first = [seat.list_screen.rows[row_id] for row_id in table.ids[:20]]
        assert {row.record.status for row in first} == {"RUNNING"}
