"""What was asked of a server and is not answered: what is said meanwhile, and what becomes of it."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from quarterdeck.config.connections import Connection
from quarterdeck.tui import app, screen
from quarterdeck.tui.connections import Connect
from quarterdeck.tui.kept_state import KeptState
from tests.client.fakes import Answer, FakeServer, Gated
from tests.tui.fake_fleet import CONVERSATIONS, PROD, SANDBOXES, FakeFleet, at_conversations, at_sandboxes, start_task
from tests.tui.user import WIDE, User, answering, at_deck

CREATION = {"initial_message": {"content": [{"type": "text", "text": "port it"}]}}


def slow(fleet: FakeFleet, holds: Callable[[httpx.Request], bool], *, lost: bool = False) -> Gated:
    """A server that does at once what it is asked, and answers what `holds` picks, or not, once its gate is open."""
    server, server.lost = Gated(fleet.answer, holds, acts_first=True), httpx.ReadError("reset") if lost else None
    return server


def posts(path: str) -> Callable[[httpx.Request], bool]:
    return lambda request: request.method == "POST" and request.url.path == path


def beside(server: FakeServer) -> Connect:
    """Connects to a server, and anywhere else to one that has nothing."""
    other = FakeFleet().server
    return lambda endpoint, key: answering(server if endpoint == PROD else other)(endpoint, key)


async def start(user: User) -> None:
    await user.press("2", sees=("1 Running", "live"))
    await user.press("n", sees="default-spec  (default)")
    await user.press("enter", sees="Starting a sandbox from default-spec…")


@pytest.mark.parametrize("answered", [True, False])
async def test_leaving_waits_for_the_answer(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch, answered: bool) -> None:
    monkeypatch.setattr(app, "ANSWERED_WITHIN", 30.0 if answered else 0.5)
    server = slow(fleet, posts(SANDBOXES))
    async with at_deck(answering(server), PROD, size=WIDE) as user:
        await start(user)
        waits = "Waiting for the answer to: start of default-spec; ctrl+q again leaves now."
        await user.press("ctrl+q", sees=waits if answered else ())
        if answered:
            server.gate.set()
        await user.until(lambda: user.deck.return_code is not None)
        left = "left without the answer to: start of default-spec; look whether it happened"
        assert (user.deck.return_code, [*user.deck.exit_messages]) == ((0, []) if answered else (1, [left]))


async def test_of_two_starts_the_cursor_goes_to_the_last(fleet: FakeFleet) -> None:
    server = slow(fleet, posts(SANDBOXES))
    async with at_deck(answering(server), PROD, size=WIDE) as user:
        await start(user)
        await user.until(lambda: server.waited)
        first, server.gate, server.waited = server.gate, asyncio.Event(), False
        await start(user)
        await user.until(lambda: server.waited)
        first.set()
        await user.sees("Start of new1")
        await user.until(lambda: "new1" in user.table.ids)
        server.gate.set()
        await user.until(lambda: user.table.cursor_id == "new2")


@pytest.mark.parametrize("answered", [True, False])
async def test_another_connection_waits_too(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch, answered: bool) -> None:
    monkeypatch.setattr(app, "ANSWERED_WITHIN", 30.0 if answered else 0.5)
    server = slow(fleet, posts(SANDBOXES))
    async with at_deck(beside(server), PROD, size=WIDE) as user:
        await start(user)
        await user.press("c", sees="Connections")
        waits = "Waiting for the answer to: start of default-spec; then local service is"
        left = "prod was left without the answer to: start of default-spec; look there"
        await user.press("g", "enter", sees=waits if answered else left)
        if answered:
            server.gate.set()
        await user.sees("local service", "No sandboxes.", lacks="Unknown")


async def test_what_is_agreed_to_after_the_connection_was_opened_anew_is_not_sent(fleet: FakeFleet) -> None:
    fleet.add("box1")
    async with at_sandboxes(fleet) as user:
        await user.until(lambda: user.session.server.kind)
        before = user.session
        await user.press("asterisk", "p", sees=("Pause 2 sandboxes?", "n no (enter too)"), lacks="scroll")
        fleet.nested = True
        before.refresh()
        await user.until(lambda: user.deck.session not in (before, None))
        await user.press("y", sees="opened anew meanwhile, so nothing was sent.")
        assert not fleet.orders


async def test_leaving_in_the_middle_of_a_command_for_several_is_asked_about_at_once(fleet: FakeFleet) -> None:
    fleet.add("box1")
    server = slow(fleet, lambda request: request.method == "POST")
    async with at_deck(answering(server), PROD, size=WIDE) as user:
        await user.press("2", sees=("2 Running", "live"))
        await user.press("asterisk", "p", "y", sees="2 asked for")
        await user.press("b", "1", "n", *"port it", "ctrl+s", sees="Creating the conversation…")
        await user.press("ctrl+q", sees=("Leave before it has ended?", "going on: Pause 2 sandboxes."), lacks="turn")
        server.gate.set()
        await user.sees("Leave now?", "Pause 2 sandboxes: 2 done.")
        await user.press("n", until=lambda: not user.deck.screen.is_modal)
        await user.press("B", sees=("2 done", "esc close"), lacks="Waiting for the answer")


async def test_a_refused_creation_brings_the_form_back_with_every_word(fleet: FakeFleet) -> None:
    wrong = [{"loc": ["body", name], "msg": f"no such {name}"} for name in ("selected_branch", "title")]
    fleet.says[f"POST {CONVERSATIONS}"] = Answer({"detail": wrong}, 422)
    async with at_conversations(fleet) as user:
        await user.press("n", *"port it", "enter", *"to rust", "ctrl+s")
        await user.sees("! No such title", "! No such selected_branch")
        await user.press(*"Port", sees=("Port", "! No such selected_branch"), lacks="No such title")
        fleet.says[f"POST {CONVERSATIONS}"] = Answer({"detail": "Not so"}, 422)
        await user.press("ctrl+s", sees=("Not so", "First message     port it", "to rust", "Port"))
        assert not fleet.created
        await user.press("escape", sees="Not created; n shows what you entered.")
        await user.press("n", sees=("Try it again", "Not so", "port it"), lacks="was not known")
        fleet.says.clear()
        await user.press("ctrl+s", until=lambda: fleet.created)
        assert fleet.created[0]["initial_message"]["content"][0]["text"] == "port it\nto rust"
        assert fleet.created[0]["title"] == "Port"


async def test_a_sandbox_that_failed_is_not_said_to_be_started_with_or_without_an_answer(fleet: FakeFleet) -> None:
    server = slow(fleet, posts(SANDBOXES), lost=True)
    async with at_deck(answering(server), PROD, size=WIDE) as user:
        await start(user)
        fleet.sandboxes["new1"]["status"] = "ERROR"
        server.gate.set()
        await user.sees("Unknown whether it happened.")
        await user.press("ctrl+r", until=lambda: "new1" in user.session.sandboxes.records)
        await user.pause()
        assert "it was started" not in user.text
        fleet.sandboxes["new1"]["status"] = "RUNNING"
        await user.press("ctrl+r", sees="The answer was lost, but it was started: new1 is new in the list.")
        assert user.table.cursor_id == "new1"
        server.lost, fleet.says[f"POST {SANDBOXES}"] = None, Answer({"id": "broken", "status": "ERROR"})
        await user.press("n", sees="default-spec  (default)")
        await user.press("enter", sees="The server made broken, but it failed to start.", lacks="Started")


@pytest.mark.parametrize("refused", [False, True])
async def test_a_creation_that_hangs_goes_on_behind_and_says_what_came_of_it(fleet: FakeFleet, refused: bool) -> None:
    fleet.talk("c2", "box", "Other")
    server = slow(fleet, posts(CONVERSATIONS))
    if refused:
        fleet.says[f"POST {CONVERSATIONS}"] = Answer({"detail": "Not so"}, 422)
    async with at_conversations(fleet, server=server, size=WIDE) as user:
        await user.press("n", *"port it", "ctrl+s", sees="esc goes back to the list meanwhile")
        await user.press(*"np", "ctrl+s", sees=("Creating the conversation", "port it"), lacks="esc cancel")
        await user.press("escape", sees="what comes of it is said here")
        await user.press("enter", sees="Fix login", until=lambda: not user.deck.screen.is_modal)
        await user.press("escape", until=lambda: user.list_screen.is_current)
        await user.press("j", "k")
        at = user.table.cursor_id
        if not refused:
            fleet.tasks = [start_task("task1")]
        server.gate.set()
        await user.sees(*(("Not so", "n shows what you entered.") if refused else ("Created.",)))
        await user.press("ctrl+r", until=lambda: refused or "task1" in user.table.ids)
        assert user.table.cursor_id == at
        await user.press("n", sees=("First message", "port it", "Not so") if refused else "First message")
        assert refused or "port it" not in user.text
        created = [each["initial_message"]["content"][0]["text"] for each in fleet.created]
        assert (created, fleet.orders) == ([] if refused else ["port it"], []), "what was typed meanwhile went nowhere"


async def test_what_is_typed_around_a_creation_runs_nothing(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "STILL_TYPING", 30.0)
    server = slow(fleet, posts(CONVERSATIONS))
    async with at_conversations(fleet, server=server, size=WIDE) as user:
        await user.press("n", *"port it", "ctrl+s", until=lambda: server.waited)
        await user.press(*"to")
        server.gate.set()
        await user.until(lambda: not user.deck.screen.is_modal)
        await user.press("p", sees="did nothing; press it again.")
        monkeypatch.setattr(screen, "STILL_TYPING", 0.0)
        await user.press("p", until=lambda: fleet.orders)
    assert fleet.orders == [("pause", "box")]


@pytest.mark.parametrize(
    ("typed", "told", "followed", "keeps"),
    [
        ("port it", {}, True, False),
        ("port it", {"request": {"title": "Port"}}, True, True),
        ("port it", {"request": CREATION}, True, False),
        ("name it", {"request": CREATION}, False, True),
    ],
)
async def test_a_start_whose_answer_was_lost_is_gone_to_and_n_has_words_that_are_in_none(
    fleet: FakeFleet, tmp_path: Path, state: KeptState, typed: str, told: Any, followed: bool, keeps: bool
) -> None:
    server = slow(fleet, posts(CONVERSATIONS), lost=True)
    async with at_conversations(fleet, server=server, size=WIDE, state=state) as user:
        await user.press("n", *typed, "ctrl+s", until=lambda: fleet.created)
        fleet.tasks = [start_task(**told)]
        server.gate.set()
        lost = "The answer was lost, but it was created: its start is followed in the list."
        await user.sees(lost if followed else "Unknown whether it happened.")
        await user.press("ctrl+r", until=lambda: "f" * 32 in user.rows)
        await user.until(lambda: (user.table.cursor_id == "f" * 32) is followed)
        assert followed or "it was created" not in user.text
        await user.press("n", sees=("Try it again", typed) if keeps else "First message")
        assert ("Try it again" in user.text) is ("Unknown whether it happened." in user.text) is keeps
        await user.until(lambda: len([*tmp_path.rglob("unsent-conversations/*.json")]) == keeps)
        if not followed:
            await user.press("escape", sees="Not created; n shows what you entered.")
            asked_for = {"initial_message": {"content": [{"type": "text", "text": typed}]}}
            fleet.tasks += [start_task(each * 32, request=asked_for) for each in "de"]  # either may be it
            await user.reread(sees="The conversation was created after all; the list shows it.")


async def test_what_was_refused_is_offered_by_the_next_runs(fleet: FakeFleet, tmp_path: Path, state: KeptState) -> None:
    server = slow(fleet, posts(CONVERSATIONS))
    fleet.says[f"POST {CONVERSATIONS}"] = Answer({"detail": "Not so"}, 422)
    async with at_conversations(fleet, server=server, state=state) as user:
        await user.press("n", *"port it", "tab", *"Port", "ctrl+s", until=lambda: server.waited)
        await user.press("escape", sees="what comes of it is said here")
        server.gate.set()
        await user.sees("Not so")
    async with at_conversations(fleet, state=state) as user:
        await user.sees("What you entered for a conversation is kept; n shows it.")
        await user.press("n", sees=("Try it again", "port it", "Port", "Not so"))
    async with at_conversations(fleet, state=state) as user:
        await user.sees("What you entered for a conversation is kept; n shows it.")
        await user.press("n", sees=("Try it again", "port it"))
        await user.press("escape", "n", sees=("Try it again", "port it"))
        await user.press("x", "escape", "escape", until=lambda: not list(tmp_path.rglob("unsent-conversations/*.json")))
        await user.press("n", sees="New conversation")
    assert not fleet.created


async def test_what_two_decks_did_not_create_is_offered(fleet: FakeFleet, tmp_path: Path, state: KeptState) -> None:
    servers = [slow(fleet, posts(CONVERSATIONS)) for _ in range(2)]
    async with (
        at_conversations(fleet, server=servers[0], state=state) as one,
        at_conversations(fleet, server=servers[1], state=state) as other,
    ):
        await one.press("n", *"port it", "ctrl+s", until=lambda: servers[0].waited)
        await other.press("n", *"name it", "ctrl+s", until=lambda: servers[1].waited)
    fleet.created.clear()
    async with at_conversations(fleet, state=state) as user:
        await user.sees("What you entered for a conversation is kept; n shows it.")
        await user.press("n", sees=("Try it again", "name it", "It was not known whether it was created"))
        await user.press("!", "ctrl+s", sees="Created.")
        await user.press("n", sees=("Try it again", "port it"))
        await user.press("ctrl+s", sees="Created.", until=lambda: len(fleet.created) == 2)
        await user.press("n", sees="New conversation")
        await user.until(lambda: not list(tmp_path.rglob("unsent-conversations/*.json")))
    assert [each["initial_message"]["content"][0]["text"] for each in fleet.created] == ["name it!", "port it"]


async def test_what_was_created_after_all_is_not_offered(fleet: FakeFleet, tmp_path: Path, state: KeptState) -> None:
    server = slow(fleet, posts(CONVERSATIONS))
    async with at_conversations(fleet, server=server, state=state) as user:
        await user.press("n", *"port it", "ctrl+s", until=lambda: server.waited)
    fleet.tasks = [start_task(request=CREATION)]
    async with at_conversations(fleet, state=state) as user:
        await user.until(lambda: not list(tmp_path.rglob("unsent-conversations/*.json")))
        assert "is kept; n shows" not in user.text


async def test_marks_and_what_was_not_created_go_to_no_other(fleet: FakeFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "ANSWERED_WITHIN", 0.5)
    server = slow(fleet, posts(CONVERSATIONS), lost=True)
    async with at_deck(beside(server), PROD, size=WIDE, sees=("Fix login", "live now")) as user:
        await user.press("space", sees="1 marked")
        await user.press("n", *"port it", "ctrl+s", sees="esc goes back to the list meanwhile")
        await user.press("escape", "c", sees="Connections")
        await user.press("g", "enter", sees=("local service", "No conversations.", "live now"), lacks="marked")
        server.gate.set()
        await user.sees(" prod: Unknown whether it happened.", "there has its words.")
        await user.press("n", sees="First message", lacks="port it")


async def test_what_was_just_asked_for_is_no_orphan_and_nobody_else_s(fleet: FakeFleet) -> None:
    server = slow(fleet, posts(SANDBOXES))
    async with at_deck(answering(server), PROD, size=WIDE) as user:
        await start(user)
        await user.press("ctrl+r", until=lambda: "new1" in user.rows)
        user.table.move_to("new1")
        await user.press("enter", sees=("none known yet", "came while you waited for a start"))
        assert "not asked for in this deck" not in user.text
        assert "no conversation" not in user.text
        server.gate.set()
        await user.sees("  you", "no conversation", lacks=("came while you waited for a start", "asked for it"))


async def test_a_sandbox_reads_as_being_deleted_until_it_is_gone(fleet: FakeFleet) -> None:
    fleet.deaf = {"box"}
    async with at_deck(answering(fleet.server), PROD) as user:
        await user.press("2", sees=("1 Running", "live"))
        await user.press("D", sees=("The workspace and all files in it are", "enter do it  esc cancel"), lacks="scroll")
        await user.press(*"box", "enter", sees=("Running, deleting", "Delete of box asked for"))
        fleet.sandboxes["box"]["status"] = "MISSING"
        await user.sees("Missing", "Delete of box: done.")


async def test_a_conversation_reads_as_being_deleted_until_a_reading_tells_and_as_before_when_refused() -> None:
    fleet = FakeFleet.of(1, nested=True, deaf={"c1"}, fails={"c2"})
    for each in ("c1", "c2"):
        fleet.talk(each, "box00", f"Talk {each}")
    server = slow(fleet, lambda request: request.method == "DELETE")
    async with at_deck(answering(server), PROD, sees=("2 Finished", "live")) as user:
        await user.go_to("c1", "D", *"c1", "enter", sees="1 Deleting")
        server.gate.set()
        await user.sees("2 Finished")
        fleet.deaf.clear()
        await user.go_to("c1", "D", *"c1", "enter", sees="1 Finished", until=lambda: "Talk c1" not in user.text)
        fleet.says |= dict.fromkeys((f"GET {CONVERSATIONS}", f"GET {CONVERSATIONS}/search"), Answer(status=503))
        await user.press("D", *"c2", "enter", sees=("It broke", "1 Finished"))


@pytest.mark.parametrize("lost", [False, True])
async def test_the_cursor_stays_where_it_was_moved_before_a_start_was_answered(fleet: FakeFleet, lost: bool) -> None:
    fleet.add("box2", "PAUSED")
    server = slow(fleet, posts(SANDBOXES), lost=lost)
    async with at_deck(answering(server), PROD, size=WIDE) as user:
        await start(user)
        await user.press("j")
        at = user.table.cursor_id
        server.gate.set()
        await user.sees("it was started: new2 is new" if lost else "Start of new2", "2 Running")
        assert user.table.cursor_id == at


@pytest.mark.parametrize("place", ["1", "2", "3"])
async def test_a_reading_that_was_asked_for_shows_at_once_though_nothing_answers(fleet: FakeFleet, place: str) -> None:
    server, hanging = slow(fleet, lambda request: hanging), False
    async with at_deck(answering(server), PROD, size=WIDE, sees=("Fix login", "live")) as user:
        await user.press(place, until=lambda: "live" in user.line(0) or re.search(r"read \d\d:\d\d", user.line(0)))
        hanging = True
        await user.press("ctrl+r", sees="reading…")
        server.gate.set()
        await user.until(lambda: "reading…" not in user.text)


async def test_both_lists_say_that_the_starts_they_depend_on_are_not_read(fleet: FakeFleet) -> None:
    fleet.add("free")
    fleet.says[f"GET {CONVERSATIONS}/start-tasks/search"] = Answer({"detail": "It broke"}, 500)
    async with at_conversations(fleet) as user:
        await user.sees("The starts of conversations were not read: The server failed with 500: It", "live now")
        await user.press("2", sees=("2 Running", "The starts of conversations were not read"), lacks="no conversation")
        fleet.says.clear()
        await user.press("ctrl+r", sees="no conversation")


async def test_an_empty_list_says_why_it_is_empty(fleet: FakeFleet) -> None:
    fleet.says[f"GET {SANDBOXES}/search"] = Answer({"items": [{"no": "id"}] * 40})
    fleet.says[f"GET {CONVERSATIONS}/search"] = Answer({"detail": "No"}, 401)
    async with at_deck(answering(fleet.server), PROD, size=WIDE) as user:
        await user.sees("The conversations were not read: a valid key is needed.")
        await user.press("2", sees="40 sandboxes could not be read.", lacks="No sandboxes")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.ConnectError("refused"), "retry in"),
        (Answer(b"", 302, {"Location": "https://login.example.org/"}), "login.example.org"),
        (Answer({"items": None, "next_page_id": None}), "The server answered a list that cannot be read."),
    ],
)
async def test_the_first_failed_try_is_said_and_nothing_is_called_read(answer: Answer | Exception, words: str) -> None:
    once: Gated = Gated(lambda _: answer, lambda request: request.url.path in {asked.path for asked in once.asked})
    async with at_deck(answering(once), PROD, size=WIDE) as user:
        await user.sees("The conversations could not be read.", "nothing read yet", words)
        assert "Reading the conversations" not in user.text
        await user.press("c", sees="Connections")
        assert "stale" not in user.text, "nothing was ever read"


async def test_an_address_is_whole_in_the_header_before_the_tabs_and_the_state_are(fleet: FakeFleet) -> None:
    async with at_conversations(fleet, endpoint=Connection("127.0.0.1:43371", PROD.url)) as user:
        fleet.says[f"GET {CONVERSATIONS}/search"] = Answer({"detail": "No"}, 400)
        await user.press("ctrl+r", sees=(" 127.0.0.1:43371 1.8.1 · stale", ", retry in"))
        await user.resize(60, 20, sees=" 127.0.0.1:43371 1.8.1 · stale")
