import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.config.connections import Connection
from quarterdeck.fleet.bulk import RowState
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.lists.folding import Folding
from tests.client.fakes import Answer
from tests.tui.conftest import Sit
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet, at_conversations, comes_to, start_task
from tests.tui.seat import WIDE, answering, connecting, seated, seated_at


async def test_a_conversation_is_created_followed_and_listed_with_all_of_its_detail(sit: Sit) -> None:
    async with sit(sees=("No conversations.", "n creates one")) as seat:
        await seat.press("n", *"fix the bug", "ctrl+s", sees=("fix the bug", "1 Idle"))
    async with sit(sees=("fix the bug", "1 Idle")) as seat:
        (conversation,) = seat.session.conversations.records
        await seat.press("i")
        await seat.sees(conversation, "repository", "branch", "provider", "model", "trigger", "created", "updated")
        await seat.press("pagedown", sees=("sandbox status", "RUNNING", "agent status", "idle"))
        await seat.press("escape", "enter", sees=("○ Idle  fix the bug", "No agent runs here"), lacks=("ctx", "asks:"))


async def test_title_and_sandbox_are_taken_as_typed_and_that_is_gone_to_paused_and_resumed_from_there(sit: Sit) -> None:
    async with sit() as seat:
        await seat.until(lambda: seat.deck.session)
        sandbox = await seat.session.start("shell")
        await seat.until(lambda: sandbox.id in seat.session.sandboxes.records)
        await seat.press("n", sees="The local service keeps conversations", lacks="grouped")
        await seat.press("tab", *"A title of mine", "enter", "tab", "tab", "enter", "down", "enter", "ctrl+s")
        await seat.sees("A title of mine", "1 Idle")
        (conversation,) = seat.session.conversations.records.values()
        assert (conversation.title, conversation.sandbox_id) == ("A title of mine", sandbox.id)
        await seat.until(lambda: not seat.deck.screen.is_modal)
        await seat.press("o", sees=("[2 Sandboxes]", "A title of mine"))
        assert seat.table.cursor_id == sandbox.id
        await seat.press("o", sees="[1 Conversations]")
        assert seat.table.cursor_id == conversation.id
        await seat.press("O", sees="Conversations of the local service have no address: it runs inside the deck.")
        await seat.press("w", sees="Watching A title of mine, but no agent runs in the local service.")

        def confirmed() -> bool:  # by the list of sandboxes, which goes before what conversations tell of one
            return seat.session.memories.by_id[sandbox.id].asked is None

        await seat.press("p", sees=("1 Sandbox paused", "asked for"), until=confirmed)
        await seat.press("r", sees=("1 Idle", "asked for"), until=confirmed)
        await seat.press("p", sees=("1 Sandbox paused", "asked for"), until=confirmed)
        await seat.press("enter", sees="Its sandbox is paused. r resumes it.")
        await seat.press("r", sees=("Resume its sandbox?", "No agent runs in the local service."))
        await seat.press("y", sees="Resume of its sandbox asked for.")
        await seat.press("q", sees="1 Idle")
        await seat.press("D", sees="Its sandbox stays.")
        await seat.press("escape", "o", "D", *short_id(sandbox.id), "enter", sees="No sandboxes.")
        await seat.press("1", sees="1 Sandbox missing")
        await seat.press("D", sees="Its sandbox is gone already.")


