"""What conversations came to since somebody looked: marks in the list, kept from run to run and from deck to deck."""

from pathlib import Path

import pytest

from quarterdeck.fleet import kept
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.tui.kept_state import KeptState
from tests.tui.fake_fleet import FakeFleet, at_conversations, comes_to, shown
from tests.tui.seat import WIDE, Seat

TITLES = {"c1": "Fix login", "c2": "Migrate schema", "c3": "Upgrade httpx"}


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    fleet.add("box")
    for conversation_id, title in TITLES.items():
        fleet.talk(conversation_id, "box", title, execution_status="running")
    fleet.talk("c0", "box", "Long done", execution_status="finished")
    return fleet


def unseen(seat: Seat) -> set[str]:
    rows: list[ConversationRow] = list(seat.list_screen.rows.values())
    return {row.id for row in rows if row.unread}


async def test_what_came_to_something_is_marked_until_its_detail_was_opened(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        assert "unread" not in seat.line(1)
        await comes_to(seat, fleet, c1="finished", c2="waiting_for_confirmation", c3="stuck")
        await seat.sees("1 needs you  + 3 unread")
        assert "+ ✓ Finished" in seat.line_of("Fix login")
        assert "+!◆ Needs you" in seat.line_of("Migrate schema")
        assert "+!✕ Stuck" in seat.line_of("Upgrade httpx")
        assert "+" not in seat.line_of("Long done")
        await seat.go_to("c2", "i", sees="children")
        await seat.press("escape", sees="1 needs you  + 2 unread")
        assert " !◆ Needs you" in seat.line_of("Migrate schema")
        assert "+!" not in seat.line_of("Migrate schema")


async def test_one_key_marks_all_that_are_shown_as_seen(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        await seat.press("A", sees="Nothing is unread.")
        await comes_to(seat, fleet, c1="finished", c2="finished", c3="error")
        await seat.press("slash", *"login", "enter", "A")
        await seat.sees("1 marked as read. 2 that the filter hides stay unread.")
        await seat.press("A", sees="Nothing is unread among these; the filter hides 2.")
        await seat.press("escape", "A", sees="2 marked as read.")
        await seat.until(lambda: not unseen(seat) and "unread" not in seat.line(1))


async def test_the_filter_finds_the_unseen_and_who_needs_somebody(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, size=WIDE) as seat:
        await comes_to(seat, fleet, c1="finished", c2="waiting_for_confirmation")
        await seat.press("slash", *"unseen ", until=lambda: set(shown(seat)) == {"c1", "c2"})
        await seat.type("needs-you", until=lambda: set(shown(seat)) == {"c2"})
        await seat.press("enter", "i", sees="children")
        await seat.press("escape", sees="0 of 4 match.")
        await seat.press("escape", "f", sees=("Which statuses are shown", "[x] ✓ Finished", "[x] ◆ Needs you"))
        await seat.press("space", "enter", until=lambda: set(shown(seat)) == {"c2", "c3"})


async def test_the_next_run_knows_what_was_seen_in_two_decks_even_if_the_look_was_the_last_thing(
    fleet: FakeFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "REST", 2.0)

    def state() -> KeptState:
        return KeptState(tmp_path / "state")

    async with at_conversations(fleet, state=state()) as one:
        await one.sees("● 3 Working  ✓ 1 Finished")
        async with at_conversations(fleet, state=state()) as other:
            for seat in (one, other):
                await comes_to(seat, fleet, c1="finished", c2="finished")
                await seat.sees("● 1 Working  ✓ 3 Finished", "+ 2 unread")
            await other.go_to("c1", "enter", "escape")
        one.session.unread.mark_read(["c2"], one.deck.clock())
        await one.until(lambda: not unseen(one))
    fleet.conversations["c3"]["execution_status"] = "error"
    async with at_conversations(fleet, state=state()) as again:
        await again.until(lambda: unseen(again) == {"c3"})
