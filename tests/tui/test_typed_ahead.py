"""Keys that come all at once, as they do over SSH: each goes to what the one before it opened."""

from functools import partial
from random import Random

import pytest
from textual import events
from textual.widgets import Input, TextArea

from quarterdeck.tui.dialogs.confirm import TypedConfirmDialog
from quarterdeck.tui.lists.screen import ListScreen
from tests.client.fakes import Gated, to
from tests.tui import fake_fleet
from tests.tui.fake_fleet import SANDBOXES, FakeFleet
from tests.tui.seat import WIDE, Seat, stand_alike

at_conversations = partial(fake_fleet.at_conversations, size=WIDE)
SPECS = "/api/v1/sandbox-specs/search"


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    for number in range(30):
        fleet.add(f"box{number}", created=f"2026-03-14T06:00:{59 - number}Z")
        fleet.talk(f"talk{number}", f"box{number}", f"Title {number}")
    return fleet


async def test_a_sandbox_is_deleted_by_one_burst_of_keys(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        await seat.press("2")
        row = seat.list_screen.table.cursor_id
        assert row is not None
        await seat.press("1")
        seat.at_once("2", "D", *row, "enter", "j", "D", "x")
        await seat.until(lambda: fleet.orders)
        await seat.until(lambda: isinstance(seat.deck.screen, TypedConfirmDialog))
        await seat.until(lambda: seat.deck.screen.query_one(Input).value == "x")
        await seat.press("escape")
        assert seat.deck.current_mode == "sandboxes"
    assert fleet.orders == [("delete", row)]


async def test_a_click_keeps_its_place_between_keys(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        await seat.press("2")
        region = seat.list_screen.table.content_region
        seat.at_once("L", "escape", "j")
        for kind in (events.MouseDown, events.MouseUp):
            seat.deck.post_message(kind(None, region.x + 5, region.y + 4, 0, 0, 1, False, False, False))
        seat.at_once("space", "D", "z")
        await seat.until(lambda: isinstance(seat.deck.screen, TypedConfirmDialog))
        await seat.until(lambda: seat.deck.screen.query_one(Input).value == "z")
        await seat.press("escape")
        table = seat.list_screen.table
        assert table.marks == {table.ids[3]}
        assert table.cursor_id == table.ids[4]


async def test_no_key_waits_for_what_is_only_sent_and_one_held_down_is_obeyed_as_often_as_it_came(
    fleet: FakeFleet,
) -> None:
    server = Gated(fleet.answer, to(f"{SANDBOXES}/box0/pause"))
    async with at_conversations(fleet, server=server) as seat:
        await seat.press("2")
        table = seat.list_screen.table
        table.move_to("box0")
        seat.at_once("p", *["j"] * 25, *["k"] * 5, "space")
        await seat.until(lambda: table.marks)
        assert table.marks == {table.ids[table.ids.index("box0") + 20]}
        await seat.until(lambda: server.waited)
        assert fleet.orders == []
        server.gate.set()
        await seat.until(lambda: fleet.orders == [("pause", "box0")])


async def test_quitting_goes_ahead_of_what_is_still_read(fleet: FakeFleet) -> None:
    server = Gated(fleet.answer, to(SPECS))
    async with at_conversations(fleet, server=server) as seat:
        await seat.press("2")
        seat.at_once("n", "j", "space", "ctrl+q")
        await seat.until(lambda: seat.deck.return_value == 0)
        assert server.waited


# Any keys but those of the palette, which looks for commands in its own time, and those that change the fleet

KEYS = (
    *"jjkkgG12", *"DLcyfCBXsSivAoT", "enter", "enter", "escape", "escape", "space", "asterisk", "slash", "tab",
    "down", "up", "backspace", "question_mark", "ctrl+r", "pagedown", "home",
)  # fmt: skip
AT_ONCE = 12
BURSTS = 8


def stands(seat: Seat) -> tuple[object, ...]:
    """What the next key would find, and what those before it have done."""
    deck, focused = seat.deck, seat.deck.focused
    lists = [screen for screen in deck.opened if isinstance(screen, ListScreen)]
    return (
        deck.theme,
        [type(screen).__name__ for screen in deck.screen_stack],
        (type(focused).__name__, focused.id) if focused is not None else None,
        [field.value for field in deck.screen.query(Input)],
        [area.text for area in deck.screen.query(TextArea)],
        {each.PLACE: (each.table.cursor_id, each.table.marks, each.listing.view) for each in lists},
    )


async def test_a_burst_of_any_keys_ends_where_the_keys_one_by_one_do(fleet: FakeFleet) -> None:
    chance = Random(3)
    async with at_conversations(fleet) as slow, at_conversations(fleet) as fast:
        for _ in range(BURSTS):
            await stand_alike(slow, fast, chance.choices(KEYS, k=AT_ONCE), stands)
