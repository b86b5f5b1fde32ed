import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
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
from tests.fleet.agent import ID, C, FakeAgent, telling
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet
from tests.tui.user import PATIENCE, User, Words, answering, at_deck

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
) -> AsyncIterator[User]:
    """A deck on the conversation of that agent, or on what answers for it."""
    async with at_deck(answering(server or FakeServer(agent)), endpoint, sees="Fix login", **more) as user:
        await user.press("enter", sees="polling", until=lambda: log(user).entries)
        await user.press(sees=sees)
        yield user


@pytest.fixture
async def user(agent: FakeAgent) -> AsyncIterator[User]:
    async with opened(agent) as user:
        yield user


def log(user: User) -> Log:
    return user.deck.screen.query_one(Log)


def composer(user: User) -> TextArea:
    return user.deck.screen.query_one(TextArea)


async def left_and_entered(user: User) -> None:
    await user.press("q", until=lambda: not user.deck.screen.query(Log))
    await user.press("enter", until=lambda: user.deck.screen.query(Log))


async def test_it_follows_at_the_end_and_holds_still_where_somebody_reads(agent: FakeAgent) -> None:
    agent.says_words(range(160))
    async with opened(agent, sees="word 159") as user:
        agent.says("word 160")
        await user.press("ctrl+r", sees="word 160")
        await user.press("pageup", "pageup")
        top = user.line(2).partition("word")
        agent.says_words(range(161, 163))
        await user.press("ctrl+r", sees="2 new below, G")
        assert top[2]
        assert user.line(2).partition("word")[1:] == top[1:]  # its time is told by the fake's days old clock
        await user.press("g", until=lambda: "word 60" in user.text and len(log(user).entries) == 164)
        await user.press("g", sees="word 0")
        await user.press("G", sees="word 162", until=lambda: "new below" not in user.text)
        await user.press("up")
        agent.says_words(range(163, 165))
        await user.press("ctrl+r", sees="2 new below, G")
        await user.resize(80, 36, sees="word 164", until=lambda: "new below" not in user.text)
        await user.press("up")
        await user.resize(60, 20, sees="▌")
        assert "word 160" in user.line_of("▌")


async def test_what_is_selected_with_the_mouse_is_copied_and_holds_still(agent: FakeAgent) -> None:
    agent.says_words(range(40))
    async with opened(agent, sees="word 39") as user:
        lines = user.text.splitlines()
        first = lines.index(user.line_of("word 37"))
        await user.drag((lines[first].index("37"), first), (lines[first + 1].index("38") + 2, first + 1))
        await user.press(sees="Copied the selection")
        assert user.deck.clipboard == f"37\n{lines[first + 1].replace('▌', ' ')}"
        agent.says("word 40")
        await user.press("ctrl+r", sees="1 new below, G")
        await user.press("m", *"go on", "ctrl+s", sees=("word 40", "you"), lacks="new below")


async def test_the_place_and_what_was_unfolded_are_there_again(agent: FakeAgent) -> None:
    agent.says_words(range(60))
    agent.says("\n".join(f"line {number}" for number in range(90)))
    agent.says_words(range(60, 120))
    server = Gated(agent, to(f"{EVENTS}/search"))
    server.gate.set()
    async with opened(agent, server=server) as user:
        await user.press("slash", *"line 7", "enter", "escape", sees="line 0")
        await user.press("enter", *("j",) * 75, sees="line 85")
        shown = user.text.splitlines()[2:14]
        await left_and_entered(user)
        await user.until(lambda: user.text.splitlines()[2:14] == shown)
        await user.press("escape", until=lambda: user.list_screen.is_current)
        server.gate.clear()
        await user.press("enter", sees="Reading…")
        await user.press("escape", until=lambda: user.list_screen.is_current)
        server.gate.set()
        agent.says_words(range(120, 123))
        await user.press("enter", sees="3 new below, G", until=lambda: user.text.splitlines()[2:14] == shown)
        await user.press("escape", until=lambda: user.list_screen.is_current)
        await user.burst("enter", "G", sees="word 122")
        await user.press("ctrl+r", sees="word 122")


