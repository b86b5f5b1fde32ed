from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from textual import events
from textual.widgets import TextArea

from quarterdeck.config.connections import Connection
from quarterdeck.fleet import answering as answering_rules
from quarterdeck.tui.conversation import drafts
from quarterdeck.tui.conversation.log import Log
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.screens import conversation
from tests.client.fakes import FakeServer, Gated, to
from tests.fleet.agent import ID, C, FakeAgent
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet
from tests.tui.seat import Seat, Words, answering, seated

EVENTS = f"{C}/events"
ANSWER = f"POST {EVENTS}/respond_to_confirmation"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering_rules, "SETTLES", 0.001)


@pytest.fixture
def agent() -> FakeAgent:
    agent = FakeAgent("1.34.0")
    agent.says("first wish", "user")
    return agent


@asynccontextmanager
async def opened(
    agent: FakeAgent, *, server: FakeServer | None = None, endpoint: Connection = PROD, sees: Words = (), **more: Any
) -> AsyncIterator[Seat]:
    """A deck on the conversation of that agent, or on what answers for it."""
    async with seated(answering(server or FakeServer(agent)), endpoint, sees="Fix login", **more) as seat:
        await seat.press("enter", sees="polling", until=lambda: log(seat).entries)
        await seat.press(sees=sees)
        yield seat


@pytest.fixture
async def seat(agent: FakeAgent) -> AsyncIterator[Seat]:
    async with opened(agent) as seat:
        yield seat


def log(seat: Seat) -> Log:
    return seat.deck.screen.query_one(Log)


def composer(seat: Seat) -> TextArea:
    return seat.deck.screen.query_one(TextArea)


async def left_and_entered(seat: Seat) -> None:
    await seat.press("q", until=lambda: not seat.deck.screen.query(Log))
    await seat.press("enter", until=lambda: seat.deck.screen.query(Log))


async def test_it_follows_at_the_end_and_holds_still_where_somebody_reads(agent: FakeAgent) -> None:
    agent.says_words(range(160))
    async with opened(agent, sees="word 159") as seat:
        agent.says("word 160")
        await seat.press("ctrl+r", sees="word 160")
        await seat.press("pageup", "pageup")
        top = seat.line(2).partition("word")
        agent.says("word 161")
        agent.says("word 162")
        await seat.press("ctrl+r", sees="2 new below, G")
        assert top[2]
        assert seat.line(2).partition("word")[1:] == top[1:]  # its time is told by the fake's days old clock
        await seat.press("g", until=lambda: "word 60" in seat.text and len(log(seat).entries) == 164)
        await seat.press("g", sees="word 0")
        await seat.press("G", sees="word 162", until=lambda: "new below" not in seat.text)
        await seat.press("up")
        agent.says("word 163")
        agent.says("word 164")
        await seat.press("ctrl+r", sees="2 new below, G")
        await seat.resize(80, 36, sees="word 164", until=lambda: "new below" not in seat.text)
        await seat.press("up")
        await seat.resize(60, 20, sees="▌")
        assert "word 160" in seat.line_of("▌")


async def test_what_is_selected_with_the_mouse_is_copied_and_holds_still(agent: FakeAgent) -> None:
    agent.says_words(range(40))
    async with opened(agent, sees="word 39") as seat:
        lines = seat.text.splitlines()
        first = lines.index(seat.line_of("word 37"))
        await seat.drag((lines[first].index("37"), first), (lines[first + 1].index("38") + 2, first + 1))
        await seat.press(sees="Copied the selection")
        assert seat.deck.clipboard == f"37\n{lines[first + 1].replace('▌', ' ')}"
        agent.says("word 40")
        await seat.press("ctrl+r", sees="1 new below, G")
        await seat.press("m", *"go on", "ctrl+s", sees=("word 40", "you"), lacks="new below")


