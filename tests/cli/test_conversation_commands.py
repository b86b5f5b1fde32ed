"""One conversation from the command line: read, written to, answered, stopped and waited for."""

import json
import shlex
import signal
from functools import partial
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.serving import Program, at_an_address
from tests.client.fakes import Answer, Asked
from tests.fleet.agent import ID, FakeAgent
from tests.tui.fake_fleet import CONVERSATIONS, FakeFleet


@pytest.fixture
def talk(on: Run) -> Run:
    return partial(on, "conversations")


def one_that(talk: Run, **members: str) -> Any:
    return next(each for each in talk("list", "--json").json if members.items() <= each.items())


def one_whose_agent(talk: Run, status: str) -> str:
    return str(one_that(talk, execution_status=status)["id"])


def question(talk: Run, one: str) -> list[str]:
    return [action["id"] for action in talk("wait", one, "--json", status=4).json["question"]]


def log(talk: Run, one: str) -> list[Any]:
    return [json.loads(line) for line in talk("show", one, "--json").out.splitlines()]


def test_a_conversation_is_shown_an_event_a_line(talk: Run) -> None:
    one = one_whose_agent(talk, "finished")
    events = log(talk, one)
    assert len({event["id"] for event in events}) == len(events) > 20
    assert [event["kind"] for event in events][:2] == ["SystemPromptEvent", "MessageEvent"]
    shown = talk("show", one)
    assert all(line[:19].startswith("20") and line.isprintable() for line in shown.out.splitlines())
    assert any("git status --short" in line for line in shown.out.splitlines())
    assert any("failed (1):" in line for line in shown.out.splitlines())


def test_nothing_is_sent_to_one_that_waits_until_all_it_asks_about_is_accepted_by_its_ids(talk: Run) -> None:
    one = one_whose_agent(talk, "waiting_for_confirmation")
    before = log(talk, one)
    assert "it asks to be allowed" in talk("show", one).err
    assert "so nothing was stopped" in talk("stop", one, status=4).err
    ended = talk("send", one, "do not do that", status=4)
    assert ended.out == "waiting_for_confirmation\n"
    [asked] = question(talk, one)[:1]
    assert asked in ended.err
    assert "--accept" in ended.err
    assert "something else by now; no answer was sent" in talk("send", one, "--accept", "another", status=4).err
    assert log(talk, one) == before
    assert talk("send", one, "--accept", ",".join(question(talk, one))).err == "quarterdeck: Accepted.\n"
    kinds = [(event["kind"], event.get("value")) for event in log(talk, one)]
    assert ("ConversationStateUpdateEvent", "running") in kinds[-3:]


def test_a_question_whose_answer_is_not_in_the_log_yet_is_not_asked_again(run: Run) -> None:
    agent, reads, late = FakeAgent(version=""), 0, list[Any]()

    def script(asked: Asked) -> Answer | Exception:
        nonlocal reads
        given = agent(asked)
        if asked.path.endswith("/respond_to_confirmation"):
            late[:], agent.log[-3:] = agent.log[-3:-1], agent.log[-1:]  # a result and the next action
        reads += bool(late) and asked.path.endswith("/events/search")
        if reads == 2:
            agent.log += late
        return given

    agent.asks("make one")
    agent.next = ["make two"]
    with at_an_address(script) as agent.host:
        words = ("conversations", "send", ID, "--url", agent.host, "--accept", "e0", "--wait")
        asked = run(*words, status=4).err
    assert ("make one" in asked, "make two" in asked) == (False, True)


def test_a_no_says_why_and_the_agent_goes_on_with_that(talk: Run) -> None:
    one = one_whose_agent(talk, "waiting_for_confirmation")
    talk("send", one, "--reject", "Not over what others have pushed.")
    texts = [event["llm_message"]["content"] for event in log(talk, one) if event["kind"] == "MessageEvent"]
    assert texts[-1][0]["text"] == "Not over what others have pushed."
    assert "UserRejectObservation" in {event["kind"] for event in log(talk, one)}
    talk("wait", one, "--timeout", "0.2", status=6)


def test_one_that_works_is_stopped_and_written_to_and_waited_for(talk: Run) -> None:
    one = one_whose_agent(talk, "running")
    assert talk("wait", one, "--timeout", "0.2", status=6).out == "running\n"
    assert talk("wait", one, "--timeout", "0.2", "--json", status=6).json["status"] == "running"
    assert talk("stop", one).out == talk("wait", one).out == "paused\n"
    talk("send", one, "--wait", "--timeout", "0.5", "-", typed="Go on, please", status=6)
    assert talk("stop", one, "--json").json["status"] == "paused"