async def test_it_is_unread_until_its_end_was_on_the_screen(agent: FakeAgent) -> None:
    agent.says_words(range(60))
    agent.set("running")
    async with opened(agent) as user:
        await user.press("g", sees=("Working", "word 0"))
        agent.says("word 60")
        agent.set("finished")
        await user.press("ctrl+r", sees=("✓ Finished", "new below, G"))
        await user.press("escape", until=lambda: user.list_screen.is_current)
        await user.press("ctrl+r", sees="+ ✓ Finished")
        await user.press("enter", sees="new below, G")
        await user.press("escape", sees="+ ✓ Finished", until=lambda: user.list_screen.is_current)
        await user.press("enter", "G", sees=("word 60", "polling"))
        await user.press("escape", until=lambda: user.list_screen.is_current and "+ ✓" not in user.text)


async def test_the_place_above_a_question_is_there_again_with_the_entry_that_was_looked_at(agent: FakeAgent) -> None:
    agent.says_words(range(40))
    agent.asks("rm -r build", "git clean", "git push")
    async with opened(agent, sees="needs you: 3 actions") as user:
        await user.press("k", "k", "k")
        shown = user.text.splitlines()[2:14]
        assert any("▌" in line and "word 39" in line for line in shown)
        await left_and_entered(user)
        await user.until(lambda: user.text.splitlines()[2:14] == shown)


async def test_what_is_unfolded_at_the_foot_comes_into_sight(agent: FakeAgent) -> None:
    agent.says_words(range(40))
    seen = {"content": [{"type": "text", "text": "\n".join(f"line {number}" for number in range(20))}], "exit_code": 0}
    agent.add("ObservationEvent", tool_name="terminal", tool_call_id="c", observation=seen)
    async with opened(agent, sees="lines, enter") as user:
        await user.press("enter", sees=("line 12", "line 0"))
        await user.click("line 12", until=lambda: "line 12" not in user.text)
        await user.click("word 39")
        agent.says("word 40")
        await user.press("ctrl+r", sees="1 new below, G", until=lambda: "▌" in user.line_of("word 39"))
        first = user.line(2)
        turn = (None, 9, 9, 0, 0, 0, False, False, False)  # of the wheel, in the log
        user.deck.post_message(events.MouseScrollUp(*turn))
        await user.until(lambda: user.line(5) == first)
        user.deck.post_message(events.MouseScrollDown(*turn))
        await user.until(lambda: user.line(2) == first)


async def test_words_messages_and_failures_are_gone_to(agent: FakeAgent) -> None:
    failed = {"content": [{"type": "text", "text": "no such thing\n" * 9 + "at all"}], "exit_code": 2}
    agent.says_words(range(12))
    agent.add("ObservationEvent", tool_name="terminal", tool_call_id="c", observation=failed)
    agent.says_words(range(12, 40))
    agent.says("second wish", "user")
    async with opened(agent) as user:

        async def lead(*keys: str, to: str) -> None:
            await user.press(*keys, until=lambda: (entry := log(user).cursor_entry) is not None and to in entry.text)

        await lead("left_square_bracket", to="first wish")
        await user.press("left_square_bracket", sees="No message of yours before this one.")
        await user.press("right_curly_bracket", sees="at all")
        await lead("right_square_bracket", to="second wish")
        await lead("left_curly_bracket", to="no such thing")
        await lead("G", "slash", *"WORD 3", "enter", to="word 39")
        await user.press("enter", until=lambda: [x for x in user.text.splitlines() if "word 38" in x and "▌" in x])
        await user.press("escape", "y", sees="Copied the entry, if your terminal takes copies")
        assert user.deck.clipboard == "word 38"
        await lead("slash", *["backspace"] * 6, *"wish", "enter", "enter", to="second wish")
        await user.sees("None before it; gone round to the last one.")
        await lead("enter", to="first wish")
        await user.until(lambda: "None before" not in user.text)
        await user.press(*["backspace"] * 4, *"zzz", "enter", sees="No “zzz” in what")
        await user.press(*["backspace"] * 3)
        await user.paste("first\nwish", "enter", sees="No other “first wish” in what")
        await user.press("escape", "V", sees="No other program can use this terminal.")


