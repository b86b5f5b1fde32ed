from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.bulk import RowState
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.lists import screen as list_screen
from quarterdeck.tui.widgets import bars
from tests.client.fakes import Answer
from tests.conftest import Home
from tests.local.conftest import processes
from tests.tui.conftest import Decks
from tests.tui.fake_fleet import CONVERSATIONS, SANDBOXES, FakeFleet, at_conversations, at_sandboxes, page, start_task
from tests.tui.user import WIDE


async def test_a_sandbox_is_started_paused_and_resumed_by_keys_and_outlives_the_deck(deck: Decks, folder: Path) -> None:
    async with deck() as user:
        await user.press("2", sees="No sandboxes.")
        await user.press("p", sees="Pause: there is no row here.")
        await user.press("n", sees=("Start a sandbox", "files  (default)", "shell", "{port}"))
        command, rest = (line for line in user.text.splitlines() if "command  " in line or "{port}" in line)
        at = command.index("command")
        assert not rest[at : at + 13].strip(), "it is wrapped beside its label"
        await user.press("enter", sees=("● Running", "1 Running", "Start of ", ": done."))
        await user.press("p", sees=("‖ Paused", "1 Paused"))
        assert {process.state for process in processes(folder)} == {"T"}
        await user.press("r", sees=("● Running", "1 Running"))
        assert "T" not in {process.state for process in processes(folder)}
        await user.press("p", sees="‖ Paused")
    assert {process.state for process in processes(folder)} == {"T"}
    async with deck() as user:
        await user.press("2", sees="‖ Paused")


async def test_a_key_that_can_do_nothing_says_why_and_what_would() -> None:
    fleet = FakeFleet.of(2)
    async with at_sandboxes(fleet) as user:
        await user.go_to("box00", "r", sees="It is running already. p pauses it.")
        await user.press("o", sees="No conversation lives in it")
        await user.press("p", sees="‖ Paused")
        await user.press("p", sees="It is paused already. r resumes it.")
        await user.press("f2", sees=("Pause             It is paused already", "do it"))
        fleet.sandboxes["box00"]["status"] = "RUNNING"
        await user.reread(sees=("It is running already", "do it"))
        await user.press("p", sees="‖ Paused", until=lambda: not user.deck.screen.is_modal)
        orders = [*fleet.orders]
        await user.press("space", "f2", sees=("Resume 1 marked ", "Open   "))
        del fleet.sandboxes["box00"]
        await user.reread(sees="It was opened for other rows")
        await user.press("p", "escape", until=lambda: not user.deck.screen.is_modal)
        assert fleet.orders == orders, "what the row was asked for that is gone is not asked of the next one"


async def test_that_there_is_no_row_is_said_until_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "STAYS", 1e6)
    fleet = FakeFleet()
    async with at_sandboxes(fleet) as user:
        await user.press("p", sees="Pause: there is no row here.")
        fleet.add("box")
        await user.reread(sees="1 Running", until=lambda: "there is no row here" not in user.text)


async def test_what_happened_and_its_requests_stand_in_lines_that_are_not_torn() -> None:
    fleet = FakeFleet()
    fleet.add("a" * 30)
    async with at_sandboxes(fleet, size=(120, 36)) as user:
        await user.sees("Timeline", "unknown")
        assert user.line_of("unknown").count("● Running") == 1
        await user.press("p", sees="‖ Paused")
        await user.press("i", "G", sees=f"{' ' * 16}/api/v1/sandboxes/{'a' * 30}/pause")


async def test_the_detail_shows_the_record_but_no_key_and_cursor_and_marks_stay_with_it() -> None:
    fleet = FakeFleet.of(1)
    async with at_sandboxes(fleet) as user:
        await user.press("enter", sees=("sandbox status", "agent_server", "http://box/box00", "known, not shown"))
        assert "sentinel-sandbox-key" not in user.text
        await user.press("escape", "space")
        fleet.sandboxes[fleet.add("added")]["exposed_urls"] = None
        await user.press("ctrl+r", sees="2 Running")
        assert (user.table.cursor_id, user.table.marks) == ("box00", frozenset({"box00"}))
        await user.press("j", "enter", sees=("added", "the server told none"))