async def test_the_place_and_what_was_unfolded_are_there_again(agent: FakeAgent) -> None:
    agent.says_words(range(60))
    agent.says("\n".join(f"line {number}" for number in range(90)))
    agent.says_words(range(60, 120))
    server = Gated(agent, to(f"{EVENTS}/search"))
    server.gate.set()
    async with opened(agent, server=server) as seat:
        await seat.press("slash", *"line 7", "enter", "escape", sees="line 0")
        await seat.press("enter", *("j",) * 75, sees="line 85")
        shown = seat.text.splitlines()[2:14]
        await left_and_entered(seat)
        await seat.until(lambda: seat.text.splitlines()[2:14] == shown)
        await seat.press("escape", until=lambda: seat.list_screen.is_current)
        server.gate.clear()
        await seat.press("enter", sees="Reading…")
        await seat.press("escape", until=lambda: seat.list_screen.is_current)
        server.gate.set()
        agent.says_words(range(120, 123))
        await seat.press("enter", sees="3 new below, G", until=lambda: seat.text.splitlines()[2:14] == shown)
        await seat.press("escape", until=lambda: seat.list_screen.is_current)
        await seat.burst("enter", "G", sees="word 122")
        await seat.press("ctrl+r", sees="word 122")


async def test_it_is_unread_until_its_end_was_on_the_screen(agent: FakeAgent) -> None:
    agent.says_words(range(60))
    agent.set("running")
    async with opened(agent) as seat:
        await seat.press("g", sees=("Working", "word 0"))
        agent.says("word 60")
        agent.set("finished")
        await seat.press("ctrl+r", sees=("✓ Finished", "new below, G"))
        await seat.press("escape", until=lambda: seat.list_screen.is_current)
        await seat.press("ctrl+r", sees="+ ✓ Finished")
        await seat.press("enter", sees="new below, G")
        await seat.press("escape", sees="+ ✓ Finished", until=lambda: seat.list_screen.is_current)
        await seat.press("enter", sees="new below, G")
        await seat.press("G", sees="word 60")
        await seat.press("escape", until=lambda: seat.list_screen.is_current and "+ ✓" not in seat.text)


async def test_the_place_above_a_question_is_there_again_with_the_entry_that_was_looked_at(agent: FakeAgent) -> None:
    agent.says_words(range(40))
    agent.asks("rm -r build", "git clean", "git push")
    async with opened(agent, sees="needs you: 3 actions") as seat:
        await seat.press("k", "k", "k")
        shown = seat.text.splitlines()[2:14]
        assert any("▌" in line and "word 39" in line for line in shown)
        await left_and_entered(seat)
        await seat.until(lambda: seat.text.splitlines()[2:14] == shown)


async def test_what_is_unfolded_at_the_foot_comes_into_sight(agent: FakeAgent) -> None:
    agent.says_words(range(40))
    seen = {"content": [{"type": "text", "text": "\n".join(f"line {number}" for number in range(20))}], "exit_code": 0}
    agent.add("ObservationEvent", tool_name="terminal", tool_call_id="c", observation=seen)
    async with opened(agent) as seat:
        await seat.sees("lines, enter", lacks="line 12")
        await seat.press("enter", sees=("line 12", "line 0"))
        await seat.click("line 12", until=lambda: "line 12" not in seat.text)
        await seat.click("word 39", until=lambda: "▌" in seat.line_of("word 39"))
        first = seat.line(2)
        turn = (None, 9, 9, 0, 0, 0, False, False, False)  # of the wheel, in the log
        seat.deck.post_message(events.MouseScrollUp(*turn))
        await seat.until(lambda: seat.line(5) == first)
        seat.deck.post_message(events.MouseScrollDown(*turn))
        await seat.until(lambda: seat.line(2) == first)