async def test_what_is_looked_for_above_what_was_read_is_read_for_the_next_time(agent: FakeAgent) -> None:
    agent.says_words(range(150))
    async with opened(agent) as user:
        agent.unreached = True
        await user.press("g", until=lambda: "answer" in user.line(-2) + user.line(-3))
        agent.unreached = False
        await user.reread(until=lambda: "answer" not in user.text)
        await user.press("left_square_bracket", sees="No message of yours before this one in what had been read.")
        await user.until(lambda: len(log(user).entries) == 151)
        await user.press("left_square_bracket", sees="first wish")


async def test_results_do_not_stand_without_the_commands_of_the_page_before(agent: FakeAgent) -> None:
    commands = [f"echo {number}" for number in range(70)]
    agent.asks(*commands)
    agent.run()
    async with opened(agent) as user:
        await user.until(lambda: [each.title for each in log(user).entries if each.call] == commands)


async def test_everything_about_it_is_shown_on_a_page_and_each_command_is_in_the_palette_once(user: User) -> None:
    await user.press("i", sees=("Fix login", "id              0c0f4ad5", "repository"))
    assert "{" not in user.text.replace("{ Failures", "")
    y, line = next((y, line) for y, line in enumerate(user.text.splitlines()) if "0c0f4ad5" in line)
    await user.drag((line.index("0c0f4ad5"), y), (line.index("0c0f4ad5") + 7, y))
    await user.press(sees="Copied the selection")
    assert user.deck.clipboard == "0c0f4ad5"
    await user.press("escape", "colon", *"back", sees="Go back to the list")
    assert user.text.count("Back  ") == 1


async def test_a_message_that_the_agent_overheard_is_sent_again_when_asked(agent: FakeAgent) -> None:
    agent.set("finished")
    async with opened(agent, sees="The agent ended without reading your last message; R sends it again.") as user:
        await user.press("m", *"draft", sees="esc, then R sends it again.")
        await user.press("escape", "R", sees=("Sent.", "done", "draft"))
        await user.press("R", sees="R is for a message that the agent did not read before it finished;")


async def test_a_conversation_of_which_nothing_can_be_read_says_so() -> None:
    fleet = FakeFleet()
    fleet.talk(ID, fleet.add("box", "PAUSED"), "Fix login")
    async with at_deck(answering(fleet.server), PROD, size=(60, 20), sees="Fix login") as user:
        await user.press("enter", sees=("Nothing could be read. This server keeps no copy", "said."))


async def test_only_keys_in_the_question_answer_and_one_at_most(agent: FakeAgent) -> None:
    agent.asks("rm -r build", "git clean")
    agent.next = ["curl evil"]
    async with opened(agent, sees=("needs you: 2 actions; tab answers", "rm -r build", "git clean", "HIGH")) as user:
        await user.press("y", "n", "a", "r", sees=("tab answers", "The agent waits for an answer"))
        await user.press("n", sees="n does nothing here; tab goes to what the agent asks.")
        assert agent.ran == []
        await user.press("tab", sees=("y accept", "esc back", "a all from here"), lacks="Message")
        await user.burst("y", "y", "y", "y", sees=("curl evil", "needs you: 1 action; tab answers"))
        await user.pause()
        assert (agent.ran, agent.asked.count(ANSWER)) == (["rm -r build", "git clean"], 1)
        assert "Copied" not in user.text
        await user.press("tab", "a", sees="Accept all that follow?")
        await user.press("escape", sees="y accept")
        assert agent.policy == "ConfirmRisky"
        await user.press("a", "y", sees="asks: never")
        assert agent.ran == ["rm -r build", "git clean", "curl evil"]


async def test_a_question_that_changes_takes_the_focus_away_and_is_rejected_with_a_reason(agent: FakeAgent) -> None:
    agent.asks("harmless")
    async with opened(agent) as user:
        await user.press("tab", sees="y accept")
        agent.run()
        agent.asks("rm -r build")
        await user.press("ctrl+r", sees=("rm -r build", "tab answers"))
        await user.press("y", sees="Copied the entry")
        await user.press("m", "l", "s", "escape", sees="a draft; m goes on")
        await user.press("tab", "n", sees=("Reject", "Why"), lacks="any more")
        await user.press(*"use git", "enter")
        await user.sees("rejected", "use git", "Rejected, and your reason sent.", "a draft; m goes on")
        assert composer(user).text == "ls"
        agent.asks("rm -r src")
        await user.press("ctrl+r", sees=("rm -r src", "tab answers"))
        await user.press("tab", "n", sees="enter reject")
        await user.press("escape", sees="y accept")
        await user.press("n", "enter", sees="Rejected; the agent rests until you write to it.")
        assert agent.ran == ["harmless"]