async def test_what_is_said_beside_the_list_ages_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "AGED_AFTER", 0.5)
    fleet = FakeFleet()
    fleet.deaf = {fleet.add("box", created=datetime.now(UTC).isoformat())}
    async with at_sandboxes(fleet, size=WIDE, sees=("sandbox status", SandboxStatus.RUNNING)) as user:
        await user.press("p", sees=("Pausing", "quiet for       ?"))
        user.later(minutes=7)
        await user.sees("quiet for       ≥7m")
        monkeypatch.setattr(list_screen, "AGED_AFTER", 1e9)
        await user.press("3", sees="[3 Settings]")
        user.later(minutes=2)
        await user.press("2", sees="quiet for       ≥9m")


async def test_a_start_that_takes_too_long_rises_although_nothing_new_is_read() -> None:
    fleet = FakeFleet.of(2)
    async with at_sandboxes(fleet, size=WIDE) as user:
        fleet.add("slow", "STARTING")
        await user.press("ctrl+r", sees="1 Starting", until=lambda: user.table.ids[-1] == "slow")
        user.later(minutes=3)
        await user.sees("Starting slow 3:0")
        await user.until(lambda: user.table.ids[0] == "slow")


async def test_one_that_is_listed_as_starting_runs_once_its_agent_server_answers() -> None:
    fleet = FakeFleet.of(1, says={"GET /alive": Answer(status=502)})
    fleet.sandboxes["box00"]["status"] = "STARTING"
    async with at_sandboxes(fleet, sees="1 Starting") as user:
        fleet.says["GET /alive"] = Answer({"status": "ok"})
        user.later(minutes=2)
        await user.press("ctrl+r", sees="1 Running")


async def test_what_made_room_is_told_and_the_next_start_warns(state: KeptState) -> None:
    fleet = FakeFleet(cap=3)
    for day, name in enumerate(("old", "mid", "new"), 10):
        fleet.add(name, created=f"2026-03-{day}T06:00:00Z")
    fleet.add("off", "PAUSED")
    fleet.talk("c1", "old", "Fix login")
    async with at_sandboxes(fleet, state=state, size=WIDE, sees="Fix login") as user:
        await user.press("n", sees=("default-spec  (default)", "/workspace", "TOKEN"), lacks="hush")
        await user.press("enter")
        await user.sees("Paused, probably to make room for new4: old (Fix login).", "running 3 of about 3")
        await user.go_to("old", sees="displaced")
        assert "Paused" in user.line_of("displaced"), "it stands whole beside the list"
        await user.press("enter", sees=("Timeline", "displaced", "make room for new4"))
        await user.press("escape", "n", sees=("3 of about 3 run already", "likely pause the oldest one"))
        await user.press("escape")
    async with at_sandboxes(fleet, state=state, size=WIDE, sees="running 3 of about 3") as user:
        await user.go_to("off", "r", sees=("Resume off?", "likely pause the oldest one"))
        await user.press("enter")
        assert ("resume", "off") not in fleet.orders
        await user.go_to("old", "enter", sees="make room for new4")


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).isoformat()


def idle_fleet() -> FakeFleet:
    fleet = FakeFleet()
    for name in ("old1", "old2", "fresh", "busy", "untold", "alone"):
        fleet.add(name)
    fleet.talk("c1", "old1", "Yesterday's work", updated_at=ago(hours=20))
    fleet.talk("c2", "old2", "Lunch", updated_at=ago(hours=2))
    fleet.talk("c3", "fresh", "Just now", updated_at=ago(minutes=1))
    fleet.talk("c4", "busy", "Working", updated_at=ago(hours=9), execution_status="running")
    fleet.talk("c5", "untold", "No times", updated_at=None, created_at=None)
    fleet.talk("c6", "vanished", "Its box is gone", updated_at=ago(days=3))
    return fleet


