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
from tests.tui.conftest import Decks
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet, at_conversations, comes_to, start_task
from tests.tui.user import WIDE, answering, at_deck, connecting, seated_at


async def test_a_conversation_is_created_followed_and_listed_with_all_of_its_detail(deck: Decks) -> None:
    async with deck(sees=("No conversations.", "n creates one")) as user:
        await user.press("n", *"fix the bug", "ctrl+s", sees=("fix the bug", "1 Idle"))
    async with deck(sees=("fix the bug", "1 Idle")) as user:
        (conversation,) = user.session.conversations.records
        await user.press("i")
        await user.sees(conversation, "repository", "branch", "provider", "model", "trigger", "created", "updated")
        await user.press("pagedown", sees=("sandbox status", "RUNNING", "agent status", "idle"))
        await user.press("escape", "enter", sees=("○ Idle  fix the bug", "No agent runs here"), lacks=("ctx", "asks:"))


async def test_title_and_sandbox_are_taken_as_typed_gone_to_paused_and_resumed_from_there(deck: Decks) -> None:
    async with deck(sees="no agent runs in the local service.") as user:
        await user.press("n", sees="The local service keeps conversations", lacks="grouped")
        sandbox = await user.session.start("shell")
        await user.until(lambda: sandbox.id in user.session.sandboxes.records)
        await user.press("tab", *"A title of mine", "enter", "tab", "tab", "enter", "down", "enter", "ctrl+s")
        await user.sees("A title of mine", "1 Idle")
        (conversation,) = user.session.conversations.records.values()
        assert (conversation.title, conversation.sandbox_id) == ("A title of mine", sandbox.id)
        await user.until(lambda: not user.deck.screen.is_modal)
        await user.press("o", sees=("[2 Sandboxes]", "A title of mine"))
        assert user.table.cursor_id == sandbox.id
        await user.press("o", sees="[1 Conversations]", until=lambda: user.table.cursor_id == conversation.id)
        await user.press("O", sees="Conversations of the local service have no address: it runs inside the deck.")
        await user.press("w", sees="Watching A title of mine, but no agent runs in the local service.")

        await user.press("p", sees=("1 Sandbox paused", "Pause of ", ": done."))
        await user.press("r", sees=("1 Idle", "Resume of ", ": done."))
        await user.press("p", sees=("1 Sandbox paused", "Pause of ", ": done."))
        await user.press("enter", sees="Its sandbox is paused. r resumes it.")
        await user.press("r", sees=("Resume its sandbox?", "No agent runs in the local service."))
        await user.press("y", sees="Resume of its sandbox asked for.")
        await user.press("q", sees="1 Idle")
        await user.press("D", sees="Its sandbox stays.")
        await user.press("escape", "o", "D", *short_id(sandbox.id), "enter", sees="No sandboxes.")
        await user.press("1", sees="1 Sandbox missing")
        await user.press("D", sees="Its sandbox is gone already.")


async def test_what_is_asked_of_a_sandbox_shows_at_once_until_a_reading_tells(tmp_path: Path) -> None:
    fleet = FakeFleet()
    for name, status in (("deaf", "RUNNING"), ("sleepy", "PAUSED"), ("bad", "RUNNING")):
        fleet.talk(name, fleet.add(name, status), f"Talk {name}")
    fleet.deaf |= {"deaf", "sleepy"}
    fleet.fails.add("bad")
    later, connect = timedelta(), connecting(answering(fleet.server))
    deck = Deck(PROD, connect, clock=lambda: datetime.now(UTC) + later, crash_folder=tmp_path)
    async with seated_at(deck, WIDE) as user:
        await user.sees("2 Finished", "1 Sandbox paused")
        await user.go_to("deaf", "p", sees=("1 Sandbox pausing", "1 Finished"))
        await user.go_to("sleepy", "r", sees=("1 Sandbox resuming", "1 Sandbox pausing"))
        await user.go_to("bad", "p", until=lambda: ("pause", "bad") in fleet.orders)
        await user.sees("1 Finished", "1 Sandbox resuming", "1 Sandbox pausing")
        fleet.sandboxes["deaf"]["status"] = fleet.conversations["deaf"]["sandbox_status"] = "PAUSED"
        await user.press("ctrl+r", sees=("1 Sandbox paused", "1 Sandbox resuming"))
        fleet.fails, fleet.deaf = set(), {"bad"}
        await user.go_to("bad", "p", sees="1 Sandbox pausing")
        later = timedelta(minutes=2)
        await user.until(lambda: "1 Finished" in user.text and "pausing" not in user.text)


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet(nested=True)
    fleet.add("box")
    for number in range(4):
        fleet.talk(f"c{number}", "box", f"Talk {number}", updated_at=f"2026-03-14T1{number}:00:00Z")
    return fleet