async def test_a_question_longer_than_its_room_is_accepted_only_after_its_end_was_shown(agent: FakeAgent) -> None:
    agent.asks("\n".join(("make build", *[""] * 60, "rm -r /")))
    async with opened(agent, sees="needs you: 1 action") as user:
        for size in ((80, 6), (1, 24), (80, 24)):
            await user.resize(*size)
        await user.press("tab", "y", sees="It asks for more than was shown; read to the end, then accept.")
        await user.burst(*["pagedown"] * 9, sees="rm -r /", until=lambda: "j more" not in user.text)
        assert agent.ran == []
        await user.press("y", until=lambda: agent.ran)


async def test_nothing_is_to_go_on_with_before_anything_was_asked() -> None:
    agent = FakeAgent("1.34.0")
    agent.says("What shall I do?")
    async with opened(agent) as user:
        await user.press("r", sees="Nothing was asked of the agent yet; m writes a message.")
        await user.press("e", sees="e does nothing here; ? shows the keys.")
        await user.press("k", lacks="does nothing here")


async def test_what_the_conversation_showed_last_is_known_to_the_list_that_pauses_its_sandbox(agent: FakeAgent) -> None:
    agent.set("finished")
    async with opened(agent) as user:
        agent.asks("rm -r build")
        await user.press("ctrl+r", sees="needs you: 1 action")
        await user.burst("escape", "p", sees="The agent of Fix login is at work or waits for an answer.")


async def test_a_message_is_sent_and_while_it_asks_the_person_says_what_it_means(agent: FakeAgent, user: User) -> None:
    await user.press("m", *"go on", "enter", *"with care", "ctrl+s", sees=("go on", "with care", "done", "finished"))
    assert (agent.log[1]["llm_message"]["content"][0]["text"], composer(user).text) == ("go on\nwith care", "")
    agent.asks("rm -r build")
    await user.press("escape", "ctrl+r", sees="rm -r build")
    await user.press("m", *"not that", "ctrl+s", sees=("The agent waits for an answer", "esc keep the draft"))
    await user.press("escape", until=lambda: user.deck.screen.query(TextArea) and composer(user).text == "not that")
    user.at_once("ctrl+s", *" yes", "enter", *"quick")  # who still types answers nothing
    await user.until(lambda: user.deck.screen.query(TextArea) and composer(user).text == "not that yes\nquick")
    assert agent.ran == []
    assert not any(event["kind"] == "UserRejectObservation" for event in agent.log)
    await user.press("ctrl+s", "ctrl+n", sees="Rejected, and your reason sent.")
    assert agent.ran == []
    agent.asks("ls build")
    await user.press("ctrl+r", sees="ls build")
    await user.press(*"this", "ctrl+s", sees="^y accept and say")
    await user.press("ctrl+y", until=lambda: agent.ran)


async def test_it_says_what_it_has_cost_how_to_stop_the_agent_and_when_that_asks(agent: FakeAgent, user: User) -> None:
    await user.sees("r Resume", "[ Messages", "m writes a message", "─" * 80, lacks="Pause agent")
    agent.set("running")
    usage, wide = {"per_turn_token": 12_345, "context_window": 200_000}, {"per_turn_token": 10**999}
    for use, context in ((None, ""), (wide, ""), (usage, "ctx 12k/200k  ")):
        spent = {"agent": {"accumulated_cost": 0.5, "accumulated_token_usage": use}, "odd": {"accumulated_cost": 1e999}}
        agent.add("ConversationStateUpdateEvent", key="stats", value={"usage_to_metrics": spent})
        await user.press("ctrl+r", sees=("p Pause agent", f"$0.50  {context}asks: risky"))
    await user.press("m", sees=("^s send", "esc leave; the draft is kept"), lacks=("Pause agent", "m writes"))
    await user.press("escape", "slash", sees=("enter the one before", "esc close", "\n find: enter goes"))
    await user.press("escape", "f2", sees=("p Pause agent", "Ask always", "Never ask"))
    await user.press("1", sees=("asks: always", "until the agent server restarts"))
    await user.press("f2", "3", sees=("Never ask?", "It does everything from now on without asking."))
    await user.press("y", sees="asks: never")
    await user.press("f2", "2", sees="asks: risky")
    agent.set("finished")
    await user.press("ctrl+r", sees="✓ Finished")
    await user.press("r", sees="It had finished; a message makes it go on.")
    await user.press("f2", sees="Resume            It had finished")


