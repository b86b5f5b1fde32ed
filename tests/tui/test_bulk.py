"""Commands for several sandboxes: asked about, carried out a few at a time, and told row by row as it was."""

from collections import Counter
from collections.abc import Iterable

import pytest

from quarterdeck.fleet.bulk import RowState
from quarterdeck.tui.widgets import bars
from tests.client.fakes import Answer
from tests.conftest import Home
from tests.tui.fake_fleet import SANDBOXES, FakeFleet, at_conversations, at_sandboxes, page, states
from tests.tui.seat import WIDE


def asks_to_wait(fleet: FakeFleet, boxes: Iterable[str]) -> None:
    """Let the server pause none of these for now."""
    wait = Answer({"detail": "Too many"}, 429, {"Retry-After": "60"})
    fleet.says |= dict.fromkeys((f"POST {SANDBOXES}/{box}/pause" for box in boxes), wait)


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet.of(6)
    fleet.add("idle6", "PAUSED")
    return fleet


async def test_a_plan_says_what_will_be_done_and_leaves_alone_what_the_filter_hides(fleet: FakeFleet) -> None:
    fleet.talk("c1", "box01", "Fix the build", execution_status="running")
    async with at_sandboxes(fleet) as seat:
        await seat.press("asterisk", "p")
        await seat.sees("Pause 6 sandboxes?", "6 will be paused", "1 skipped", "It is paused already")
        await seat.press("enter", until=lambda: not seat.deck.screen.is_modal)
        assert fleet.orders == []
        assert len(seat.table.marks) == 7
        await seat.press("slash", *"id:box00", "enter", sees="7 marked, 6 hidden by the filter")
        await seat.press("p", sees=("1 will be paused", "5 marked, but hidden by the filter"))
        await seat.press("h", sees=("Pause 6 sandboxes?", "6 will be paused", "The agent of Fix the build is at work"))
        await seat.press("h", "y", sees="1 done")
        assert fleet.orders == [("pause", "box00")]
        await seat.press("escape", "escape", "asterisk", "slash", *"id:idle", "enter", "p")
        await seat.sees("Nothing to pause", "n close (enter too)")
        await seat.press("y", sees="There is no row it applies to.")
        await seat.press("h", sees="Pause 5 sandboxes?", lacks="no row it applies to")