async def test_a_conversation_gets_the_title_that_was_typed(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as user:
        await user.go_to("c1", "e", sees=("Rename the conversation", "Talk 1"))
        await user.press("end", "ctrl+u", "enter", sees="A title has at least one letter.")
        new = "Port the parser"
        await user.press(*new, "enter", sees=(f"It is called {new}.", f"Finished  {new}"))
        await user.press("e", sees="Rename the conversation")
        fleet.conversations["c1"]["title"] = "as somebody else calls it"
        await user.press("enter", sees=f"It is called {new}.")
        assert fleet.conversations["c1"]["title"] == new
        fleet.conversations["c1"]["title"] = "हिन्दी 👍🏽"
        await user.press("ctrl+r", until=lambda: new not in user.text)
        await user.press("e", "end", "x", "enter", until=lambda: not user.deck.screen.is_modal)
        assert fleet.conversations["c1"]["title"] == "हिन्दी 👍🏽x"
        await user.press("slash", *"talk", "enter", "e", "end", "ctrl+u")
        await user.paste("Mine " * 99, "enter")
        await user.sees("It is called Mine Mine", "Mine…. The filter hides it; esc shows all.", "2 of 4")


async def test_what_is_said_goes_with_the_next_command(fleet: FakeFleet) -> None:
    async with at_conversations(fleet) as user:
        for key, said in (("w", "Watching Talk 3"), ("minus", "Nothing is marked")):
            await user.press(key, sees=said)
            await user.press("slash", lacks=said)
            await user.press("escape")
        for key in ("%", "tab", "delete"):
            await user.press(key, sees=f"{key} does nothing here; ? shows the keys.")
        await user.press("j", lacks="does nothing here")
        await user.paste("words", sees="Pasted text does nothing here.")
        await user.press("i", sees="esc close")
        await user.paste("words", sees="▌  Pasted text does nothing here.")


@pytest.mark.parametrize("gone", [True, False])
async def test_drafts_go_with_conversations(fleet: FakeFleet, tmp_path: Path, state: KeptState, gone: bool) -> None:
    fleet.deaf = set() if gone else {"c3"}

    def drafts() -> str:
        return "".join(file.read_text() for file in (tmp_path / "state" / "drafts").glob("*.json"))

    async with at_deck(answering(fleet.server), PROD, state=state) as user:
        for move in ("down", "up"):
            await user.sees("Talk 3")
            await user.press(move, "enter", "m", *"half a thought", "escape", "q")
        await user.until(lambda: drafts().count("half a thought") == 2)
        await user.press("D", *"c3", "enter", sees="Delete of c3: done." if gone else "Delete of c3 asked for")
        await user.until(lambda: (drafts().count("half a thought") == 1) is gone)


async def test_one_is_deleted_with_its_sub_conversations_once_its_short_id_was_typed(fleet: FakeFleet) -> None:
    fleet.talk("part", "box", "Write the tests", parent_conversation_id="c3")
    async with at_conversations(fleet, sees="+1 Talk 3") as user:
        await user.go_to("c3", "D")
        await user.sees("Delete conversation c3?", "sub-conversations are deleted with it:", "Write the tests")
        await user.sees("Others live in its sandbox, so that stays:", "Talk 2", "Type c3 to go on", lacks="goes too")
        await user.press(*"c3", "enter", sees="Delete of c3: done.", lacks="Talk 3")


async def test_several_are_deleted_after_a_plan_and_each_ends_with_the_truth(fleet: FakeFleet) -> None:
    fleet.fails, fleet.deaf = {"c1"}, {"c2"}
    async with at_conversations(fleet) as user:
        await user.go_to("c2", "space", "space", "D", sees="1 of them stays, because other conversations live there:")
        await user.press("escape", "asterisk", "D")
        await user.sees("Delete 4 conversations?", "4 will be deleted", "Talk 0", "Their sandboxes go too", "Type 4")
        await user.press("4", "enter", sees=("CONVERSATION", "2 done", "1 failed", "1 asked for", "status 400"))
        del fleet.conversations["c2"]
        await user.reread(sees=("3 done", "1 failed"))
        assert user.states == {**dict.fromkeys(("c0", "c2", "c3"), RowState.DONE), "c1": RowState.FAILED}
        assert set(fleet.conversations) == {"c1"}


async def test_a_trajectory_is_private_and_over_a_file_only_after_a_yes(fleet: FakeFleet, here: Path) -> None:
    archive = b"PK\x03\x04" + bytes(5000)
    fleet.says[f"GET {CONVERSATIONS}/c1/download"] = Answer(archive, 200, {"Content-Type": "application/zip"})
    written = here / "trajectory-c1.zip"
    written.write_text("precious")
    read_only = Connection("127.0.0.1:3112", PROD.url, read_only=True)
    async with at_conversations(fleet, size=(60, 20), endpoint=read_only) as user:
        await user.until(lambda: "…7.0.0.1:3112 READ-ONLY · live now" in user.line(0))
        await user.go_to("c1", "E", sees=("Trajectory of Talk 1", "trajectory-c1.zip"))
        wrong = ("no/x", "no is no"), ("~no/x", "Nobody here"), ("x" * 256 + "/x", "no folder that"), ("..", "a file.")
        for typed, said in wrong:
            await user.retype(typed, "enter", sees=("Trajectory of Talk 1", said))
        await user.retype("trajectory-c1.zip", "enter", sees="Write over the file?")
        await user.press("enter", sees="Trajectory of Talk 1")
        assert written.read_text() == "precious"
        await user.press("enter", sees="Write over the file?")
        await user.press("y", sees=("Written to", ": 4 kB"))
        assert str(written) in user.text.replace("\n ", "")
    assert (written.read_bytes(), stat.S_IMODE(written.stat().st_mode)) == (archive, 0o600)


@pytest.mark.parametrize("takes", [True, False])
async def test_a_title_that_a_server_does_not_apply_is_given_to_the_conversation(fleet: FakeFleet, takes: bool) -> None:
    fleet.deaf = set() if takes else {"new"}
    fleet.talk("other", fleet.add("other"), "[red]not[/] markup[/]")
    async with at_conversations(fleet) as user:
        await user.press("n", "tab", *"Mine", *["tab"] * 3, "enter", sees="[red]not[/] markup[/]")
        await user.press("enter", "ctrl+s", until=lambda: fleet.created)
        fleet.tasks = [start_task("task1", "READY", app_conversation_id="new", request=fleet.created[0])]
        await user.press("ctrl+r", sees="ready")
        fleet.talk("new", "box", "Conversation new")
        if not takes:
            await user.reread(sees="It is not called “Mine”: This server cannot rename conversations.")
            return
        await user.reread(sees="Finished  Mine")
        assert fleet.conversations["new"]["title"] == "Mine"
        fleet.conversations["new"]["title"] = "What the server makes of it"
        await user.reread(until=lambda: fleet.conversations["new"]["title"] == "Mine")
        fleet.conversations["new"]["title"] = "Named by somebody"
        await user.reread(sees="Named by somebody")
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
    async with at_conversations(fleet) as user:
        await user.press(key, until=lambda: user.deck.screen.is_modal)
        await user.press(*typed, "enter", sees=words)
        await user.press("escape", "escape", until=lambda: not user.deck.screen.is_modal)
        await user.press(key, sees=words.partition(".")[0])
        assert not user.deck.screen.is_modal
    assert (len(fleet.conversations), list(here.glob("*.zip"))) == (4, [])


@pytest.mark.parametrize(
    ("status", "words"),
    [("RUNNING", "Its sandbox has not been read yet"), ("MISSING", "Its sandbox is not there"), (None, "is not there")],
)
async def test_a_sandbox_that_is_not_listed_may_be_unread(fleet: FakeFleet, status: str | None, words: str) -> None:
    fleet.conversations.clear()
    fleet.talk("alone", "elsewhere", "Alone", sandbox_status=status)
    async with at_conversations(fleet, sees="Alone") as user:
        for key in ("p", "o"):
            await user.press(key, sees=words)
        await user.press("space", "p", sees="None of their sandboxes is in the list.")
        gone = status == "MISSING"
        await user.press("w", sees="None of these" if gone else "Watching Alone", until=lambda: not fleet.orders)
        await user.press("minus", "w", sees="Its sandbox is gone, so nothing" if gone else "No longer watching")
        await user.press("D", sees="Its sandbox is gone already." if gone else "Its sandbox goes too")


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
    async with at_conversations(family, size=(60, 20)) as user:
        assert user.table.ids == ["zebra", "head", "apple"]
        await user.sees("+2 Plan the port", "5 Finished")
        await user.press("right", sees="Nothing is folded under it.")
        await user.go_to("head", "right")
        assert user.table.ids == ["zebra", "head", "one", "two", "apple"]
        await user.sees("└ Part one", lacks="+2")
        await user.press("down", "left", until=lambda: user.table.ids == ["zebra", "head", "apple"])
        assert user.table.cursor_id == "head"
        await user.press("left", sees="Nothing is open under it.")
        await user.press("slash", *"part one", until=lambda: user.table.ids == ["head", "one"])
        await user.sees("1 of 5", "+1 Plan the port", "└ Part one")
        await user.press("enter", "right", sees="The filter decides which of them are shown")
        await user.press("escape", until=lambda: user.table.ids == ["zebra", "head", "apple"])


async def test_a_folded_part_that_needs_somebody_lifts_its_family_and_going_to_it_opens_that(family: FakeFleet) -> None:
    family.add("other")
    family.conversations["two"] |= {"execution_status": "waiting_for_confirmation", "sandbox_id": "other"}
    async with at_conversations(family) as user:
        assert user.table.ids == ["head", "zebra", "apple"]
        await user.sees("1 needs you", "+2! Plan the port")
        await comes_to(user, family, two="finished")
        await user.sees("+ 1 unread", "+2+ Plan the port")
        await user.press("2", until=lambda: len(user.table.ids) == 2)
        await user.go_to("other", "o", sees=("[1 Conversations]", "└ Another part"))
        assert user.table.cursor_id == "two"


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
    assert (sorted(everything), len(folded)) == (NAMES, len(set(folded)))
    assert [name for name in everything if name in folded] == folded
    found = folding.arranged(ids[:3], filtered=True, by_attention=by_attention)
    assert set(ids[:3]) <= set(found)
    assert len(found) == len(set(found))
