"""One conversation from the command line: read, written to, answered, stopped and waited for."""

import json
import shlex
import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Ended, Run
from tests.cli.serving import KEY, Program, answering, at_an_address, simulating
from tests.client.fakes import Answer, Asked
from tests.tui.fake_fleet import CONVERSATIONS, FakeFleet

Record = dict[str, Any]


@pytest.fixture(scope="module")
def simulated() -> Iterator[tuple[str, list[Record]]]:
    """The address of a simulation, and its conversations as they are at first."""
    with answering(simulating(250)) as url, httpx.Client(base_url=url, headers={"X-Session-API-Key": KEY}) as http:
        listed: list[Record] = []
        page: Record = {"next_page_id": "0"}
        while page["next_page_id"] is not None:
            page = http.get("/api/v1/app-conversations/search", params={"page_id": page["next_page_id"]}).json()
            listed += page["items"]
        yield url, listed


class Simulated:
    def __init__(self, run: Run, listed: list[Record]) -> None:
        self._run = run
        self.listed = listed

    def __call__(self, *words: str, typed: str | None = None, status: int = 0) -> Ended:
        return self._run("conversations", *words, typed=typed, status=status)

    def one(self, status: str, which: int = 0) -> str:
        """The id of one whose agent reads so at first."""
        return str([one["id"] for one in self.listed if one["execution_status"] == status][which])

    def question(self, one: str) -> list[str]:
        return [action["id"] for action in self("wait", one, "--json", status=4).json["question"]]

    def log(self, one: str) -> list[Any]:
        return [json.loads(line) for line in self("show", one, "--json").out.splitlines()]


@pytest.fixture
def on(run: Run, simulated: tuple[str, list[Record]], monkeypatch: pytest.MonkeyPatch) -> Simulated:
    url, listed = simulated
    monkeypatch.setenv("QUARTERDECK_API_KEY", KEY)
    monkeypatch.setenv("QUARTERDECK_URL", url)
    return Simulated(run, listed)


def test_a_conversation_is_shown_an_event_a_line(on: Simulated) -> None:
    one = on.one("finished")
    log = on.log(one)
    assert len({event["id"] for event in log}) == len(log) > 20
    assert [event["kind"] for event in log][:2] == ["SystemPromptEvent", "MessageEvent"]
    shown = on("show", one)
    assert all(line[:19].startswith("20") and line.isprintable() for line in shown.out.splitlines())
    assert any("git status --short" in line for line in shown.out.splitlines())
    assert any("failed (1):" in line for line in shown.out.splitlines())


def test_nothing_is_sent_to_one_that_waits_until_all_it_asks_about_is_accepted_by_its_ids(on: Simulated) -> None:
    one = on.one("waiting_for_confirmation")
    before = on.log(one)
    assert "it asks to be allowed" in on("show", one).err
    assert "so nothing was stopped" in on("stop", one, status=4).err
    ended = on("send", one, "do not do that", status=4)
    assert ended.out == "waiting_for_confirmation\n"
    [asked] = on.question(one)[:1]
    assert asked in ended.err
    assert "--accept" in ended.err
    assert "something else than that; nothing was sent" in on("send", one, "--accept", "another", status=4).err
    assert on.log(one) == before
    assert on("send", one, "--accept", ",".join(on.question(one))).err == "quarterdeck: Accepted.\n"
    kinds = [(event["kind"], event.get("value")) for event in on.log(one)]
    assert ("ConversationStateUpdateEvent", "running") in kinds[-3:]


def test_a_no_says_why_and_the_agent_goes_on_with_that(on: Simulated) -> None:
    one = on.one("waiting_for_confirmation", 1)
    on("send", one, "--reject", "Not over what others have pushed.")
    texts = [event["llm_message"]["content"] for event in on.log(one) if event["kind"] == "MessageEvent"]
    assert texts[-1][0]["text"] == "Not over what others have pushed."
    assert "UserRejectObservation" in {event["kind"] for event in on.log(one)}
    on("wait", one, "--timeout", "0.2", status=6)