async def test_a_draft_is_kept_until_it_is_sent_also_for_the_next_run(agent: FakeAgent, state: KeptState) -> None:
    words = "half a thought\n\tहिन्दी நான் نمی\u200cخواهم 👍🏽 ❤️"
    async with opened(agent, state=state) as user:
        await user.press("m")
        await user.paste(words, "escape")
        await left_and_entered(user)
        assert composer(user).text == words
    async with opened(agent, state=state) as user:
        await user.until(lambda: composer(user).text == words)
        await user.press("m", "ctrl+s", sees="Sent.")
        assert agent.log[1]["llm_message"]["content"][0]["text"] == words
    async with opened(agent, state=state, sees="half a thought") as user:
        assert composer(user).text == ""
        await user.press("m", *"more", "ctrl+q", until=lambda: user.deck.return_code is not None)
    async with opened(agent, state=state) as user:
        await user.until(lambda: composer(user).text == "more")


async def test_a_terminal_resized_while_a_message_is_typed_has_its_cursor_in_sight(user: User) -> None:
    await user.press("m")
    await user.paste("words and more of them, " * 30 + "the end", sees="the end")
    await user.resize(60, 20, sees="the end")


async def test_leaving_does_not_end_what_is_sent_and_keeps_what_is_typed(agent: FakeAgent, state: KeptState) -> None:
    agent.set("running")
    server = Gated(agent, to(EVENTS))
    async with opened(agent, state=state, server=server) as user:
        await user.press("m", *"go on", "ctrl+s", sees="sending")
        await user.press("escape")
        await left_and_entered(user)
        await user.press("m", *"more", sees="a message is being sent", until=lambda: composer(user).text == "more")
        agent.set("idle")
        server.gate.set()
        await user.press(sees=("Sent.", "go on", "done"), until=lambda: "being sent" not in user.text)
        await user.press("escape", sees="a draft; m goes on")
    async with opened(agent, state=state) as user:
        await user.until(lambda: composer(user).text == "more")


async def test_what_is_not_sent_is_a_draft(agent: FakeAgent, state: KeptState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering_rules, "READ_WITHIN", 0.0)
    server = Gated(agent, to(EVENTS))
    async with opened(agent, state=state, server=server) as user:
        await user.press("m", *"go on", "ctrl+s", sees="sending")
        await user.press("escape", "q", until=lambda: not user.deck.screen.query(Log))
        agent.unreached = True
        server.gate.set()
        await user.sees("Fix login: The log cannot be read, so it is not known whether")
        agent.unreached = False
        await user.press("enter", until=lambda: user.deck.screen.query(Log) and composer(user).text == "go on")
    async with opened(agent, state=state) as user:
        await user.until(lambda: composer(user).text == "go on")