async def test_of_several_conversations_in_a_sandbox_the_one_that_asks_comes_first() -> None:
    fleet = FakeFleet()
    for name, status, days in (("Asks", "waiting_for_confirmation", 9), ("Newest", "finished", 1)):
        fleet.talk(name, fleet.add("box"), name, execution_status=status, created_at=ago(days=days))
    async with at_sandboxes(fleet, size=WIDE, sees=("Asks +1", "Needs you")) as user:
        fleet.conversations["Asks"]["execution_status"] = "finished"
        await user.press("ctrl+r", sees="Newest +1", lacks="Needs you")


@pytest.mark.parametrize("told", [True, False], ids=["cost", "no cost"])
async def test_the_quiet_dialog_takes_a_time_lists_before_it_pauses_and_says_what_it_stopped(told: bool) -> None:
    fleet = idle_fleet()
    fleet.add("asleep", "PAUSED")
    fleet.talk("c8", "old2", "Priceless", updated_at=ago(hours=3), metrics={"accumulated_cost": float("nan")})
    for each in fleet.conversations.values() if not told else ():
        each["metrics"] = None
    cost = "; they have cost ${}.00 so far." if told else "."
    async with at_sandboxes(fleet, size=WIDE, sees=("Yesterday's", "alone")) as user:
        await user.press("I", sees=(f"2 would be paused{cost.format(4)}", "20h00m", "2h00m", "1 left out", "untold"))
        listed = user.text.partition("what would be paused")[2]
        assert listed.index("Yesterday's work") < listed.index("Lunch"), "the longest first"
        await user.pilot.click("#found", offset=(1, 1))  # the gutter
        assert "✓" not in user.text, "nothing here goes by marks"
        await user.press("end", "ctrl+u", *"soon", "enter", sees="Write a time like 30m", lacks="2 would be")
        await user.retype("3h", sees=f"1 would be paused{cost.format(2)}")
        assert fleet.orders == []
        await user.press("enter", sees=("Pause 1 sandbox?", "old1"))
        await user.press("y", sees=("1 done", "It stopped 1" + (", which had cost $2.00 so far." if told else ".")))
        assert fleet.orders == [("pause", "old1")]


async def test_a_list_and_a_timeline_of_a_later_run_say_alike_how_long_a_state_has_lasted(state: KeptState) -> None:
    fleet = FakeFleet.of(1)
    for minutes, lasted in ((0, "?"), (7, "≥7m")):
        async with at_sandboxes(fleet, state=state) as user:
            moment = datetime.now(UTC) + timedelta(minutes=minutes, seconds=30)
            user.deck.clock = lambda moment=moment: moment  # type: ignore[misc]
            await user.press("enter", sees=(f"for             {lasted}", f"quiet for       {lasted}"))
            await user.press("G", sees=f"● Running  {lasted}")
            assert ("first seen so; seen again 7m ago" in user.text) is (minutes == 7)
    for kept, ended in ((None, "≥?"), (state, "-")):
        async with at_sandboxes(fleet, state=kept) as user:
            await user.press("p", sees="1 Paused")
            await user.press("enter", "G", sees="‖ Paused")
            assert user.line_of("● Running").partition("Running")[2].split()[0][0] in ended
        fleet.sandboxes["box00"]["status"] = "RUNNING"


async def test_unlinked_rows_of_both_kinds_are_counted_and_gone_to_but_not_where_one_just_starts() -> None:
    fleet = idle_fleet()
    fleet.talk("c7", "vanished", "So is that of this one", updated_at=ago(days=2))
    fleet.add("asleep", "PAUSED")
    fleet.add("begun")
    fleet.tasks = [start_task(status="WAITING_FOR_SANDBOX", sandbox_id="begun", request={})]
    async with at_sandboxes(fleet, sees=("Yesterday's", "alone", "asleep")) as user:
        await user.press("X", sees=("2  Sandboxes that no conversation", "2  Conversations whose sandbox is gone"))
        assert "changed 3d" in user.line_of("Its box is gone"), "since when the box is gone is not known"
        assert user.text.index("So is that of this one") < user.text.index("Its box is gone"), "the newest first"
        lines = [line for line in user.text.splitlines() if "‖ Paused" in line or "● Running" in line][-2:]
        assert len({line.index(" ? ") for line in lines}) == 1
        await user.press("enter", until=lambda: not user.deck.screen.is_modal and user.table.cursor_id == "alone")
        await user.press("X", *"jjj", "enter", sees="[1 Conversations]", until=lambda: user.table.cursor_id == "c6")
        fleet.tasks[0] |= {"status": "ERROR", "detail": "no room"}
        await user.press("ctrl+r", sees=("vanish gone", "✗ 1 failed"))
        fleet.add("late")
        await user.press("X", sees="4  Sandboxes that no conversation lives in")
        fleet.sandboxes.clear()
        await user.reread(sees=("It is gone by now", "0  Sandboxes that no conversation", "7  Conversations whose"))
        await user.press("enter", until=lambda: not user.deck.screen.is_modal and user.table.cursor_id == "c3")