def test_one_that_works_is_stopped_and_written_to_and_waited_for(on: Simulated) -> None:
    one = on.one("running")
    assert on("wait", one, "--timeout", "0.2", status=6).out == "running\n"
    assert on("wait", one, "--timeout", "0.2", "--json", status=6).json["status"] == "running"
    assert on("stop", one).out == on("wait", one).out == "paused\n"
    on("send", one, "-", "--wait", "--timeout", "0.5", typed="Go on, please", status=6)
    assert on("stop", one, "--json").json["status"] == "paused"


@pytest.mark.parametrize(
    ("status", "word", "ends"),
    [("finished", "finished", 0), ("idle", "idle", 0), ("error", "error", 5), ("waiting_for_confirmation", "", 4)],
)
def test_waiting_ends_with_what_it_came_to(on: Simulated, status: str, word: str, ends: int) -> None:
    one = on.one(status, -1)
    assert on("wait", one, status=ends).out.strip() == (word or status)
    on("wait", one, "--for", "needs-you", "--timeout", "0.2", status={0: 6, 4: 0, 5: 5}[ends])


def test_what_is_gone_says_so(on: Simulated) -> None:
    for command in ("wait", "stop", "show"):
        gone = on(command, "0" * 32, status=5)
        assert gone.out == "not found\n"
        wrong = on(command, "nope", status=2)
        assert wrong.out == ""
        assert "'nope' is no id of a conversation." in wrong.err
    for sandbox, word in (("MISSING", "gone"), ("ERROR", "in error")):
        lost = next(one["id"] for one in on.listed if one["sandbox_status"] == sandbox)
        assert on("wait", lost, status=5).out == f"sandbox {word}\n"
        assert "Nothing was sent." in on("send", lost, "hello", status=5).err
    asleep = next(one for one in on.listed if one["sandbox_status"] == "PAUSED")
    assert on("wait", asleep["id"]).out == "sandbox paused\n"
    refused = on("send", asleep["id"], "hello", status=1).err
    assert refused.startswith("quarterdeck: Its sandbox is paused. Nothing was sent. ")
    assert f"sandboxes resume {asleep['sandbox_id']}\n" in refused
    assert on("show", asleep["id"]).out


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


@pytest.mark.parametrize("words", ["", "' '", "hello --reject no", "--accept a --reject no", "hello --timeout soon"])
def test_what_means_nothing_is_wrong_usage(run: Run, words: str) -> None:
    run("conversations", "send", "0" * 32, *shlex.split(words), status=2)


def test_an_empty_message_creates_nothing(run: Run) -> None:
    assert "empty" in run("conversations", "create", "--message", "-", typed="\n", status=2).err
    for words in ("--repository 'not a repo'", "--branch main"):
        assert "OWNER/NAME" in run("conversations", "create", *shlex.split(words), status=2).err
    assert run("conversations", "list", "--json").json == []


def test_following_goes_on_until_it_is_ended(on: Simulated) -> None:
    one = on.one("running", 1)
    following = Program("conversations", "show", one, "--follow", "--json")
    told = {json.loads(following.out.readline())["id"] for _ in on.log(one)}
    assert json.loads(following.out.readline())["id"] not in told
    following.process.send_signal(signal.SIGTERM)
    following.out.read()
    assert following.ended()[0] == 0


def test_where_no_agent_runs_messages_are_kept_and_nobody_answers(run: Run) -> None:
    one = run("conversations", "create", "--message", "-", typed="hello\nthere").out.strip()
    run("conversations", "send", one, "Are you there?")
    shown = run("conversations", "show", one).out
    assert "you hello there" in shown
    assert "No agent runs here" in shown
    assert "you Are you there?" in shown
    assert run("conversations", "wait", one).out == "idle\n"
    run("--read-only", "conversations", "send", one, "no", status=1)