@pytest.mark.parametrize("on", [200], indirect=True)
@pytest.mark.parametrize(
    ("status", "ends"), [("finished", 0), ("idle", 0), ("stuck", 5), ("error", 5), ("waiting_for_confirmation", 4)]
)
def test_waiting_ends_with_what_it_came_to(talk: Run, status: str, ends: int) -> None:
    one = one_whose_agent(talk, status)
    assert talk("wait", one, status=ends).out == f"{status}\n"
    talk("wait", one, "--for", "needs-you", "--timeout", "0.2", status={0: 6, 4: 0, 5: 5}[ends])


def test_what_is_gone_says_so(talk: Run) -> None:
    for command in ("wait", "stop", "show"):
        assert talk(command, "0" * 32, status=5).out == "not found\n"
        wrong = talk(command, "nope", status=2)
        assert wrong.out == ""
        assert "'nope' is no id of a conversation." in wrong.err
    for sandbox, word in (("MISSING", "gone"), ("ERROR", "in error")):
        lost = one_that(talk, sandbox_status=sandbox)["id"]
        assert talk("wait", lost, status=5).out == f"sandbox {word}\n"
        assert "Nothing was sent." in talk("send", lost, "hello", status=5).err
    asleep = one_that(talk, sandbox_status="PAUSED")
    assert talk("wait", asleep["id"]).out == "sandbox paused\n"
    refused = talk("send", asleep["id"], "hello", status=1).err
    assert refused.startswith("quarterdeck: Its sandbox is paused. Nothing was sent. ")
    assert f"sandboxes resume {asleep['sandbox_id']}\n" in refused
    assert talk("show", asleep["id"]).out


def test_a_title_that_the_server_does_not_take_is_given_afterwards_and_a_refusal_is_told(run: Run) -> None:
    fleet = FakeFleet(nested=True)
    fleet.says[f"POST {CONVERSATIONS}"] = Answer({"id": "t", "status": "READY", "app_conversation_id": "a"})
    fleet.talk("a", "b1", "Conversation a")

    def script(asked: Asked) -> Answer | Exception:
        given = fleet.answer(asked)
        if asked.method == "PATCH" and fleet.conversations["a"]["title"] == "Mine" and len(fleet.orders) == 1:
            fleet.conversations["a"] = {**fleet.conversations["a"], "title": "Summary"}  # after the first message
        return given

    with at_an_address(script) as url:
        command = ("conversations", "create", "--title", "Mine", "--url", url, "--json")
        assert run(*command, "--message", "Hello").json["title"] == fleet.conversations["a"]["title"] == "Mine"
        fleet.conversations["a"]["title"] = "Other"
        fleet.deaf.add("a")
        refused = run(*command)
    assert refused.json["title"] == "Other"
    assert "It is called Other: " in refused.err


@pytest.mark.parametrize(
    "words", ["", "' '", "--wait hello there", "--reject no hello", "--accept a --reject no", "hello --timeout soon"]
)
def test_what_means_nothing_is_wrong_usage(run: Run, words: str) -> None:
    run("conversations", "send", "0" * 32, *shlex.split(words), status=2)


def test_an_empty_message_creates_nothing(run: Run) -> None:
    assert "empty" in run("conversations", "create", "--message", "-", typed="\n", status=2).err
    for words in ("--repository 'not a repo'", "--branch main"):
        assert "OWNER/NAME" in run("conversations", "create", *shlex.split(words), status=2).err
    assert run("conversations", "list", "--json").json == []


def test_following_goes_on_until_it_is_ended(talk: Run) -> None:
    one = one_whose_agent(talk, "running")
    following = Program("conversations", "show", one, "--follow", "--json")
    told = {json.loads(following.out.readline())["id"] for _ in log(talk, one)}
    assert json.loads(following.out.readline())["id"] not in told
    following.process.send_signal(signal.SIGTERM)
    following.out.read()
    assert following.ended()[0] == 0


def test_where_no_agent_runs_messages_are_kept_and_nobody_answers(run: Run) -> None:
    one = run("conversations", "create", "--message", "-", typed="hello\nthere").out.strip()
    assert [each["title"] for each in run("conversations", "list", "--json").json] == ["hello"]
    run("conversations", "send", one, "--json", "Are you there?")
    shown = run("conversations", "show", one).out
    assert "you hello there" in shown
    assert "No agent runs here" in shown
    assert "you Are you there?" in shown
    assert run("conversations", "wait", one).out == "idle\n"
    run("--read-only", "conversations", "send", one, "no", status=1)