@pytest.mark.parametrize("answer", [Answer({"detail": "It broke"}, 500), Answer({"items": [{"no": "id"}]})])
@pytest.mark.parametrize("unread", [CONVERSATIONS, f"{CONVERSATIONS}/start-tasks"])
async def test_unlinked_rows_are_known_only_so_far_while_something_is_unread(unread: str, answer: Answer) -> None:
    fleet = idle_fleet()
    fleet.says[f"GET {unread}/search"] = answer
    async with at_sandboxes(fleet) as user:
        await user.press("X", sees=("so far, not everything is read", "none so far"))


def asks_to_wait(fleet: FakeFleet, boxes: Iterable[str]) -> None:
    wait = Answer({"detail": "Too many"}, 429, {"Retry-After": "60"})
    fleet.says |= dict.fromkeys((f"POST {SANDBOXES}/{box}/pause" for box in boxes), wait)


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet.of(6)
    fleet.add("idle6", "PAUSED")
    return fleet


async def test_a_plan_says_what_will_be_done_and_leaves_alone_what_the_filter_hides(fleet: FakeFleet) -> None:
    fleet.talk("c1", "box01", "Fix the build")
    async with at_sandboxes(fleet) as user:
        await user.press("asterisk", "p", sees=("Pause 6 sandboxes?", "6 will be paused", "1 skipped", "It is paused"))
        fleet.conversations["c1"]["execution_status"] = "running"
        await user.reread(sees="The agent of Fix the build is at work")
        await user.press("enter", until=lambda: not user.deck.screen.is_modal)
        assert (fleet.orders, len(user.table.marks)) == ([], 7)
        await user.press("slash", *"id:box00", "enter", sees="7 marked, 6 hidden by the filter")
        await user.press("p", sees=("1 will be paused", "5 marked, but hidden by the filter"))
        await user.press("h", sees=("Pause 6 sandboxes?", "6 will be paused", "The agent of Fix the build is at work"))
        await user.press("h", "y", sees="1 done")
        await user.press("y", until=lambda: "box01  skipped  The filter hides it." in user.deck.clipboard)
        assert fleet.orders == [("pause", "box00")]
        await user.press("escape", "escape", "asterisk", "slash", *"id:idle", "enter", "p")
        await user.sees("Nothing to pause", "n close (enter too)")
        await user.press("y", sees="There is no row it applies to.")
        await user.press("h", sees="Pause 5 sandboxes?", lacks="no row it applies to")
        await user.press("escape", "escape", "minus")
        await user.go_to("box02", "space", "slash", *"id:box01", "enter", sees="1 marked, 1 hidden by the filter")
        await user.press("p", sees=("Nothing to pause", "1 marked, but hidden by the filter"))
        await user.press("enter", until=lambda: not user.deck.screen.is_modal)
        assert (fleet.orders, user.table.marks) == ([("pause", "box00")], frozenset({"box02"}))
        await user.press("slash", *"zzz", "enter", sees="0 of")
        await user.press("f2", until=lambda: user.deck.screen.is_modal)


