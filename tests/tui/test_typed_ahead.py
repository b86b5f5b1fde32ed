"""Keys that come at once or before anything is loaded go where they were meant; what dialogs have in common."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from threading import Event

import pytest
from textual import events
from textual.widgets import Input, TextArea
from textual.worker import WorkerFailed

from quarterdeck.config.connections import Connection
from quarterdeck.tui import keys_in_order
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connecting
from quarterdeck.tui.dialogs.confirm import TypedConfirmDialog
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.lists.screen import ListScreen
from quarterdeck.tui.screens import settings
from quarterdeck.tui.text import Shown
from tests.client.fakes import Answer, Gated, to
from tests.tui.fake_fleet import PROD, SANDBOXES, FakeFleet, at_conversations, at_sandboxes, page
from tests.tui.user import LOCAL, NARROW, WIDE, User, answering, at_deck, connecting, local

SPECS = "/api/v1/sandbox-specs/search"


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    for number in range(30):
        fleet.add(f"box{number}", created=f"2026-03-14T06:00:{59 - number}Z")
        fleet.talk(f"talk{number}", f"box{number}", f"Title {number}")
    return fleet


class SlowToClose(PageDialog):
    gate = asyncio.Event()

    async def on_unmount(self) -> None:
        await self.gate.wait()


async def test_a_slow_end_of_a_dialog_holds_keys_a_moment(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_in_order, "PATIENCE", 0.1)
    async with at_conversations(fleet, size=WIDE) as user:
        dialog = SlowToClose(Shown("Slow"), list)
        await user.deck.push_screen(dialog)
        dialog.dismiss()
        await user.deck.input_handled()
        dialog.gate.set()
        await user.press("2", sees="[2 Sandboxes]", until=lambda: not dialog.is_running)


def click_at_once(user: User, x: int, y: int) -> None:
    for kind in (events.MouseDown, events.MouseUp):
        user.deck.post_message(kind(None, x, y, 0, 0, 1, False, False, False))


async def test_a_click_keeps_its_place_between_keys(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, size=WIDE) as user:
        user.at_once("L", "escape", "j")
        click_at_once(user, user.table.content_region.x + 5, user.table.content_region.y + 4)
        await user.burst("space", "D", "z", until=lambda: isinstance(user.deck.screen, TypedConfirmDialog))
        await user.until(lambda: user.deck.screen.query_one(Input).value == "z")
        await user.press("escape")
        assert (user.table.marks, user.table.cursor_id) == (frozenset({user.table.ids[3]}), user.table.ids[4])


async def test_no_key_waits_for_what_is_sent_and_one_held_down_counts_as_often_as_it_came(fleet: FakeFleet) -> None:
    server = Gated(fleet.answer, to(f"{SANDBOXES}/box0/pause"))
    async with at_conversations(fleet, server=server, size=WIDE) as user:
        await user.press("2")
        user.table.move_to("box0")
        await user.burst("p", *["j"] * 25, *["k"] * 5, "space", until=lambda: user.table.marks)
        assert user.table.marks == {user.table.ids[user.table.ids.index("box0") + 20]}
        await user.until(lambda: server.waited)
        assert fleet.orders == []
        server.gate.set()
        await user.until(lambda: fleet.orders == [("pause", "box0")])


async def test_quitting_goes_ahead_of_what_is_still_read(fleet: FakeFleet) -> None:
    server = Gated(fleet.answer, to(SPECS))
    async with at_conversations(fleet, server=server, size=WIDE) as user:
        await user.press("2")
        await user.burst("n", "j", "space", "ctrl+q", until=lambda: user.deck.return_value == 0)
        assert server.waited


async def test_what_is_chosen_in_the_palette_is_done_before_the_next_key(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as user:
        first, *_ = user.list_screen.table.ids
        await user.burst("colon", *"mark the row", "enter", "j", until=lambda: user.list_screen.table.marks == {first})


KEYS = (
    *"jjkkgG12", *"DLcyfCBXsSivAoT", "enter", "enter", "escape", "escape", "space", "asterisk", "slash", "tab",
    "down", "up", "backspace", "question_mark", "ctrl+r", "pagedown", "home",
)  # fmt: skip


def stands(user: User) -> tuple[object, ...]:
    """What the next key would find, and what those before it have done."""
    deck, focused = user.deck, user.deck.focused
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
    async with at_conversations(fleet, size=WIDE) as slow, at_conversations(fleet, size=WIDE) as fast:
        for _ in range(8):
            keys = chance.choices(KEYS, k=12)
            for key in keys:
                slow.at_once(key)
                await slow.pause()
            await fast.burst(*keys, until=lambda: stands(fast) == stands(slow))


@asynccontextmanager
async def framed(folder: Path, at: Connection = LOCAL, theme: str | None = None) -> AsyncIterator[tuple[User, Event]]:
    """A deck that has nothing but its frame until the gate is open, as it is in the end: no thread outlives a test."""
    gate, load = Event(), connecting(local(folder / "data"))

    def wait(deck: Deck) -> Connecting:
        gate.wait()
        return load(deck)

    deck = Deck(at, wait, crash_folder=folder, theme=theme)
    try:
        async with deck.run_test(size=NARROW) as pilot:
            yield User(deck, pilot), gate
    finally:
        gate.set()


@pytest.mark.parametrize("theme", ["quarterdeck-dark", "quarterdeck-light"])
async def test_the_frame_looks_like_the_first_screen_in_its_theme_and_can_be_left(theme: str, tmp_path: Path) -> None:
    prod = Connection("prod", "http://server.example", read_only=True, colour="teal")
    async with framed(tmp_path, prod, theme) as (user, _):
        await user.sees("[1 Conversations]", "2 Sandboxes", "3 Settings", "prod", "READ-ONLY", "connecting…")
        assert "? Help" in user.line(-1)
        assert "Retry" not in user.line(-1)
        assert user.deck.screen.styles.background.hex.lower() == user.deck.available_themes[theme].background
        await user.burst("j", "ctrl+q", until=lambda: user.deck.return_value == 0)


async def test_what_is_typed_on_the_frame_goes_to_the_screens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "KEYS_WAIT", 30.0)
    async with framed(tmp_path) as (user, gate):
        user.at_once("3", "slash", *"user")
        user.paste_at_once("_name")
        await user.sees("[1 Conversations]", "connecting…")
        click_at_once(user, user.line(0).index("2 Sandboxes"), 0)
        user.at_once("enter")
        gate.set()
        await user.sees("[3 Settings]", "user_name", "Author name")
        await user.press("escape", "1", sees="No conversations.")


async def test_a_key_works_that_comes_after_another_window_had_the_keyboard(tmp_path: Path) -> None:
    async with framed(tmp_path) as (user, gate):
        user.deck.post_message(events.AppBlur())
        gate.set()
        await user.sees("No conversations.")
        await user.press("j", lacks="does nothing here")


async def test_what_cannot_be_loaded_ends_the_deck_with_a_report(tmp_path: Path) -> None:
    def load(deck: Deck) -> Connecting:
        raise ImportError

    deck = Deck(LOCAL, load, crash_folder=tmp_path)
    with pytest.raises(WorkerFailed):
        async with deck.run_test(size=NARROW) as pilot:
            await User(deck, pilot).until(lambda: deck.return_code == 1)
    assert list((tmp_path / "crashes").iterdir())


@pytest.fixture
def dozen() -> FakeFleet:
    return FakeFleet.of(12, nested=True)


async def test_keys_that_come_before_the_lines_mean_the_lines(dozen: FakeFleet) -> None:
    server = Gated(dozen.answer, to(SPECS))
    async with at_conversations(dozen, server=server) as user:
        await user.burst("2", "n", "j", "enter", sees=("Start a sandbox", "Reading…"))
        assert len(dozen.sandboxes) == 12
        server.gate.set()
        await user.until(lambda: len(dozen.sandboxes) == 13 and not user.deck.screen.is_modal)
        assert ("sandbox_spec_id", "other-spec") in [pair for asked in server.asked for pair in asked.query]


async def test_lines_are_filtered_hints_are_clicked_and_why_there_are_none_is_said(dozen: FakeFleet) -> None:
    async with at_sandboxes(dozen) as user:
        await user.press("X", sees=("12  Sandboxes that no conversation lives in", "/ filter"))
        await user.click("filter")
        await user.paste("box1\n")
        await user.until(lambda: "box02" not in user.text.partition("No conversation")[2])
        await user.press("q", sees="No line has that in it.", lacks="go to it")
        await user.press("backspace", "down", "enter", until=lambda: not user.deck.screen.is_modal)
        assert user.table.cursor_id == "box11"
        dozen.says[f"GET {SPECS}"] = Answer({}, 404)
        await user.press("n", sees="status 404")
        await user.press("enter", "escape", until=lambda: not user.deck.screen.is_modal)


async def test_all_that_is_told_of_a_line_is_in_sight_also_where_the_one_before_told_less(dozen: FakeFleet) -> None:
    commands = ["agent"], ["agent", *["--with-a-flag"] * 9]
    specs = ({"id": f"spec{len(each)}", "command": each, "working_dir": "/w", "initial_env": {}} for each in commands)
    dozen.says[f"GET {SPECS}"] = page(specs)
    async with at_sandboxes(dozen) as user:
        await user.press("n", sees=("spec1", "environment"))
        await user.press("j", sees=("--with-a-flag", "environment"))
        await user.press("k", sees="none\n▌\n▌   enter start")


async def test_a_click_presses_a_hint_goes_to_a_line_chooses_it_and_turns_a_box(dozen: FakeFleet) -> None:
    async with at_sandboxes(dozen) as user:
        await user.click("Help", sees=("Keys: sandboxes", "↑ ↓ scroll  esc close"))
        await user.press("slash", sees="/ does nothing here; the keys are below.")
        await user.click("esc close", until=lambda: not user.deck.screen.is_modal)
        await user.click("Filter")
        await user.press(*"nothing", sees="0 of 12")
        await user.click("enter keep it", sees=("0 of 12", "n Start"))
        await user.click("n Start", sees="Start a sandbox")
        await user.click("esc cancel", sees=("0 of 12", "Filter"))
        await user.click("Filter", sees="esc show all")
        await user.click("esc show all", until=lambda: "of 12" not in user.text)
        await user.press("f", sees="[x] ● Running")
        await user.click("[x] ●", sees="[ ] ● Running")
        await user.press("escape", "n", sees=("Start a sandbox", "other-spec"))
        await user.click("other-spec", sees=("Start a sandbox", "enter start"))
        assert len(dozen.sandboxes) == 12
        await user.click("other-spec", until=lambda: len(dozen.sandboxes) == 13)


async def test_below_a_dialog_a_message_shows_its_beginning(dozen: FakeFleet) -> None:
    async with at_sandboxes(dozen) as user:
        await user.press("f", sees="esc cancel")
        user.deck.say_on_top(Shown("first " + "words " * 20 + "end"), in_dialogs=False)
        await user.until(lambda: "first" in user.deck.export_screenshot())
        assert ";end" not in user.deck.export_screenshot()
        await user.press("escape", sees=("first words", "end"))


async def test_where_a_word_is_typed_is_in_sight_however_much_is_said(dozen: FakeFleet) -> None:
    dozen.talk("c1", "box01", "Fix the build", execution_status="running")
    async with at_sandboxes(dozen, size=(50, 12)) as user:
        await user.until(lambda: user.session.conversations.records)
        await user.press("asterisk", "D", sees=("Delete 12 sandboxes?", "They cannot be", "Type 12 to go on"))
        await user.sees("esc cancel  ↑ ↓ scroll")
        await user.press("down", "down", "down", sees="The agent of Fix the build")
        await user.burst(*["pagedown"] * 12, sees=("that live there stay listed", "Type 12 to go on"))
        await user.press("1", "enter", sees="That is not 12. Nothing was done.")
        assert not dozen.orders
        await user.paste("\x1b2\u202e\n")
        await user.until(lambda: "That is not" not in user.text)
        await user.press("enter", until=lambda: not dozen.sandboxes)


async def test_a_form_that_is_opened_before_the_server_is_known_says_what_applies_once_it_is(dozen: FakeFleet) -> None:
    server = Gated(dozen.answer, to("/server_info"))
    async with at_deck(answering(server), PROD, sees="live now") as user:
        await user.press("n", *"go", sees=("New conversation", "go", "unless grouped"), lacks="(3) applies")
        server.gate.set()
        await user.sees("What is stored in the settings (3) applies", "go")


async def test_a_form_says_what_is_wrong_at_each_field_and_keeps_every_word(dozen: FakeFleet) -> None:
    async with at_conversations(dozen) as user:
        user.at_once("n", *"go", "tab", "tab", *"a", "space", "b", "tab", *"c", "space", "d", "ctrl+s")
        await user.sees("! A repository is written as owner/name", "! A branch has no blanks in its name.", "go", "a b")
        await user.press("end", "ctrl+u", until=lambda: "! A repository" not in user.text)
        await user.press("tab", "end", "ctrl+u", "d", "ctrl+s", sees=("! A branch needs its repository.", "go"))
        await user.press("ctrl+p", sees="^p does nothing here")  # what closes a form closes what stands on top
        assert not dozen.created
        await user.press("escape", sees=("esc again drops what you typed", "go"))
        await user.press("ctrl+s", "escape", sees=("esc again drops what you typed", "go"))
        await user.press("x", until=lambda: "esc again" not in user.text)
        await user.press("ctrl+q", sees=("ctrl+q again leaves and drops what you typed.", "go"))
        await user.press("x", until=lambda: "ctrl+q again" not in user.text)
        await user.press("escape", sees="esc again drops what you typed")
        await user.press("escape", until=lambda: not user.deck.screen.is_modal)