async def test_what_is_asked_of_a_sandbox_shows_at_once_until_a_reading_tells(tmp_path: Path) -> None:
    fleet = FakeFleet()
    for name, status in (("deaf", "RUNNING"), ("sleepy", "PAUSED"), ("bad", "RUNNING")):
        fleet.talk(name, fleet.add(name, status), f"Talk {name}")
    fleet.deaf |= {"deaf", "sleepy"}
    fleet.fails.add("bad")
    later = timedelta()
    connect = connecting(answering(fleet.server))
    deck = Deck(PROD, connect, clock=lambda: datetime.now(UTC) + later, crash_folder=tmp_path)
    async with seated_at(deck, WIDE) as seat:
        await seat.sees("2 Finished", "1 Sandbox paused")
        await seat.go_to("deaf", "p", sees=("1 Sandbox pausing", "1 Finished"))
        await seat.go_to("sleepy", "r", sees=("1 Sandbox resuming", "1 Sandbox pausing"))
        await seat.go_to("bad", "p", until=lambda: ("pause", "bad") in fleet.orders)
        await seat.sees("1 Finished", "1 Sandbox resuming", "1 Sandbox pausing")
        fleet.sandboxes["deaf"]["status"] = fleet.conversations["deaf"]["sandbox_status"] = "PAUSED"
        await seat.press("ctrl+r", sees=("1 Sandbox paused", "1 Sandbox resuming"))
        fleet.fails, fleet.deaf = set(), {"bad"}
        await seat.go_to("bad", "p", sees="1 Sandbox pausing")
        later = timedelta(minutes=2)
        await seat.until(lambda: "1 Finished" in seat.text and "pausing" not in seat.text)


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet(nested=True)
    fleet.add("box")
    for number in range(4):
        fleet.talk(f"c{number}", "box", f"Talk {number}", updated_at=f"2026-03-14T1{number}:00:00Z")
    return fleet