async def test_every_row_ends_with_the_truth_and_failed_ones_are_tried_again(fleet: FakeFleet, home: Home) -> None:
    fleet.fails = {"box01"}
    async with at_sandboxes(fleet) as user:
        await user.press("asterisk")
        del fleet.sandboxes["box03"]
        await user.press("p", "y")
        await user.sees("4 done", "1 failed", "1 gone", "1 skipped", "(status 400): It bro", "R retry the rest")
        done = ("box00", "box02", "box04", "box05")
        left = {"box01": RowState.FAILED, "box03": RowState.GONE, "idle6": RowState.SKIPPED}
        assert user.states == {**dict.fromkeys(done, RowState.DONE), **left}
        assert {fleet.sandboxes[each]["status"] for each in done} == {"PAUSED"}
        fleet.fails.clear()
        await user.press("enter", sees="(status 400): It broke")
        await user.press("R", sees=("5 done", "1 gone"))
        assert Counter(fleet.orders) == {("pause", f"box{number:02}"): 1 + (number == 1) for number in range(6)}
        await user.press("f", until=lambda: (home.state / "copied.txt").exists())
        copied = (home.state / "copied.txt").read_text()
        assert copied.startswith("7 sandboxes: 5 done, 1 gone, 1 skipped\n")
        assert "box01  done" in copied
        assert "idle6  skipped  It is paused already" in copied


async def test_escape_stops_the_rest_and_what_was_sent_is_followed(fleet: FakeFleet) -> None:
    asks_to_wait(fleet, [*fleet.sandboxes][1:])
    fleet.deaf = {"box00"}
    async with at_sandboxes(fleet) as user:
        await user.press("asterisk", "p", "y", sees=("the server asked to wait", "1 asked for"), lacks="B shows it")
        await user.resize(40, 24)
        await user.sees("1 skipped", " asked to wait", "esc stop the rest", "b go on in the background", "y copy")
        await user.resize(*WIDE)
        await user.press("escape", sees=("5 stopped", "1 skipped", "esc close"))
        assert fleet.orders == [("pause", "box00")]
        await user.press("R", sees="R tries again what is left, once all have ended.")
        await user.press("j", "j", "enter", sees=": Stopped before its turn.")
        fleet.add("box00", "PAUSED")
        await user.sees("1 done", "R retry the rest", ": Stopped before its turn.")
        await user.press("enter", sees="▌  box02")
        await user.press("R", sees=("5 waiting", "the server asked to wait"))
        await user.press("escape", sees="5 stopped")
        await user.press("escape", until=lambda: not user.deck.screen.is_modal)


async def test_one_sandbox_is_paused_without_a_question_unless_its_agent_works_and_then_no_agent_does() -> None:
    fleet = FakeFleet()
    fleet.add("calm")
    fleet.talk("c1", fleet.add("busy"), "Fix the build", execution_status="running")
    async with at_sandboxes(fleet, size=WIDE, sees="Fix the build") as user:
        await user.press("asterisk", "r", sees="Resume: it applies to none of these. 2: It is running already.")
        await user.press("minus")
        await user.go_to("calm", "space", sees="1 marked")
        await user.press("p", until=lambda: fleet.orders == [("pause", "calm")] and "1 marked" not in user.text)
        await user.go_to("busy", "p", sees=("Pause busy?", "The agent of Fix the build is at work"))
        await user.press("enter")
        assert fleet.orders == [("pause", "calm")]
        await user.press("p", "y", until=lambda: ("pause", "busy") in fleet.orders)
        await user.sees("Fix the build  Sandbox paused")
        assert "at work" not in user.text, "the conversation was read before its sandbox was paused"