async def test_a_single_row_that_the_filter_hides_is_left_out_too(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as seat:
        await seat.go_to("box00", "space", "slash", *"id:box01", "enter", sees="1 marked, 1 hidden by the filter")
        await seat.press("p", sees=("Nothing to pause", "1 marked, but hidden by the filter"))
        await seat.press("enter", until=lambda: not seat.deck.screen.is_modal)
        assert (fleet.orders, seat.table.marks) == ([], frozenset({"box00"}))


async def test_every_row_ends_with_the_truth_and_failed_ones_are_tried_again(fleet: FakeFleet, home: Home) -> None:
    fleet.fails = {"box01"}
    async with at_sandboxes(fleet) as seat:
        await seat.press("asterisk")
        del fleet.sandboxes["box03"]
        await seat.press("p", "y")
        await seat.sees("4 done", "1 failed", "1 gone", "1 skipped", "(status 400): It bro", "R retry the rest")
        done = ("box00", "box02", "box04", "box05")
        left = {"box01": RowState.FAILED, "box03": RowState.GONE, "idle6": RowState.SKIPPED}
        assert states(seat) == {**dict.fromkeys(done, RowState.DONE), **left}
        assert {fleet.sandboxes[each]["status"] for each in done} == {"PAUSED"}
        fleet.fails.clear()
        await seat.press("enter", sees="(status 400): It broke")
        await seat.press("R", sees=("5 done", "1 gone"))
        assert Counter(fleet.orders) == {("pause", f"box{number:02}"): 1 + (number == 1) for number in range(6)}
        await seat.press("f", until=lambda: (home.state / "copied.txt").exists())
        copied = (home.state / "copied.txt").read_text()
        assert copied.startswith("7 sandboxes: 5 done, 1 gone, 1 skipped\n")
        assert "box01  done" in copied


async def test_escape_stops_the_rest_and_what_was_sent_is_followed(fleet: FakeFleet) -> None:
    asks_to_wait(fleet, [*fleet.sandboxes][1:])
    fleet.deaf = {"box00"}
    async with at_sandboxes(fleet) as seat:
        await seat.press("asterisk", "p", "y", sees=("the server asked to wait", "1 asked for"), lacks="B shows it")
        await seat.pilot.resize_terminal(40, 24)
        await seat.sees("1 skipped", " asked to wait", "esc stop the rest", "b go on in the background", "y copy")
        await seat.pilot.resize_terminal(*WIDE)
        await seat.press("escape", sees=("5 stopped", "1 skipped", "esc close"))
        assert fleet.orders == [("pause", "box00")]
        await seat.press("R", sees="R tries again what is left, once all have ended.")
        fleet.add("box00", "PAUSED")
        await seat.sees("1 done", "R retry the rest")
        await seat.press("R", sees=("5 waiting", "the server asked to wait"))
        await seat.press("escape", sees="5 stopped")
        await seat.press("escape", until=lambda: not seat.deck.screen.is_modal)


async def test_one_sandbox_is_paused_without_a_question_unless_its_agent_works_and_then_no_agent_does() -> None:
    fleet = FakeFleet()
    fleet.add("calm")
    fleet.add("busy")
    fleet.talk("c1", "busy", "Fix the build", execution_status="running")
    async with at_sandboxes(fleet, size=WIDE) as seat:
        await seat.sees("Fix the build")
        await seat.press("asterisk", "r", sees="Resume: it applies to none of these. 2: It is running already.")
        await seat.press("minus")
        await seat.go_to("calm", "space", sees="1 marked")
        await seat.press("p", until=lambda: fleet.orders == [("pause", "calm")] and "1 marked" not in seat.text)
        await seat.go_to("busy", "p", sees=("Pause busy?", "The agent of Fix the build is at work"))
        await seat.press("enter")
        assert fleet.orders == [("pause", "calm")]
        await seat.press("p", "y", until=lambda: ("pause", "busy") in fleet.orders)
        await seat.sees("Fix the build  Sandbox paused")
        assert "at work" not in seat.text, "the conversation was read before its sandbox was paused"


async def test_an_error_stays_and_goes_with_the_cursor(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.fails = {"box00"}
    async with at_sandboxes(fleet) as seat:
        await seat.press("p", "j", sees="Pause box00: ")
        await seat.press("k", sees="(status 400): It broke")
        monkeypatch.setattr(bars, "STAYS", 0.001)
        await seat.press("p", "r", "p", sees="(status 400): It broke")
        await seat.press("j", until=lambda: "It broke" not in seat.text)


async def test_it_goes_on_in_the_background_and_leaving_in_the_middle_is_asked_about(fleet: FakeFleet) -> None:
    asks_to_wait(fleet, fleet.sandboxes)
    async with at_sandboxes(fleet, size=WIDE) as seat:
        await seat.press("1", "2", "asterisk", "p", "y", sees="go on in the background")
        await seat.press("b", sees=("Pause 6 sandboxes:", "6 waiting, 1 skipped, the server asked to wait"))
        await seat.sees("s. B shows it.")
        await seat.press("Q", sees=("Leave before it has ended?", "Rows that wait for their turn are then not"))
        await seat.press("ctrl+q", sees="Answer this first.")
        await seat.press("enter", until=lambda: not seat.deck.screen.is_modal)
        await seat.press("asterisk", "p", sees="still going on; B shows it.")
        await seat.press("B", sees="the server asked to wait")
        await seat.press("b", "Q", "y", until=lambda: seat.deck.return_code == 0)


async def test_it_is_not_given_up_unasked_where_another_key_opens_the_connection_anew(fleet: FakeFleet) -> None:
    asks_to_wait(fleet, fleet.sandboxes)
    async with at_sandboxes(fleet, size=WIDE) as seat:
        await seat.press("3", sees="Model")
        await seat.press("enter", *"openai/gpt", "escape", until=lambda: seat.deck.edits)
        await seat.press("2", "asterisk", "p", "y", sees="go on in the background")
        await seat.press("b", "c", sees="Connections")
        await seat.press("K", sees="Key of prod")
        await seat.type("another", "enter", sees=("Leave before it has ended?", "Still going on: Pause 6 sandboxes."))
        await seat.press("y", sees="used until the deck ends", until=lambda: not seat.deck.screen.is_modal)
        assert (seat.deck.running_job, seat.deck.edits) == (None, 1)


async def test_from_conversations_their_sandboxes_are_paused_and_who_else_lives_there_is_told(fleet: FakeFleet) -> None:
    for number, box in enumerate(("box00", "box00", "box02", "box03")):
        fleet.talk(f"c{number}", box, f"Talk {number}")
    async with at_conversations(fleet) as seat:
        await seat.go_to("c1", "p", sees=("Pause of box00 asked for", "Also in it: Talk 0."))
        assert fleet.orders == [("pause", "box00")]
        await seat.until(lambda: seat.session.memories.by_id["box00"].asked is None)
        await seat.press("p", sees="Its sandbox is paused already. r resumes it.")
        await seat.go_to("c1", "space")
        await seat.go_to(
            "c2", "space", "p", sees=("box00   Talk 1 and 1 more: It is paused already.", "box02   Talk 2")
        )
        await seat.press("escape", "asterisk", "p", sees=("Pause 2 sandboxes?", "box02", "Talk 3"))
        await seat.press("y", sees=("2 done", "1 skipped", "It is paused already.  Talk 0, Talk 1"))
        await seat.press("enter", sees="box02   Talk 2: done")
        assert sorted(fleet.orders) == [("pause", "box00"), ("pause", "box02"), ("pause", "box03")]
        await seat.press("escape")
        await seat.go_to("c0", "space")
        await seat.go_to("c1", "space", "r", sees="Resume of box00 asked for")
        assert "Also in it" not in seat.text


async def test_a_plan_names_two_conversations_of_a_sandbox_and_counts_the_others(fleet: FakeFleet) -> None:
    for number, box in enumerate(("box00", "box00", "box00", "box00", "box01")):
        fleet.talk(f"c{number}", box, f"Talk {number}")
    async with at_conversations(fleet) as seat:
        await seat.press("asterisk", "p", sees=("Pause 2 sandboxes?", "box00   Talk 0, Talk 1 and 2 more\n"))
        await seat.press("escape", "2", sees="Talk 0 +3")


async def test_while_a_list_is_still_read_its_counts_and_a_plan_say_so(fleet: FakeFleet) -> None:
    items = list(fleet.sandboxes.values())
    fleet.says[f"GET {SANDBOXES}/search"] = page(items, "2")
    async with at_sandboxes(fleet) as seat:
        await seat.sees("7 read so far  ● 6 Running")
        await seat.press("asterisk", "p", sees=("6 will be paused", "Not everything is read yet"))
        await seat.press("escape", "D", sees=("7 will be deleted", "Not everything is read yet"))
