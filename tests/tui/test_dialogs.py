"""What dialogs of a kind have in common: lists are read while they stand, filtered, clicked; forms keep every word."""

import pytest

from quarterdeck.tui.text import Shown
from tests.client.fakes import Answer, Gated, to
from tests.tui.fake_fleet import PROD, FakeFleet, at_conversations, at_sandboxes, page
from tests.tui.seat import answering, seated
from tests.tui.test_typed_ahead import SPECS


@pytest.fixture
def fleet() -> FakeFleet:
    return FakeFleet.of(12, nested=True)


async def test_keys_that_come_before_the_lines_mean_the_lines(fleet: FakeFleet) -> None:
    server = Gated(fleet.answer, to(SPECS))
    async with at_conversations(fleet, server=server) as seat:
        seat.at_once("2", "n", "j", "enter")
        await seat.sees("Start a sandbox", "Reading…")
        assert len(fleet.sandboxes) == 12
        server.gate.set()
        await seat.until(lambda: len(fleet.sandboxes) == 13 and not seat.deck.screen.is_modal)
        assert ("sandbox_spec_id", "other-spec") in [pair for asked in server.asked for pair in asked.query]


async def test_lines_are_filtered_hints_are_clicked_and_why_there_are_none_is_said(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.press("X", sees=("12  Sandboxes that no conversation lives in", "/ filter"))
        await seat.click("filter")
        await seat.type("box1", until=lambda: "box02" not in seat.text.partition("No conversation")[2])
        await seat.press("q", sees="No line has that in it.", lacks="go to it")
        await seat.press("backspace", "down", "enter", until=lambda: not seat.deck.screen.is_modal)
        assert seat.table.cursor_id == "box11"
        await seat.press("X", sees="esc cancel")
        await seat.click("cancel", until=lambda: not seat.deck.screen.is_modal)
        fleet.says[f"GET {SPECS}"] = Answer({}, 404)
        await seat.press("n", sees="status 404")
        await seat.press("enter", "escape", until=lambda: not seat.deck.screen.is_modal)


async def test_all_that_is_told_of_a_line_is_in_sight_also_where_the_one_before_told_less(fleet: FakeFleet) -> None:
    commands = ["agent"], ["agent", *["--with-a-flag"] * 9]
    specs = ({"id": f"spec{len(each)}", "command": each, "working_dir": "/w", "initial_env": {}} for each in commands)
    fleet.says[f"GET {SPECS}"] = page(specs)
    async with at_sandboxes(fleet) as seat:
        await seat.press("n", sees=("spec1", "environment"))
        await seat.press("j", sees=("--with-a-flag", "environment"))


async def test_keys_in_the_bar_are_pressed_by_a_click(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.click("Help", sees="Keys: sandboxes")
        await seat.press("slash", sees="/ does nothing here; the keys are below.")
        await seat.click("esc close", until=lambda: not seat.deck.screen.is_modal)
        await seat.click("Filter")
        await seat.type("nothing", sees="0 of 12")
        await seat.click("enter keep it", sees=("0 of 12", "n Start"))
        await seat.click("n Start", sees="Start a sandbox")
        await seat.click("esc cancel", sees=("0 of 12", "Filter"))
        await seat.click("Filter", sees="esc show all")
        await seat.click("esc show all", until=lambda: "of 12" not in seat.text)


async def test_below_a_dialog_a_message_shows_its_beginning(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.press("f", sees="esc cancel")
        seat.deck.say_on_top(Shown("first " + "words " * 20 + "end"), in_dialogs=False)
        await seat.until(lambda: "first" in seat.deck.export_screenshot())
        assert ";end" not in seat.deck.export_screenshot()
        await seat.press("escape", sees=("first words", "end"))


async def test_where_a_word_is_typed_is_in_sight_however_much_is_said(fleet: FakeFleet) -> None:
    fleet.talk("c1", "box01", "Fix the build", execution_status="running")
    async with at_sandboxes(fleet, size=(50, 12)) as seat:
        await seat.until(lambda: seat.session.conversations.records)
        await seat.press("asterisk", "D", sees=("Delete 12 sandboxes?", "They cannot be", "Type 12 to go on"))
        await seat.sees("esc cancel  ↑ ↓ scroll")
        await seat.press("down", "down", "down", sees="The agent of Fix the build")
        seat.at_once(*["pagedown"] * 12)
        await seat.sees("that live there stay listed", "Type 12 to go on")
        await seat.press("1", "enter", sees="That is not 12. Nothing was done.")
        assert not fleet.orders
        await seat.press("2", until=lambda: "That is not" not in seat.text)
        await seat.press("enter", until=lambda: not fleet.sandboxes)


async def test_a_form_that_is_opened_before_the_server_is_known_says_what_applies_once_it_is(fleet: FakeFleet) -> None:
    server = Gated(fleet.answer, to("/server_info"))
    async with seated(answering(server), PROD) as seat:
        await seat.sees("live now")
        await seat.press("n", *"go", sees=("New conversation", "go"), lacks="(3) applies")
        server.gate.set()
        await seat.sees("What is stored in the settings (3) applies", "go")


async def test_a_form_says_what_is_wrong_at_each_field_and_keeps_every_word(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        seat.at_once("n", *"go", "tab", "tab", *"a", "space", "b", "tab", *"c", "space", "d", "ctrl+s")
        await seat.sees("! A repository is written as owner/name", "! A branch has no blanks in its name.", "go", "a b")
        await seat.press("end", "ctrl+u", until=lambda: "! A repository" not in seat.text)
        await seat.press("tab", "end", "ctrl+u", "d", "ctrl+s", sees=("! A branch needs its repository.", "go"))
        assert not fleet.created
        await seat.press("escape", sees=("esc again drops what you typed", "go"))
        await seat.press("escape", until=lambda: not seat.deck.screen.is_modal)