async def test_words_messages_and_failures_are_gone_to(agent: FakeAgent) -> None:
    failed = {"content": [{"type": "text", "text": "no such thing"}], "exit_code": 2}
    agent.add("ObservationEvent", tool_name="terminal", tool_call_id="c", observation=failed)
    agent.says_words(range(40))
    agent.says("second wish", "user")
    async with opened(agent) as seat:

        async def lead(*keys: str, to: str) -> None:
            await seat.press(*keys, until=lambda: (entry := log(seat).cursor_entry) is not None and to in entry.text)

        await lead("left_square_bracket", to="first wish")
        await seat.press("left_square_bracket", sees="No message of yours before this one.")
        await lead("right_curly_bracket", to="no such thing")
        await lead("right_square_bracket", to="second wish")
        await lead("left_curly_bracket", to="no such thing")
        await lead("G", "slash", *"WORD 3", "enter", to="word 39")
        await lead("enter", to="word 38")
        assert [line for line in seat.text.splitlines() if "word 38" in line and "▌" in line]
        await seat.press("escape", "y", sees="Copied the entry, if your terminal takes copies")
        assert seat.deck.clipboard == "word 38"
        await lead("slash", *["backspace"] * 6, *"wish", "enter", "enter", to="second wish")
        await seat.sees("None before it; gone round to the last one.")
        await lead("enter", to="first wish")
        await seat.until(lambda: "None before" not in seat.text)
        await seat.press(*["backspace"] * 4, *"zzz", "enter", sees="No “zzz” in what")
        await seat.press(*["backspace"] * 3)
        await seat.paste("first\nwish", "enter", sees="No other “first wish” in what")
        await seat.press("escape", "V", sees="No other program can use this terminal.")


async def test_what_is_looked_for_above_what_was_read_is_read_for_the_next_time(agent: FakeAgent) -> None:
    agent.says_words(range(150))
    async with opened(agent) as seat:
        await seat.press("left_square_bracket", sees="No message of yours before this one in what had been read.")
        await seat.until(lambda: len(log(seat).entries) == 151)
        await seat.press("left_square_bracket", sees="first wish")


async def test_results_do_not_stand_without_the_commands_of_the_page_before(agent: FakeAgent) -> None:
    commands = [f"echo {number}" for number in range(70)]
    agent.asks(*commands)
    agent.run()
    async with opened(agent) as seat:
        await seat.until(lambda: [each.title for each in log(seat).entries if each.call] == commands)


async def test_everything_about_it_is_shown_on_a_page_and_each_command_is_in_the_palette_once(seat: Seat) -> None:
    await seat.press("i", sees=("Fix login", "id              0c0f4ad5", "repository"))
    assert "{" not in seat.text.replace("{ Failures", "")
    y, line = next((y, line) for y, line in enumerate(seat.text.splitlines()) if "0c0f4ad5" in line)
    await seat.drag((line.index("0c0f4ad5"), y), (line.index("0c0f4ad5") + 7, y))
    await seat.press(sees="Copied the selection")
    assert seat.deck.clipboard == "0c0f4ad5"
    await seat.press("escape", "colon", *"back", sees="Go back to the list")
    assert seat.text.count("Back (") == 1


async def test_a_command_that_comes_after_it_was_closed_does_nothing(agent: FakeAgent) -> None:
    agent.says("second wish", "user")
    async with opened(agent) as seat:
        screen = seat.deck.screen
        await seat.press("escape", until=lambda: not screen.is_attached)
        assert isinstance(screen, conversation.ConversationScreen)
        await screen.action_command("message_before")  # as the palette does
        await seat.sees("[1 Conversations]", "Fix login")


async def test_a_message_that_the_agent_overheard_is_sent_again_when_asked(agent: FakeAgent) -> None:
    agent.set("finished")
    async with opened(agent, sees="The agent ended without reading your last message; R sends it again.") as seat:
        await seat.press("m", *"draft", "escape", "R", sees=("Sent.", "done", "draft"))
        await seat.press("R", sees="R is for a message that the agent did not read before it finished;")


async def test_a_conversation_of_which_nothing_can_be_read_says_so() -> None:
    fleet = FakeFleet()
    fleet.talk(ID, fleet.add("box", "PAUSED"), "Fix login")
    async with seated(answering(fleet.server), PROD, size=(60, 20), sees="Fix login") as seat:
        await seat.press("enter", sees=("Nothing could be read. This server keeps no copy", "said."))