async def test_an_error_stays_for_long_and_goes_with_a_move(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.fails = {"box00"}
    async with at_sandboxes(fleet) as user:
        await user.press("p", "j", sees="Pause box00: ")
        await user.press("k", sees="(status 400): It broke")
        monkeypatch.setattr(bars, "STAYS", 0.001)
        await user.press("p", "r", "p", sees="(status 400): It broke")
        await user.press("j", until=lambda: "It broke" not in user.text)
        monkeypatch.setattr(bars, "ERROR_STAYS", 1.0)
        await user.press("k", "p", sees="It broke", until=lambda: "It broke" not in user.text)


async def test_it_goes_on_in_the_background_and_leaving_in_the_middle_is_asked_about(fleet: FakeFleet) -> None:
    asks_to_wait(fleet, fleet.sandboxes)
    async with at_sandboxes(fleet, size=WIDE) as user:
        await user.press("1", "2", "asterisk", "p", "y", sees="go on in the background")
        await user.press("b", sees=("Pause 6 sandboxes:", "6 waiting, 1 skipped, the server asked to wait"))
        await user.sees("s. B shows it.")
        await user.press("Q", sees=("Leave before it has ended?", "Rows that wait for their turn are then not"))
        await user.press("ctrl+q", sees="Answer this first.")
        await user.press("enter", until=lambda: not user.deck.screen.is_modal)
        await user.press("asterisk", "p", sees="still going on; B shows it.")
        await user.press("B", sees="the server asked to wait")
        await user.press("b", "Q", "y", until=lambda: user.deck.return_code == 0)


async def test_it_is_not_given_up_unasked_where_another_key_opens_the_connection_anew(fleet: FakeFleet) -> None:
    asks_to_wait(fleet, fleet.sandboxes)
    async with at_sandboxes(fleet, size=WIDE) as user:
        await user.press("3", sees="Model")
        await user.press("enter", *"openai/gpt", "escape", until=lambda: user.deck.edits)
        await user.press("2", "asterisk", "p", "y", sees="go on in the background")
        await user.press("b", "c", sees="Connections")
        await user.press("K", sees="Key of prod")
        await user.press(*"another", "enter", sees=("Leave before it has ended?", "Still going on: Pause 6 sandboxes."))
        await user.press("y", sees="used until the deck ends", until=lambda: not user.deck.screen.is_modal)
        assert (user.deck.running_job, user.deck.edits) == (None, 1)


async def test_from_conversations_their_sandboxes_are_paused_and_who_else_lives_there_is_told(fleet: FakeFleet) -> None:
    for number, box in enumerate(("box00", "box00", "box02", "box03")):
        fleet.talk(f"c{number}", box, f"Talk {number}{' and on' * 9 * (number > 2)}")
    async with at_conversations(fleet) as user:
        await user.go_to("c1", "p", sees="Pause of box00: done. Also in it: Talk 0.")
        assert fleet.orders == [("pause", "box00")]
        await user.press("p", sees="Its sandbox is paused already. r resumes it.")
        await user.go_to("c1", "space")
        await user.go_to("c2", "space", "p")
        await user.sees("box00   Talk 1 and 1 more: It is paused already.", "box02   Talk 2")
        await user.press("escape", "asterisk", "p", sees=("Pause 2 sandboxes?", "box02", "Talk 3", "▌            a"))
        await user.press("y", sees=("2 done", "1 skipped", "It is paused already.  Talk 0, Talk 1\n▌\n▌   y copy"))
        await user.press("enter", sees="▌  box02   Talk 2\n")
        assert sorted(fleet.orders) == [("pause", "box00"), ("pause", "box02"), ("pause", "box03")]
        await user.press("escape")
        await user.go_to("c0", "space")
        await user.go_to("c1", "space", "r", sees="Resume of box00")
        assert "Also in it" not in user.text


async def test_a_plan_names_two_conversations_of_a_sandbox_and_counts_the_others(fleet: FakeFleet) -> None:
    for number, box in enumerate(("box00", "box00", "box00", "box00", "box01")):
        fleet.talk(f"c{number}", box, f"Talk {number}")
    async with at_conversations(fleet) as user:
        await user.press("asterisk", "p", sees=("Pause 2 sandboxes?", "box00   Talk 0, Talk 1 and 2 more\n"))
        await user.press("escape", "2", sees="Talk 0 +3")
        for number in range(4):
            fleet.conversations[f"c{number}"]["title"] = "Migrate the schema " * 9
        await user.reread(sees=("Migrate the schema", "… +3 "))


async def test_while_a_list_is_still_read_its_counts_and_a_plan_say_so(fleet: FakeFleet) -> None:
    fleet.says[f"GET {SANDBOXES}/search"] = page(list(fleet.sandboxes.values()), "2")
    async with at_sandboxes(fleet, sees="7 read so far  ● 6 Running") as user:
        await user.press("asterisk", "p", sees=("6 will be paused", "Not everything is read yet"))
        await user.press("escape", "D", sees=("7 will be deleted", "Not everything is read yet"))