async def test_what_was_being_sent_at_the_end_is_perhaps_sent(
    agent: FakeAgent, tmp_path: Path, state: KeptState, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Gated(agent, to(EVENTS))
    async with opened(agent, state=state, server=server) as user:
        await user.press("m", *"one", "ctrl+s", *"two", "ctrl+s", *"three")
        async with asyncio.timeout(PATIENCE):
            while not any("three" in file.read_text() for file in tmp_path.rglob("*.json")):
                await user.press("x", "backspace")  # no pause is made
        await user.press("!", until=lambda: any('three!"' in file.read_text() for file in tmp_path.rglob("*.json")))
        monkeypatch.setattr(drafts, "is_running", lambda process: False)
        async with opened(agent, state=state, sees="perhaps sent before: look above") as other:
            assert composer(other).text == "one\ntwo\nthree!"
            await left_and_entered(other)
            await other.sees("perhaps sent before: look above")
            assert composer(other).text == "one\ntwo\nthree!"
            await other.press("m", "end", "up", "ctrl+u", "escape", sees="a draft; m goes on")
        server.gate.set()


async def test_what_was_sent_on_a_connection_that_was_opened_anew_is_no_draft(
    agent: FakeAgent, tmp_path: Path, state: KeptState
) -> None:
    server, kept = Gated(agent, to(EVENTS)), partial(tmp_path.rglob, "drafts/*.json")
    async with opened(agent, state=state, server=server) as user:
        await user.press("m", *"go on", "ctrl+s", "escape", until=lambda: server.waited and any(kept()))
        user.deck.connecting.open(user.deck.endpoint)
        await user.until(lambda: not user.deck.screen.query("Log, #frame"))
        await user.press("enter", until=lambda: user.deck.screen.query(Log))
        server.gate.set()
        await user.until(lambda: not any(kept()))


async def test_messages_that_the_log_does_not_have_come_back_in_order(agent: FakeAgent) -> None:
    server = Gated(agent, to(EVENTS))
    async with opened(agent, server=server) as user:
        await user.press("m", *"one", "ctrl+s", *"two", "ctrl+s", *"three", sees="a message is being sent")
        agent.drops = True
        server.gate.set()
        await user.until(lambda: composer(user).text == "one\ntwo\nthree" and "sending" not in user.text)
        await user.sees("The log does not have", "your message. Send it again.")
        assert agent.asked.count(f"POST {EVENTS}") == 2, "each was sent once"


async def test_a_message_that_the_log_shows_before_its_answer_is_lost_was_sent(agent: FakeAgent) -> None:
    server, agent.loses_answers = Gated(agent, to(EVENTS), acts_first=True), True
    agent.meanwhile["/run"] = lambda: setattr(agent, "loses_answers", False)
    async with opened(agent, server=server) as user:
        await user.press("m", *"go on", "ctrl+s", "ctrl+r", until=lambda: "sending" not in user.text)
        server.gate.set()
        await user.sees("Sent.", "done")
        assert (composer(user).text, user.text.count("go on")) == ("", 1)


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
    async with opened(agent, state=state) as user:
        await user.until(lambda: sorted(composer(user).text.splitlines()) == ["bbb", "ccc"])


async def test_a_draft_that_cannot_be_stored_is_there_until_one_leaves(agent: FakeAgent, tmp_path: Path) -> None:
    no_folder = tmp_path / "state"
    no_folder.write_text("a file")
    async with opened(agent, state=KeptState(no_folder)) as user:
        await user.press("m", *"aaa", "escape", sees="The draft is not kept")
        await left_and_entered(user)
        await user.until(lambda: composer(user).text == "aaa")


async def test_it_is_stopped_and_goes_on_and_the_end_that_was_seen_is_read(agent: FakeAgent, state: KeptState) -> None:
    agent.set("running")
    async with opened(agent, state=state, sees="Working") as user:
        await user.press("p", sees=("Stopped.", "Agent paused", "m Message  r Resume"))
        await user.press("p", sees="The agent does not work now.")
        await user.press("r", sees=("It was asked to go on.", "✓ Finished"))
    async with at_deck(answering(FakeServer(agent)), PROD, state=state, sees="✓ Finished") as user:
        assert "unread" not in user.text, "it was open when it came to that"


async def test_a_paused_sandbox_is_said_with_age_and_resumed(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    for rest in ("fleet.following.POLL", "fleet.watch.HIDDEN", "tui.widgets.bars.STAYS"):
        monkeypatch.setattr(f"quarterdeck.{rest}", 3600.0)
    left = {"content": [], "exit_code": -1}
    agent.add("ObservationEvent", tool_name="terminal", tool_call_id="left", observation=left)
    agent.asks("rm -r build")
    async with opened(agent) as user:
        agent.set("running")
        await user.press("ctrl+r", sees=("● Working", "runs on"), until=lambda: "  terminal" in user.line(1))
        await user.press("2", "1", until=lambda: user.deck.screen.query(Log))
        await user.press("y", sees="Copied the entry")
        agent.sandbox, agent.unreached = "PAUSED", True
        await user.press(sees=("sandbox paused, log as of", "r resumes it", "ran on"), lacks="◔")
        assert "terminal" not in user.line(1)
        await user.press("p", sees="The agent does not work now.")
        await user.press("f2", "3", sees="Its sandbox is paused.")
        await user.press("escape", "m", "r", sees="Its sandbox is paused. esc, then r resumes it.")
        await user.press("ctrl+s", sees="Its sandbox is paused. Nothing was sent; esc, then r resumes it.")
        assert composer(user).text == "r"
        await user.press("escape", "r", sees=("Resume its sandbox?", "You can write to its agent again once it runs."))
        await user.press("escape", sees=("first wish", "a draft; m goes on"))
        agent.sandbox = "MISSING"
        await user.press("ctrl+r", sees=("it can only be read", "─ a draft ─"), lacks="Pause agent")


async def test_a_conversation_that_is_gone_or_whose_sandbox_is_takes_no_message(agent: FakeAgent, user: User) -> None:
    agent.asks("rm -r build")
    await user.press("ctrl+r", sees=("m writes a message", "needs you: 1 action"))
    agent.sandbox, agent.unreached = "MISSING", True
    await user.press("m", "ctrl+r", sees="it can only be read", until=lambda: "needs you" not in user.text)
    await user.press("i", until=lambda: composer(user).text == "i")
    await user.press("backspace", "escape", until=lambda: "m writes" not in user.text)
    await user.press("m", "r", sees="first wish", until=lambda: "r Resume" not in user.line(-1), lacks="◆")
    assert user.deck.focused is log(user)
    agent.sandbox = None
    await user.press("ctrl+r", sees="The server does not have this conversation any more.")
    await user.press("m", sees="The server does not have this conversation any more.", lacks="Needs you")
    assert user.deck.focused is log(user)


async def test_a_question_that_cannot_be_answered_now_says_so_and_names_no_keys(agent: FakeAgent) -> None:
    agent.asks("rm -r build")
    async with opened(agent, endpoint=replace(PROD, read_only=True)) as user:
        await user.press("tab", "y", sees=("read-only", "needs you: 1 action ━"), lacks="m writes")
        for key in "na":
            await user.press("tab", key, sees="is read-only. No answer was sent.", lacks=("Why", "follow?"))
        await user.press("m", until=lambda: not isinstance(user.deck.focused, TextArea))
    async with opened(agent, sees="tab answers") as user:
        await user.press("tab", sees="y accept")
        agent.unreached = True
        await user.press("y", sees=" was sent")  # nothing, or no answer: it may be known already that it is not reached
        assert ANSWER not in agent.asked
        agent.sandbox = "PAUSED"
        await user.press("ctrl+r", sees="needs you: 1 action ━", lacks="tab Answer")
        await user.press("tab", sees=("needs you: 1 action ━", "Its sandbox is paused. r resumes it."))
        await user.press("n", sees="Its sandbox is paused. No answer was sent.")
        await user.press("m", *"why", "ctrl+s", sees="Nothing was sent; esc, then r resumes it.")
    assert agent.ran == []


async def test_what_is_being_written_is_said_to_be_work_and_not_whole(agent: FakeAgent) -> None:
    async with telling(agent) as teller, at_deck(answering(None), Connection("it", agent.host), sees="Fix") as user:
        await user.press("enter", sees="○ Idle", until=lambda: teller.server.connections)
        teller.tell(kind="StreamingDeltaEvent", id="d", source="agent", content="word " * 1000)
        await user.sees("● Working", "live")
        await user.press("enter", sees="It is still being written; all of it can be shown once it has ended.")


async def test_what_a_message_means_is_not_asked_any_more_once_no_answer_can_be_sent(agent: FakeAgent) -> None:
    agent.asks("rm -r build")
    async with opened(agent, sees="tab answers") as user:
        await user.press("m", *"why", "ctrl+s", sees="^y accept and say")
        agent.sandbox, agent.unreached = "PAUSED", True
        await user.reread(until=lambda: "accept and say" not in user.text)
        await user.sees("Its sandbox is paused. esc, then r resumes it.", "why")
    assert agent.ran == []
    agent.sandbox, agent.unreached = "RUNNING", False
    async with opened(agent, sees="tab answers") as user:
        await user.press("m", *"why", "ctrl+s", sees="^y accept and say")
        agent.reject()  # as somebody else tells it
        await user.reread()
        await user.sees("The agent does not wait for an answer any more; nothing was sent.", lacks="accept and say")
        agent.asks("rm -r docs")
        await user.reread(until=lambda: "rm -r docs" in user.text)
        await user.press("escape", "tab", "n", *"not", sees="not", lacks="any more")
        agent.reject()
        await user.reread(sees=("The agent does not ask this any more", "enter keep as a draft"))
        await user.press("enter", sees="It did not wait for an answer; none was sent.")
        assert composer(user).text == "not\nwhy"


async def test_a_sandbox_known_as_paused_is_resumed_while_the_conversation_still_opens(agent: FakeAgent) -> None:
    server = Gated(agent, to(CONVERSATIONS))
    server.gate.set()
    async with opened(agent, server=server) as user:
        agent.sandbox, agent.unreached = "PAUSED", True
        await user.press("q", "ctrl+r", sees="1 Sandbox paused")
        server.gate.clear()
        await user.press("enter", sees="opening")
        await user.press("r", sees="Resume its sandbox?")
        server.gate.set()


async def test_a_question_is_gone_to_as_soon_as_it_is_read(agent: FakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(agent) as user:
        monkeypatch.setattr(conversation, "PAINTED_EVERY", 3600.0)
        agent.asks("rm -r build")
        await user.press("ctrl+r", until=lambda: "Needs you" in user.line(1))
        await user.press("tab", sees=("rm -r build", "y accept"))


async def test_it_closes_when_another_conversation_or_connection_is_opened(agent: FakeAgent, state: KeptState) -> None:
    agent.fleet.talk("c2", agent.fleet.add("box2"), "Other talk")
    async with opened(agent, state=state) as user:
        await user.press("m", *"half", "escape", "2", sees="box2")
        await user.go_to("box2", "o", sees=("[1 Conversations]", "Other talk"))
        await user.until(lambda: user.table.cursor_id == "c2")
        await user.go_to(ID, "enter", until=lambda: composer(user).text == "half")
        another = Connection("another", "http://another.test")
        user.deck.connections.keys.type(another, SecretStr("no key"))
        await user.press("question_mark", sees="Keys: ")
        user.deck.connecting.open(another)
        await user.sees("The key has a blank", "[1 Conversations]")
        assert (user.deck.screen.is_modal, len(user.deck.screen.query(Log))) == (False, 0)


async def test_what_is_typed_when_its_connection_is_opened_anew_is_kept_or_does_nothing(agent: FakeAgent) -> None:
    agent.asks("rm -r build")
    async with opened(agent, sees="tab answers") as user:
        before = user.session
        await user.press("tab", "n", *"use git")
        user.deck.connecting.open(user.deck.endpoint)
        await user.until(lambda: user.deck.session not in (None, before))
        await user.press(*" mv", "enter", until=lambda: not user.deck.screen.query("Log, #frame"))
        await user.press("enter", "m", until=lambda: composer(user).text == "use git mv")
        user.deck.connecting.open(user.deck.endpoint)
        await user.until(lambda: not user.deck.screen.query(Log))
        await user.press("s", sees="press it again.", lacks="▲")


async def test_what_a_server_says_is_only_text_and_the_words_of_a_person_stand_as_typed(agent: FakeAgent) -> None:
    agent.says("# fix __init__.py, *.py\n\n1) a &amp; b", "user")
    agent.says("[/x] \x1b]0;pwned\x07 &#x202e; [@click=app.quit]q[/]")
    agent.add("ObservationEvent", tool_name="[red]", tool_call_id="\x1b[2J", observation={"content": "[/] \x1b[31mx"})
    agent.add("BrandNew\x1b[2J", "hook[/]")
    agent.asks("echo \x1b[2J [/x]")
    async with opened(agent, sees=("you     # fix __init__.py, *.py", "1) a &amp; b")) as user:
        await user.sees("[/x]", "[@click=app.quit]q[/]", "BrandNew", "echo ␛[2J [/x]", lacks=("\x1b", "\u202e"))