async def test_only_keys_in_the_question_answer_and_one_at_most(agent: FakeAgent) -> None:
    agent.asks("rm -r build", "git clean")
    agent.next = ["curl evil"]
    async with opened(agent, sees=("needs you: 2 actions; tab answers", "rm -r build", "git clean", "HIGH")) as seat:
        await seat.press("y", "n", "a", "r", sees=("tab answers", "The agent waits for an answer"))
        await seat.press("n", sees="n does nothing here; tab goes to what the agent asks.")
        assert agent.ran == []
        await seat.press("tab", sees=("y accept", "esc back", "a all from here"), lacks="Message")
        await seat.burst("y", "y", "y", "y", sees=("curl evil", "needs you: 1 action; tab answers"))
        await seat.pause()
        assert agent.ran == ["rm -r build", "git clean"]
        assert agent.asked.count(ANSWER) == 1
        assert "Copied" not in seat.text
        await seat.press("tab", "a", sees="Accept all that follow?")
        await seat.press("escape", sees="y accept")
        assert agent.policy == "ConfirmRisky"
        await seat.press("a", "y", sees="asks: never")
        assert agent.ran == ["rm -r build", "git clean", "curl evil"]


async def test_a_question_that_changes_takes_the_focus_away_and_is_rejected_with_a_reason(agent: FakeAgent) -> None:
    agent.asks("harmless")
    async with opened(agent) as seat:
        await seat.press("tab", sees="y accept")
        agent.run()
        agent.asks("rm -r build")
        await seat.press("ctrl+r", sees=("rm -r build", "tab answers"))
        await seat.press("y", sees="Copied the entry")
        await seat.press("m", "l", "s", "escape", sees="a draft, not sent")
        await seat.press("tab", "n", sees=("Reject", "Why"))
        await seat.press(*"use git", "enter")
        await seat.sees("rejected", "use git", "Rejected, and your reason sent.", "a draft, not sent")
        assert composer(seat).text == "ls"
        agent.asks("rm -r src")
        await seat.press("ctrl+r", sees=("rm -r src", "tab answers"))
        await seat.press("tab", "n", sees="enter reject")
        await seat.press("escape", sees="y accept")
        await seat.press("n", "enter", sees="Rejected; the agent rests until you write to it.")
        assert agent.ran == ["harmless"]


async def test_a_question_longer_than_its_room_is_accepted_only_after_its_end_was_shown(agent: FakeAgent) -> None:
    agent.asks("\n".join(("make build", *[""] * 60, "rm -r /")))
    async with opened(agent, sees="needs you: 1 action") as seat:
        await seat.press("tab", "y", sees="It asks for more than was shown; read to the end, then accept.")
        await seat.burst(*["pagedown"] * 9, until=lambda: "j more" not in seat.text)
        assert "rm -r /" in seat.text
        assert agent.ran == []
        await seat.press("y", until=lambda: agent.ran)


async def test_nothing_is_to_go_on_with_before_anything_was_asked() -> None:
    agent = FakeAgent("1.34.0")
    agent.says("What shall I do?")
    async with opened(agent) as seat:
        await seat.press("r", sees="Nothing was asked of the agent yet; m writes a message.")
        await seat.press("e", sees="e does nothing here; ? shows the keys.")
        await seat.press("k", lacks="does nothing here")


async def test_what_the_conversation_showed_last_is_known_to_the_list_that_pauses_its_sandbox(agent: FakeAgent) -> None:
    agent.set("finished")
    async with opened(agent) as seat:
        agent.asks("rm -r build")
        await seat.press("ctrl+r", sees="needs you: 1 action")
        await seat.burst("escape", "p", sees="The agent of Fix login is at work or waits for an answer.")


