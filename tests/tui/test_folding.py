"""Sub-conversations: folded under their parent, opened, found by the filter, kept together by every order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.tui.lists.folding import Folding
from tests.tui.fake_fleet import FakeFleet, at_conversations, comes_to


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    fleet.add("box")
    fleet.talk("zebra", "box", "Zebra", updated_at="2026-03-14T12:00:00Z")
    fleet.talk("head", "box", "Plan the port", updated_at="2026-03-14T11:00:00Z", sub_conversation_ids=["one", "two"])
    fleet.talk("one", "box", "Part one", updated_at="2026-03-14T09:00:00Z", parent_conversation_id="head")
    fleet.talk("two", "box", "Another part", updated_at="2026-03-14T08:00:00Z", parent_conversation_id="head")
    fleet.talk("apple", "box", "Apple", updated_at="2026-03-14T10:00:00Z")
    return fleet


async def test_parts_are_folded_under_their_parent_until_they_are_opened(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, size=(60, 20)) as seat:
        assert seat.table.ids == ["zebra", "head", "apple"]
        await seat.sees("+2 Plan the port", "5 Finished")
        await seat.press("right", sees="Nothing is folded under it.")
        await seat.go_to("head", "right")
        assert seat.table.ids == ["zebra", "head", "one", "two", "apple"]
        await seat.sees("└ Part one")
        assert "+2" not in seat.text
        await seat.press("down", "left")
        assert seat.table.ids == ["zebra", "head", "apple"]
        assert seat.table.cursor_id == "head"
        await seat.press("left", sees="Nothing is open under it.")


async def test_a_filter_finds_parts_and_shows_their_parent_and_counts_what_matches(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        await seat.press("slash", *"part one", until=lambda: seat.table.ids == ["head", "one"])
        await seat.sees("1 of 5", "+1 Plan the port", "└ Part one")
        await seat.press("enter", "right", sees="The filter decides which of them are shown")
        await seat.press("escape", until=lambda: seat.table.ids == ["zebra", "head", "apple"])


async def test_a_folded_part_that_needs_somebody_lifts_its_family_and_going_to_it_opens_that(fleet: FakeFleet) -> None:
    fleet.add("other")
    fleet.conversations["two"] |= {"execution_status": "waiting_for_confirmation", "sandbox_id": "other"}
    async with at_conversations(fleet) as seat:
        assert seat.table.ids == ["head", "zebra", "apple"]
        await seat.sees("1 needs you", "+2! Plan the port")
        await comes_to(seat, fleet, two="finished")
        await seat.sees("+ 1 unread", "+2+ Plan the port")
        await seat.press("2", until=lambda: len(seat.table.ids) == 2)
        await seat.go_to("other", "o", sees=("[1 Conversations]", "└ Another part"))
        assert seat.table.cursor_id == "two"


NAMES = [f"n{number}" for number in range(7)]


@given(
    parents=st.dictionaries(st.sampled_from(NAMES), st.sampled_from([*NAMES, "elsewhere"])),
    ids=st.permutations(NAMES),
    opened=st.sets(st.sampled_from(NAMES)),
    by_attention=st.booleans(),
)
def test_whatever_a_server_says_of_parents_nothing_is_lost_or_doubled(
    parents: dict[str, str], ids: list[str], opened: set[str], by_attention: bool
) -> None:
    folding = Folding(NAMES)
    folding.parents.update(parents)
    folded = folding.arranged(ids, filtered=False, by_attention=by_attention)
    for name in opened:
        folding.open(name)
    for name in NAMES:
        folding.open(name)
    everything = folding.arranged(ids, filtered=False, by_attention=by_attention)
    assert sorted(everything) == NAMES
    assert len(folded) == len(set(folded))
    assert [name for name in everything if name in folded] == folded
    found = folding.arranged(ids[:3], filtered=True, by_attention=by_attention)
    assert set(ids[:3]) <= set(found)
    assert len(found) == len(set(found))