async def test_a_conversation_gets_the_title_that_was_typed(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        await seat.go_to("c1", "e", sees=("Rename the conversation", "Talk 1"))
        await seat.press("end", "ctrl+u", "enter", sees="A title has at least one letter.")
        new = "Port the parser"
        await seat.press(*new, "enter", sees=(f"It is called {new}.", f"Finished  {new}"))
        assert fleet.conversations["c1"]["title"] == new
        fleet.conversations["c1"]["title"] = "हिन्दी 👍🏽"
        await seat.press("ctrl+r", until=lambda: new not in seat.text)
        await seat.press("e", "end", "x", "enter", until=lambda: not seat.deck.screen.is_modal)
        assert fleet.conversations["c1"]["title"] == "हिन्दी 👍🏽x"
        await seat.press("slash", *"talk", "enter", "e", "end", "ctrl+u", *"Mine", "enter")
        await seat.sees("It is called Mine. The filter hides it; esc shows all.", "2 of 4")


async def test_what_is_said_goes_with_the_next_command(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as seat:
        for key, said in (("w", "Watching Talk 3"), ("minus", "Nothing is marked")):
            await seat.press(key, sees=said)
            await seat.press("slash", lacks=said)
            await seat.press("escape")
        for key in ("%", "tab", "delete"):
            await seat.press(key, sees=f"{key} does nothing here; ? shows the keys.")
        await seat.press("j", lacks="does nothing here")
        await seat.paste("words", sees="Pasted text does nothing here.")
        await seat.press("i", sees="esc close")
        await seat.paste("words", sees="▌  Pasted text does nothing here.")


@pytest.mark.parametrize("gone", [True, False])
async def test_drafts_go_with_conversations(fleet: FakeFleet, tmp_path: Path, state: KeptState, gone: bool) -> None:
    fleet.deaf = set() if gone else {"c3"}

    def drafts() -> str:
        return "".join(file.read_text() for file in (tmp_path / "state" / "drafts").glob("*.json"))

    async with seated(answering(fleet.server), PROD, state=state) as seat:
        for move in ("down", "up"):
            await seat.sees("Talk 3")
            await seat.press(move, "enter", "m", *"half a thought", "escape", "q")
        await seat.until(lambda: drafts().count("half a thought") == 2)
        await seat.press("D", *"c3", "enter", sees="Delete of c3 asked for")
        await seat.until(lambda: (drafts().count("half a thought") == 1) is gone)


async def test_one_is_deleted_with_its_sub_conversations_once_its_short_id_was_typed(fleet: FakeFleet) -> None:
    fleet.talk("part", "box", "Write the tests", parent_conversation_id="c3")
    async with at_conversations(fleet, sees="+1 Talk 3") as seat:
        await seat.go_to("c3", "D")
        await seat.sees("Delete conversation c3?", "sub-conversations are deleted with it:", "Write the tests")
        await seat.sees("Others live in its sandbox, so that stays:", "Talk 2", "Type c3 to go on", lacks="goes too")
        await seat.press(*"c3", "enter", sees="Delete of c3 asked for", until=lambda: "c3" not in fleet.conversations)


async def test_several_are_deleted_after_a_plan_and_each_ends_with_the_truth(fleet: FakeFleet) -> None:
    fleet.fails, fleet.deaf = {"c1"}, {"c2"}
    async with at_conversations(fleet) as seat:
        await seat.go_to("c2", "space", "space", "D", sees="1 of them stays, because other conversations live there:")
        await seat.press("escape", "asterisk", "D")
        await seat.sees("Delete 4 conversations?", "4 will be deleted", "Talk 0", "Their sandboxes go too", "Type 4")
        await seat.press("4", "enter", sees=("CONVERSATION", "2 done", "1 failed", "1 asked for", "status 400"))
        del fleet.conversations["c2"]
        await seat.reread(sees=("3 done", "1 failed"))
        assert seat.states == {**dict.fromkeys(("c0", "c2", "c3"), RowState.DONE), "c1": RowState.FAILED}
        assert set(fleet.conversations) == {"c1"}


async def test_a_trajectory_is_private_and_over_a_file_only_after_a_yes(fleet: FakeFleet, here: Path) -> None:
    archive = b"PK\x03\x04" + bytes(5000)
    fleet.says[f"GET {CONVERSATIONS}/c1/download"] = Answer(archive, 200, {"Content-Type": "application/zip"})
    written = here / "trajectory-c1.zip"
    written.write_text("precious")
    read_only = Connection("127.0.0.1:3112", PROD.url, read_only=True)
    async with at_conversations(fleet, size=(60, 20), endpoint=read_only) as seat:
        await seat.until(lambda: "…7.0.0.1:3112 READ-ONLY · live now" in seat.line(0))
        await seat.go_to("c1", "E", sees=("Trajectory of Talk 1", "trajectory-c1.zip"))
        await seat.retype("nowhere/x.zip", "enter", sees=("Trajectory of Talk 1", "nowhere is no folder"))
        await seat.retype("trajectory-c1.zip", "enter", sees="Write over the file?")
        await seat.press("enter", sees="Trajectory of Talk 1")
        assert written.read_text() == "precious"
        await seat.press("enter", sees="Write over the file?")
        await seat.press("y", sees=("Written to", ": 4 kB"))
        assert str(written) in seat.text.replace("\n ", "")
    assert written.read_bytes() == archive
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


@pytest.mark.parametrize("takes", [True, False])
async def test_a_title_that_a_server_does_not_apply_is_given_to_the_conversation(fleet: FakeFleet, takes: bool) -> None:
    fleet.deaf = set() if takes else {"new"}
    fleet.talk("other", fleet.add("other"), "[red]not[/] markup[/]")
    async with at_conversations(fleet) as seat:
        await seat.press("n", "tab", *"Mine", *["tab"] * 3, "enter", sees="[red]not[/] markup[/]")
        await seat.press("enter", "ctrl+s", until=lambda: fleet.created)
        fleet.tasks = [start_task("task1", "READY", app_conversation_id="new", request=fleet.created[0])]
        await seat.press("ctrl+r", sees="ready")
        fleet.talk("new", "box", "Conversation new")
        if not takes:
            await seat.reread(sees="It is not called “Mine”: This server cannot rename conversations.")
            return
        await seat.reread(sees="Finished  Mine")
        assert fleet.conversations["new"]["title"] == "Mine"
        fleet.conversations["new"]["title"] = "What the server makes of it"
        await seat.reread(until=lambda: fleet.conversations["new"]["title"] == "Mine")
        fleet.conversations["new"]["title"] = "Named by somebody"
        await seat.reread(sees="Named by somebody")
        assert fleet.conversations["new"]["title"] == "Named by somebody"


@pytest.mark.parametrize(
    ("nested", "key", "typed", "words"),
    [
        (False, "e", "x", "This server cannot rename conversations."),
        (True, "e", "x", "This server cannot rename conversations."),
        (False, "D", "c3", "This server cannot delete conversations."),
        (True, "E", "", "This server gives no trajectories. A newer release may offer it."),
    ],
)
async def test_what_a_server_lacks_is_found_out_and_the_key_says_so_from_then_on(
    fleet: FakeFleet, here: Path, nested: bool, key: str, typed: str, words: str
) -> None:
    fleet.nested, fleet.deaf = nested, {"c3"}
    async with at_conversations(fleet) as seat:
        await seat.press(key, until=lambda: seat.deck.screen.is_modal)
        await seat.press(*typed, "enter", sees=words)
        await seat.press("escape", "escape", until=lambda: not seat.deck.screen.is_modal)
        await seat.press(key, sees=words.partition(".")[0])
        assert not seat.deck.screen.is_modal
    assert len(fleet.conversations) == 4
    assert list(here.glob("*.zip")) == []


@pytest.mark.parametrize(
    ("status", "words"),
    [("RUNNING", "Its sandbox has not been read yet"), ("MISSING", "Its sandbox is not there"), (None, "is not there")],
)
async def test_a_sandbox_that_is_not_listed_may_be_unread(fleet: FakeFleet, status: str | None, words: str) -> None:
    fleet.conversations.clear()
    fleet.talk("alone", "elsewhere", "Alone", sandbox_status=status)
    async with at_conversations(fleet, sees="Alone") as seat:
        for key in ("p", "o"):
            await seat.press(key, sees=words)
            assert fleet.orders == []
        gone = status == "MISSING"
        await seat.press("w", sees="Its sandbox is gone, so nothing will happen in it." if gone else "Watching Alone")
        await seat.press("D", sees="Its sandbox is gone already." if gone else "Its sandbox goes too")


@pytest.fixture
def family() -> FakeFleet:
    family = FakeFleet()
    family.talk("zebra", family.add("box"), "Zebra", updated_at="2026-03-14T12:00:00Z")
    family.talk("head", "box", "Plan the port", updated_at="2026-03-14T11:00:00Z", sub_conversation_ids=["one", "two"])
    family.talk("one", "box", "Part one", updated_at="2026-03-14T09:00:00Z", parent_conversation_id="head")
    family.talk("two", "box", "Another part", updated_at="2026-03-14T08:00:00Z", parent_conversation_id="head")
    family.talk("apple", "box", "Apple", updated_at="2026-03-14T10:00:00Z")
    return family


async def test_parts_are_folded_under_their_parent_until_they_are_opened_or_found(family: FakeFleet) -> None:
    async with at_conversations(family, size=(60, 20)) as seat:
        assert seat.table.ids == ["zebra", "head", "apple"]
        await seat.sees("+2 Plan the port", "5 Finished")
        await seat.press("right", sees="Nothing is folded under it.")
        await seat.go_to("head", "right")
        assert seat.table.ids == ["zebra", "head", "one", "two", "apple"]
        await seat.sees("└ Part one", lacks="+2")
        await seat.press("down", "left")
        assert seat.table.ids == ["zebra", "head", "apple"]
        assert seat.table.cursor_id == "head"
        await seat.press("left", sees="Nothing is open under it.")
        await seat.press("slash", *"part one", until=lambda: seat.table.ids == ["head", "one"])
        await seat.sees("1 of 5", "+1 Plan the port", "└ Part one")
        await seat.press("enter", "right", sees="The filter decides which of them are shown")
        await seat.press("escape", until=lambda: seat.table.ids == ["zebra", "head", "apple"])


async def test_a_folded_part_that_needs_somebody_lifts_its_family_and_going_to_it_opens_that(family: FakeFleet) -> None:
    family.add("other")
    family.conversations["two"] |= {"execution_status": "waiting_for_confirmation", "sandbox_id": "other"}
    async with at_conversations(family) as seat:
        assert seat.table.ids == ["head", "zebra", "apple"]
        await seat.sees("1 needs you", "+2! Plan the port")
        await comes_to(seat, family, two="finished")
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