async def test_a_message_is_sent_and_while_it_asks_the_person_says_what_it_means(agent: FakeAgent, seat: Seat) -> None:
    await seat.press("m", *"go on", "enter", *"with care", "ctrl+s")
    await seat.sees("go on", "with care", "done", "finished")
    assert agent.log[1]["llm_message"]["content"][0]["text"] == "go on\nwith care"
    assert composer(seat).text == ""
    agent.asks("rm -r build")
    await seat.press("escape", "ctrl+r", sees="rm -r build")
    await seat.press("m", *"not that", "ctrl+s", sees=("The agent waits for an answer", "esc keep the draft"))
    await seat.press("escape", until=lambda: seat.deck.screen.query(TextArea) and composer(seat).text == "not that")
    seat.at_once("ctrl+s", *" yes", "enter", *"quick")  # who still types answers nothing
    await seat.until(lambda: seat.deck.screen.query(TextArea) and composer(seat).text == "not that yes\nquick")
    assert agent.ran == []
    assert not any(event["kind"] == "UserRejectObservation" for event in agent.log)
    await seat.press("ctrl+s", "ctrl+n", sees="Rejected, and your reason sent.")
    assert agent.ran == []
    agent.asks("ls build")
    await seat.press("ctrl+r", sees="ls build")
    await seat.press(*"this", "ctrl+s", sees="^y accept and say")
    await seat.press("ctrl+y", until=lambda: agent.ran)


async def test_it_says_what_it_has_cost_how_to_stop_the_agent_and_when_that_asks(agent: FakeAgent, seat: Seat) -> None:
    await seat.sees("r Resume", "[ Messages", "m writes a message", "─" * 80, lacks="Pause agent")
    spent = {"accumulated_cost": 0.5, "accumulated_token_usage": {"per_turn_token": 12_345, "context_window": 200_000}}
    agent.add("ConversationStateUpdateEvent", key="stats", value={"usage_to_metrics": {"agent": spent}})
    agent.set("running")
    await seat.press("ctrl+r", sees=("p Pause agent", "$0.50", "ctx 12k/200k", "asks: risky"))
    await seat.press("m", sees=("^s send", "esc leave; the draft is kept"), lacks=("Pause agent", "m writes"))
    await seat.press("escape", "slash", sees=("enter the one before", "esc close", "\n find: enter goes"))
    await seat.press("escape", sees="p Pause agent")
    await seat.press("f2", sees=("Ask always", "Never ask"))
    await seat.press("1", sees=("asks: always", "until the agent server restarts"))
    await seat.press("f2", "2", sees="asks: risky")
    await seat.press("f2", "3", sees=("Never ask?", "It does everything from now on without asking."))
    await seat.press("y", sees="asks: never")
    await seat.press("f2", "2", sees="asks: risky")
    agent.set("finished")
    await seat.press("ctrl+r", sees="✓ Finished")
    await seat.press("r", sees="It had finished; a message makes it go on.")
    await seat.press("f2", sees="Resume            It had finished")


async def test_a_draft_is_kept_until_it_is_sent_also_for_the_next_run(agent: FakeAgent, state: KeptState) -> None:
    words = "half a thought\n\tहिन्दी நான் نمی\u200cخواهم 👍🏽 ❤️"
    async with opened(agent, state=state) as seat:
        await seat.press("m")
        await seat.paste(words, "escape")
        await left_and_entered(seat)
        assert composer(seat).text == words
    async with opened(agent, state=state) as seat:
        await seat.until(lambda: composer(seat).text == words)
        await seat.press("m", "ctrl+s", sees="Sent.")
        assert agent.log[1]["llm_message"]["content"][0]["text"] == words
    async with opened(agent, state=state, sees="half a thought") as seat:
        assert composer(seat).text == ""
        await seat.press("m", *"more", "ctrl+q", until=lambda: seat.deck.return_code is not None)
    async with opened(agent, state=state) as seat:
        await seat.until(lambda: composer(seat).text == "more")


async def test_a_terminal_resized_while_a_message_is_typed_has_its_cursor_in_sight(seat: Seat) -> None:
    await seat.press("m")
    await seat.paste("words and more of them, " * 30 + "the end", sees="the end")
    await seat.resize(60, 20, sees="the end")


async def test_leaving_does_not_end_what_is_sent_and_keeps_what_is_typed(agent: FakeAgent, state: KeptState) -> None:
    agent.set("running")
    server = Gated(agent, to(EVENTS))
    async with opened(agent, state=state, server=server) as seat:
        await seat.press("m", *"go on", "ctrl+s", sees="sending")
        await seat.press("escape")
        await left_and_entered(seat)
        await seat.press("m", *"more", sees="a message is being sent")
        assert composer(seat).text == "more"
        agent.set("idle")
        server.gate.set()
        await seat.sees("Sent.", "go on", "done")
        await seat.until(lambda: "being sent" not in seat.text)
        await seat.press("escape", sees="a draft, not sent")
    async with opened(agent, state=state) as seat:
        await seat.until(lambda: composer(seat).text == "more")


async def test_what_is_not_sent_is_a_draft(agent: FakeAgent, state: KeptState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering_rules, "READ_WITHIN", 0.0)
    server = Gated(agent, to(EVENTS))
    async with opened(agent, state=state, server=server) as seat:
        await seat.press("m", *"go on", "ctrl+s", sees="sending")
        await seat.press("escape", "q", until=lambda: not seat.deck.screen.query(Log))
        agent.unreached = True
        server.gate.set()
        await seat.sees("it is not known whether your message arrived")
        agent.unreached = False
        await seat.press("enter", until=lambda: seat.deck.screen.query(Log) and composer(seat).text == "go on")
    async with opened(agent, state=state) as seat:
        await seat.until(lambda: composer(seat).text == "go on")


async def test_what_was_being_sent_at_the_end_is_perhaps_sent(
    agent: FakeAgent, tmp_path: Path, state: KeptState, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Gated(agent, to(EVENTS))
    async with opened(agent, state=state, server=server) as seat:
        await seat.press("m", *"one", "ctrl+s", *"two", "ctrl+s", *"three")
        await seat.until(lambda: any("three" in file.read_text() for file in tmp_path.rglob("*.json")))
        monkeypatch.setattr(drafts, "is_running", lambda process: False)
        async with opened(agent, state=state, sees="perhaps sent before: look above") as other:
            assert composer(other).text == "one\ntwo\nthree"
            await left_and_entered(other)
            await other.sees("perhaps sent before: look above")
            assert composer(other).text == "one\ntwo\nthree"
            await other.press("m", "end", "up", "ctrl+u", "escape", sees="a draft, not sent")
        server.gate.set()


async def test_messages_that_the_log_does_not_have_come_back_in_order(agent: FakeAgent) -> None:
    server = Gated(agent, to(EVENTS))
    async with opened(agent, server=server) as seat:
        await seat.press("m", *"one", "ctrl+s", *"two", "ctrl+s", *"three", sees="a message is being sent")
        agent.drops = True
        server.gate.set()
        await seat.until(lambda: composer(seat).text == "one\ntwo\nthree" and "sending" not in seat.text)
        await seat.sees("The log does not have", "your message. Send it again.")
        assert agent.asked.count(f"POST {EVENTS}") == 2, "each was sent once"


async def test_a_message_that_the_log_shows_before_its_answer_is_lost_was_sent(agent: FakeAgent) -> None:
    server = Gated(agent, to(EVENTS), acts_first=True)
    agent.loses_answers = True
    agent.meanwhile["/run"] = lambda: setattr(agent, "loses_answers", False)
    async with opened(agent, server=server) as seat:
        await seat.press("m", *"go on", "ctrl+s", "ctrl+r", until=lambda: "sending" not in seat.text)
        server.gate.set()
        await seat.sees("Sent.", "done")
        assert composer(seat).text == ""
        assert seat.text.count("go on") == 1


async def test_two_decks_lose_no_draft_of_each_other(agent: FakeAgent, state: KeptState) -> None:
    async with opened(agent, state=state) as one, opened(agent, state=state) as two:
        await one.press("m", *"aaa", "escape", "q", "enter", until=lambda: composer(one).text == "aaa")
        await two.press("m", *"bbb", "escape")
        await one.press("m", "ctrl+u", "escape")
        await left_and_entered(one)
        assert composer(one).text == ""
        await left_and_entered(two)
        await two.until(lambda: composer(two).text == "bbb")
        await one.press("m", *"ccc", "escape", "q", until=lambda: not one.deck.screen.query(Log))
        await two.press("q", until=lambda: not two.deck.screen.query(Log))
    async with opened(agent, state=state) as seat:
        await seat.until(lambda: sorted(composer(seat).text.splitlines()) == ["bbb", "ccc"])


async def test_a_draft_that_cannot_be_stored_is_there_until_one_leaves(agent: FakeAgent, tmp_path: Path) -> None:
    no_folder = tmp_path / "state"
    no_folder.write_text("a file")
    async with opened(agent, state=KeptState(no_folder)) as seat:
        await seat.press("m", *"aaa", "escape", sees="The draft is not kept")
        await left_and_entered(seat)
        await seat.until(lambda: composer(seat).text == "aaa")


async def test_it_is_stopped_and_goes_on_and_the_end_that_was_seen_is_read(agent: FakeAgent, state: KeptState) -> None:
    agent.set("running")
    async with opened(agent, state=state, sees="Working") as seat:
        await seat.press("p", sees=("Stopped.", "Agent paused", "m Message  r Resume"))
        await seat.press("p", sees="The agent does not work now.")
        await seat.press("r", sees=("It was asked to go on.", "✓ Finished"))
    async with seated(answering(FakeServer(agent)), PROD, state=state, sees="✓ Finished") as seat:
        assert "unread" not in seat.text, "it was open when it came to that"


async def test_a_paused_sandbox_is_said_with_its_age_and_r_resumes_it(agent: FakeAgent) -> None:
    agent.asks("rm -r build")
    async with opened(agent) as seat:
        agent.set("running")
        await seat.press("ctrl+r", sees=("● Working", "  terminal"))
        assert "terminal" in seat.line(1)
        agent.sandbox, agent.unreached = "PAUSED", True
        await seat.press("ctrl+r", sees=("sandbox paused, log as of", "r resumes it"))
        assert "terminal" not in seat.line(1)
        await seat.press("p", sees="The agent does not work now.")
        await seat.press("f2", "3", sees="Its sandbox is paused.")
        await seat.press("escape", "m", "r", sees="Its sandbox is paused. esc, then r resumes it.")
        await seat.press("ctrl+s", sees="Its sandbox is paused. Nothing was sent; esc, then r resumes it.")
        assert composer(seat).text == "r"
        await seat.press("escape", sees="a draft, not sent")
        await seat.press("r", sees=("Resume its sandbox?", "You can write to its agent again once it runs."))
        await seat.press("escape", sees=("first wish", "not sent"))
        agent.sandbox = "MISSING"
        await seat.press("ctrl+r", sees="it can only be read", lacks="Pause agent")


async def test_a_conversation_that_is_gone_or_whose_sandbox_is_takes_no_message(agent: FakeAgent, seat: Seat) -> None:
    agent.asks("rm -r build")
    await seat.press("ctrl+r", sees=("m writes a message", "needs you: 1 action"))
    agent.sandbox, agent.unreached = "MISSING", True
    await seat.press("ctrl+r", sees="it can only be read", until=lambda: "m writes" not in seat.text, lacks="needs you")
    await seat.press("m", "r", sees="first wish", until=lambda: "r Resume" not in seat.line(-1))
    assert seat.deck.focused is log(seat)
    agent.sandbox = None
    await seat.press("ctrl+r", sees="The server does not have this conversation any more.")
    await seat.press("m", sees="The server does not have this conversation any more.", lacks="Needs you")
    assert seat.deck.focused is log(seat)


async def test_a_question_that_cannot_be_answered_now_says_so_and_names_no_keys(agent: FakeAgent) -> None:
    agent.asks("rm -r build")
    async with opened(agent, endpoint=replace(PROD, read_only=True)) as seat:
        await seat.press("tab", "y", sees=("read-only", "needs you: 1 action ━"), lacks="m writes")
        for key in "na":
            await seat.press("tab", key, sees="is read-only. No answer was sent.", lacks=("Why", "follow?"))
        await seat.press("m")
        assert not seat.deck.focused or not isinstance(seat.deck.focused, TextArea)
    async with opened(agent, sees="tab answers") as seat:
        await seat.press("tab", sees="y accept")
        agent.unreached = True
        await seat.press("y", sees=" was sent")  # nothing, or no answer: it may be known already that it is not reached
        assert ANSWER not in agent.asked
        agent.sandbox = "PAUSED"
        await seat.press("ctrl+r", sees="needs you: 1 action ━", lacks="tab Answer")
        await seat.press("tab", sees=("needs you: 1 action ━", "Its sandbox is paused. r resumes it."))
        await seat.press("n", sees="Its sandbox is paused. No answer was sent.")
        await seat.press("m", *"why", "ctrl+s", sees="Nothing was sent; esc, then r resumes it.")
    assert agent.ran == []


async def test_what_a_message_means_is_not_asked_any_more_once_no_answer_can_be_sent(agent: FakeAgent) -> None:
    agent.asks("rm -r build")
    async with opened(agent) as seat:
        await seat.sees("tab answers")
        await seat.press("m", *"why", "ctrl+s", sees="^y accept and say")
        agent.sandbox, agent.unreached = "PAUSED", True
        await seat.reread()
        await seat.until(lambda: "accept and say" not in seat.text)
        await seat.sees("Its sandbox is paused. esc, then r resumes it.", "why")
    assert agent.ran == []
    agent.sandbox, agent.unreached = "RUNNING", False
    async with opened(agent, sees="tab answers") as seat:
        await seat.press("m", *"why", "ctrl+s", sees="^y accept and say")
        agent.reject()  # as somebody else tells it
        await seat.reread()
        await seat.sees("The agent does not wait for an answer any more; nothing was sent.", lacks="accept and say")


async def test_a_sandbox_known_as_paused_is_resumed_while_the_conversation_still_opens(agent: FakeAgent) -> None:
    server = Gated(agent, to(CONVERSATIONS))
    server.gate.set()
    async with opened(agent, server=server) as seat:
        agent.sandbox, agent.unreached = "PAUSED", True
        await seat.press("q", "ctrl+r", sees="1 Sandbox paused")
        server.gate.clear()
        await seat.press("enter", sees="opening")
        await seat.press("r", sees="Resume its sandbox?")
        server.gate.set()


async def test_a_question_is_gone_to_as_soon_as_it_is_read(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(agent) as seat:
        monkeypatch.setattr(conversation, "PAINTED_EVERY", 3600.0)
        agent.asks("rm -r build")
        await seat.press("ctrl+r", until=lambda: "Needs you" in seat.line(1))
        await seat.press("tab", sees=("rm -r build", "y accept"))


async def test_it_closes_when_another_conversation_or_connection_is_opened(agent: FakeAgent, state: KeptState) -> None:
    agent.fleet.talk("c2", agent.fleet.add("box2"), "Other talk")
    async with opened(agent, state=state) as seat:
        await seat.press("m", *"half", "escape", "2", sees="box2")
        await seat.go_to("box2", "o", sees=("[1 Conversations]", "Other talk"))
        await seat.until(lambda: seat.table.cursor_id == "c2")
        await seat.go_to(ID, "enter", until=lambda: composer(seat).text == "half")
        another = Connection("another", "http://another.test")
        seat.deck.connections.keys.type(another, SecretStr("no key"))
        await seat.press("question_mark", sees="Keys: ")
        seat.deck.connecting.open(another)
        await seat.sees("The key has a blank", "[1 Conversations]")
        assert not seat.deck.screen.is_modal
        assert not seat.deck.screen.query(Log)


async def test_what_a_server_says_is_only_text_and_the_words_of_a_person_stand_as_typed(agent: FakeAgent) -> None:
    agent.says("# fix __init__.py, *.py\n\n1) a &amp; b", "user")
    agent.says("[/x] \x1b]0;pwned\x07 &#x202e; [@click=app.quit]q[/]")
    agent.add("ObservationEvent", tool_name="[red]", tool_call_id="\x1b[2J", observation={"content": "[/] \x1b[31mx"})
    agent.add("BrandNew\x1b[2J", "hook[/]")
    agent.asks("echo \x1b[2J [/x]")
    async with opened(agent) as seat:
        await seat.sees("you     # fix __init__.py, *.py", "1) a &amp; b")
        await seat.sees("[/x]", "[@click=app.quit]q[/]", "BrandNew", "echo ␛[2J [/x]", lacks=("\x1b", "\u202e"))
