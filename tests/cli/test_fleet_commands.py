import json
import os
import shlex
import signal
import socket
from functools import partial
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Ended, Run
from tests.cli.serving import KEY, Program, at_an_address, nohup
from tests.client.fakes import NO_ROUTE, Answer, Asked
from tests.fleet.agent import ID, FakeAgent
from tests.tui.fake_fleet import CONVERSATIONS, SANDBOXES, FakeFleet


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
    said = 'oneline -3 "I will look at what is there."'
    assert all(words in shown.out for words in (said, "  terminal  failed (1):"))
    assert shown.out[19:].startswith("  -  "), "nobody says the first one"


def test_nothing_is_sent_to_one_that_waits_until_all_it_asks_about_is_accepted_by_its_ids(talk: Run) -> None:
    one = one_whose_agent(talk, "waiting_for_confirmation")
    before = log(talk, one)
    assert "it asks to be allowed" in talk("show", one).err
    assert "so nothing was stopped" in talk("stop", one, status=4).err
    ended = talk("send", one, "do not do that", status=4)
    assert ended.out == "waiting_for_confirmation\n"
    assert all(words in ended.err for words in (question(talk, one)[0], "--accept"))
    assert "something else by now; no answer was sent" in talk("send", one, "--accept", "another", status=4).err
    assert log(talk, one) == before
    saying = talk("send", one, "mind the gap", "--accept", ",".join(question(talk, one))).err
    assert saying == "quarterdeck: Sent and accepted.\n"
    kinds = [(event["kind"], event.get("value")) for event in log(talk, one)]
    assert ("ConversationStateUpdateEvent", "running") in kinds[-3:]
    assert "TEXT goes first" in " ".join(talk("send", "--help").out.split())


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
        asked = run("conversations", "send", ID, "--url", agent.host, "--accept", "e0", "--wait", status=4).err
        agent.add("UserRejectObservation", tool_name="terminal", tool_call_id="call0")
        shown = run("conversations", "show", ID, "--url", agent.host).out
    assert ("make one" in asked, "make two" in asked, "rejected" in shown) == (False, True, False)


def test_a_no_says_why_and_the_agent_goes_on_with_that(talk: Run) -> None:
    one = one_whose_agent(talk, "waiting_for_confirmation")
    sent = talk("send", one, "--reject", "Not over what others have pushed.", "--json").json
    assert sent == {"id": one, "status": "running", "question": []}
    told = {event["kind"]: event for event in log(talk, one)}
    assert told["MessageEvent"]["llm_message"]["content"][0]["text"] == "Not over what others have pushed."
    assert "UserRejectObservation" in told


def test_one_that_works_is_stopped_and_written_to_and_waited_for(talk: Run) -> None:
    one = one_whose_agent(talk, "running")
    assert talk("wait", one, "--timeout", "0.2", status=6).out == "running\n"
    assert talk("stop", one).out == talk("wait", one).out == "paused\n"
    talk("send", one, "--wait", "--timeout", "0.5", "-", typed="Go on, please", status=6)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        talk("wait", one, "--timeout", "0.2", "--url", f"http://127.0.0.1:{silent.getsockname()[1]}", status=6)
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
        assert (wrong.out, "'nope' is no id of a conversation." in wrong.err) == ("", True)
    assert talk("show", "0" * 32, status=5).err == "quarterdeck: The server does not have this conversation.\n"
    for sandbox, word in (("MISSING", "gone"), ("ERROR", "in error")):
        lost = one_that(talk, sandbox_status=sandbox)["id"]
        assert talk("wait", lost, status=5).out == f"sandbox {word}\n"
        assert "Nothing was sent." in talk("send", lost, "hello", status=5).err
    one = one_that(talk, sandbox_status="PAUSED")
    assert talk("wait", one["id"]).out == talk("wait", one["id"], "--for=needs-you", status=5).out == "sandbox paused\n"
    resume = f"Resume it first: quarterdeck sandboxes resume {one['sandbox_id']}"
    refused = f"quarterdeck: Its sandbox is paused. Nothing was sent. {resume}\n"
    assert talk("send", one["id"], "hello", status=1).err == refused


def test_a_title_that_the_server_does_not_take_is_given_afterwards_and_a_refusal_is_told(run: Run) -> None:
    fleet = FakeFleet(nested=True)
    fleet.says[f"POST {CONVERSATIONS}"] = Answer({"id": "t", "status": "READY", "app_conversation_id": "a"})
    fleet.talk("a", "b1", "Conversation a")

    def script(asked: Asked) -> Answer | Exception:
        given = fleet.answer(asked)
        if asked.method == "PATCH" and fleet.conversations["a"]["title"] == "Mine" and len(fleet.orders) <= 2:
            fleet.conversations["a"] = {**fleet.conversations["a"], "title": "Summary"}  # after message and answer
        return given

    with at_an_address(script) as url:
        command = ("conversations", "create", "--title", "Mine", "--url", url, "--json")
        assert run(*command, "--message", "Hello").json["title"] == fleet.conversations["a"]["title"] == "Mine"
        fleet.conversations["a"]["title"] = "Other"
        fleet.deaf.add("a")
        refused = run(*command)
    assert refused.json["title"] == "Other"
    assert "It is called Other: " in refused.err


def test_one_that_is_created_is_found_with_and_without_a_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.cli.conversations.EVERY", 0.0)
    fleet, working, before = FakeFleet(), {"id": "t", "status": "WORKING"}, list[Answer]()
    create, read = f"POST {CONVERSATIONS}", f"GET {CONVERSATIONS}/start-tasks"

    def script(asked: Asked) -> Answer | Exception:
        if asked.method == "POST":
            fleet.talk("a", "b1", "Mine")
        return before.pop() if before and asked.path == f"{CONVERSATIONS}/search" else fleet.answer(asked)

    with at_an_address(script) as url:
        command = ("conversations", "create", "--url", url)
        fleet.says[create] = Answer({})
        assert run(*command).out == "a\n"
        assert "which conversation is the new one is unknown" in run(*command, status=1).err
        fleet.says |= {create: Answer(working), f"{read}/search": NO_ROUTE}
        times = ("2026-02-01", "2026-01-01")
        before += [Answer([{"id": each, "created_at": f"{each}T00:00:00Z"}]) for each in reversed(times)]
        # The newest one was deleted meanwhile, so that an older one is seen first, and the new one is listed later.
        found = run(*command)
        assert (found.out, "does not tell how it starts; the one that is new" in found.err) == ("a\n", True)
        fleet.says[read] = Answer([{**working, "status": "READY", "app_conversation_id": "a"}])
        assert run(*command) == Ended("a\n", "quarterdeck: 1/7 beginning.\n")
        fleet.says[f"GET {CONVERSATIONS}"] = Answer([None])
        assert "a was created, but is not listed." in run(*command, status=1).err
        fleet.says[read] = Answer([None])
        assert "no longer knows the start task" in run(*command, status=1).err
        monkeypatch.setattr("quarterdeck.cli.conversations.PATIENCE", 0.0)
        fleet.says[read] = Answer([working])
        assert "still being started" in run(*command, status=1).err
        fleet.says[create] = Answer({**working, "status": "ERROR", "detail": "no model"})
        assert "could not be started: no model" in run(*command, status=1).err


@pytest.mark.parametrize(
    "words", ["", "' '", "--wait hi there", "--reject no hi", "--accept a --reject b", "a --timeout x", "a --timeout 9"]
)
def test_what_means_nothing_is_wrong_usage(run: Run, words: str) -> None:
    run("conversations", "send", "0" * 32, *shlex.split(words), status=2)


def test_an_empty_message_creates_nothing(run: Run) -> None:
    for typed, said in (("\n", "empty"), (b"caf\xe9", "is not text in UTF-8")):
        assert said in run("conversations", "create", "--message", "-", typed=typed, status=2).err
    assert "half a character" in run("conversations", "create", "--message", "caf\udce9", status=1).err
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


def test_where_no_agent_runs_messages_are_kept_and_nobody_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.cli.conversation.BEGINS_WITHIN", 0.1)
    one = run("conversations", "create", "--message", "-", typed="hello\nthere").out.strip()
    assert [each["title"] for each in run("conversations", "list", "--json").json] == ["hello"]
    command = ("conversations", "send", one, "--json", "--wait", "--timeout", "2")
    assert run(*command, "Are you there?").json["status"] == "idle"
    shown = run("conversations", "show", one).out
    assert all(words in shown for words in ("you  hello there", "No agent runs here", "you  Are you there?"))
    run("--read-only", "conversations", "send", one, "no", status=1)


def listed(on: Run, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = on("sandboxes", "list", "--json", *arguments).json
    return found


def ids(on: Run, status: str) -> list[str]:
    return [one["id"] for one in listed(on) if one["status"] == status]


def test_a_filter_asks_for_what_the_deck_asks_for_and_a_table_has_what_was_read_for_it(on: Run) -> None:
    everything = listed(on)
    assert (len(everything), everything[0]["conversations"], everything[0]["orphan"]) == (100, None, None)
    orphans = listed(on, "--filter", "orphan")
    assert all(one["orphan"] and one["conversations"] == [] and one["quiet_seconds"] is None for one in orphans)
    assert "  now  " not in on("sandboxes", "list", "--filter", "orphan").out
    inhabited = listed(on, "--filter", "!orphan")
    assert len(orphans) + len(inhabited) == 100
    assert all(one["conversations"] for one in inhabited)
    idle = listed(on, "--filter", "idle>30m !orphan")
    assert min(one["quiet_seconds"] for one in idle) > 1800
    assert {one["status"] for one in idle} <= {"RUNNING", "STARTING"}
    title = inhabited[0]["conversations"][0]["title"]
    assert inhabited[0]["id"] in {one["id"] for one in listed(on, "--filter", f'"{title}"')}
    assert "sentinel" not in json.dumps(everything + inhabited)
    assert "simulated-" not in json.dumps([one["exposed_urls"] for one in everything])
    living = on("conversations", "list", "--json", "--filter", "orphan").json
    assert {one["sandbox_status"] for one in living} == {"MISSING"}
    for typed in ("cost>abc", "unread", "!watched"):
        on("conversations", "list", "--filter", typed, status=2)
    asked = on("sandboxes", "list", "--filter", "cost>0.01").out
    assert ("SPENT" in asked.splitlines()[0], "$" in asked) == (True, True)
    for noun, word, title in (("conversations", "Working", "STATE"), ("sandboxes", "Paused", "STATUS")):
        head, *rows = on(noun, "list", "--filter", f"status:{word}").out.splitlines()
        assert {title, "(UTC)", "SPENT"} & {*head.split()} == {title, "(UTC)"}
        assert rows
        assert all(f"  {word}  " in row for row in rows)


def test_a_filter_that_is_not_understood_whole_or_names_nothing_is_wrong_usage_and_does_nothing(on: Run) -> None:
    before = listed(on)
    for typed in ("idle>abc", "status:", "for>1h", "idle>30", "colour:red"):
        for command in (("list",), ("pause",), ("delete", "--yes")):
            assert on("sandboxes", *command, "--filter", f"status:running {typed}", status=2).out == ""
    for verb in ("pause", "resume", "delete"):  # to name nothing never means all
        for arguments in ((), ("--filter", ""), ("--filter", "  ")):
            assert on("sandboxes", verb, *arguments, status=2).out == ""
    assert listed(on) == before
    for command in (("sandboxes", "list"), ("sandboxes", "pause"), ("conversations", "list")):
        assert "is called" not in on(*command, "--filter", "nobody-is-called-so status:start", status=3).err
        for typed in ("status:start,bogus", "!status:bogus"):
            refused = on(*command, "--filter", typed, status=2)
            assert (refused.out, "is called bogus. There are " in refused.err) == ("", True)
    assert "is called bogus." in on("sandboxes", "list", "--watch", "--filter", "!status:bogus", status=2).err
    assert "--yes deletes 0 of 1." in on("sandboxes", "delete", "nobody", status=2).err


def test_a_dry_run_does_nothing_and_what_a_filter_lets_through_is_paused_and_read_so(on: Run) -> None:
    before, told = listed(on), on("sandboxes", "pause", "--filter", "age>1s", "--dry-run", "--json")
    planned = {one["id"]: (one["result"], one["done"]) for one in told.json}
    for one in before:
        assert planned[one["id"]] == ("planned" if one["status"] in {"RUNNING", "STARTING"} else "skipped", False)
    assert all(one["why"] for one in told.json if one["result"] == "skipped")
    assert "simulated-node" in on("sandboxes", "start", "simulated-node", "--dry-run").out
    on("sandboxes", "start", "no-such", "--dry-run", status=1)
    assert listed(on) == before
    running, other = ids(on, "RUNNING")[:2], ids(on, "PAUSED")[0]
    ended = on("sandboxes", "pause", *running, other, "--filter", f"status:running,paused !id:{running[1]}", "--json")
    results = {one["id"]: (one["result"], one["status"]) for one in ended.json}
    assert results == {running[0]: ("done", "PAUSED"), other: ("skipped", "PAUSED")}
    assert running[0] in ids(on, "PAUSED")
    assert running[1] in ids(on, "RUNNING")


def test_what_is_named_and_cannot_be_done_is_a_failure_and_deleting_needs_its_word(on: Run) -> None:
    failed = ids(on, "ERROR")[0]
    ended = on("sandboxes", "resume", failed, "nobody", "-dash", "--json", status=1)
    assert {one["id"]: one["result"] for one in ended.json} == {failed: "skipped", "nobody": "gone", "-dash": "gone"}
    told = [line.split()[1:3] for line in ended.err.splitlines()]
    assert told == [[f"{failed}:", "It"], ["nobody:", "There"], ["-dash:", "There"]]
    on("sandboxes", "resume", "--filter", f"id:{failed}")
    doomed, *others = ids(on, "PAUSED")[:9]
    refused = on("sandboxes", "delete", doomed, status=2)
    assert (doomed in refused.out, "--yes" in refused.err, len(listed(on))) == (True, True, 100)
    ended = on("sandboxes", "delete", doomed, *others, "--yes")
    assert sorted(ended.out.splitlines()) == sorted(f"{each}  Deleted" for each in (doomed, *others))
    assert doomed not in {one["id"] for one in listed(on)}


def test_a_start_that_is_answered_with_a_failure_is_none_and_addresses_hold_no_secret(run: Run) -> None:
    url = "http://me:sentinel-1@box:8000/vscode?tkn=sentinel-2#sentinel-3"
    urls, fleet = [{"name": "VSCODE", "url": url, "port": 8000}], FakeFleet()
    fleet.sandboxes["b1"] = {"id": "b1", "status": "ERROR", "session_api_key": "sentinel-4", "exposed_urls": urls}
    fleet.says[f"POST {SANDBOXES}"] = Answer(fleet.sandboxes["b1"])
    with at_an_address(fleet.answer) as address:
        assert "b1  " in run("sandboxes", "list", "--url", address).out, "though it lacks most members"
        listed = run("sandboxes", "list", "--json", "--url", address)
        started = run("sandboxes", "start", "--url", address, status=1)
    assert listed.json[0]["exposed_urls"] == [{"name": "VSCODE", "address": "http://box:8000/vscode", "port": 8000}]
    assert "sentinel" not in listed.out + started.out + started.err
    assert started.out == ""
    assert "b1 was started, but is ERROR" in started.err


def test_a_sandbox_is_not_called_free_while_a_start_could_not_be_read(run: Run) -> None:
    fleet = FakeFleet.of(1, tasks=[{"id": "t1", "sandbox_id": "box00"}])
    with at_an_address(fleet.answer) as url:
        listed = run("sandboxes", "list", "--json", "--url", url, "--filter", "status:running !cost>1", status=1)
        free = run("sandboxes", "delete", "--yes", "--url", url, "--filter", "no-conversation", status=1)
    assert (listed.json[0]["orphan"], listed.json[0]["conversations"]) == (None, None)
    assert "Records that could not be read: 1." in listed.err
    assert "Records that could not be read and are left alone: 1." in free.err
    assert fleet.orders == []


def test_where_sandboxes_cannot_be_deleted_it_is_said_that_they_are_still_there(run: Run) -> None:
    fleet = FakeFleet.of(1, says={f"DELETE {SANDBOXES}/box00": NO_ROUTE})
    with at_an_address(fleet.answer) as url:
        told = run("sandboxes", "delete", "box00", "--yes", "--url", url, status=1).err
    assert told.startswith("quarterdeck: box00: It is still there: the server cannot delete sandboxes")


def test_watching_a_server_that_lacks_what_it_takes_is_a_failure(run: Run) -> None:
    with at_an_address(lambda asked: Answer({"items": []}, 403 if "start-tasks" in asked.path else 200)) as url:
        ended = run("sandboxes", "list", "--watch", "--url", url, "--filter", "no-conversation", status=1)
    assert "status 403" in ended.err


def watch(*arguments: str) -> Program:
    """`sandboxes list --watch --json` in a process of its own, once it watches."""
    watching = Program("sandboxes", "list", "--watch", "--json", *arguments)
    assert "watching" in watching.err.readline()
    return watching


def test_watching_tells_changes_and_ends_cleanly_when_told_to(on: Run) -> None:
    paused, deleted = (one["id"] for one in listed(on, "--filter", "status:running !orphan cost>0")[:2])
    resumed = listed(on, "--filter", "status:paused !orphan cost>0")[0]["id"]
    with nohup():
        watching = watch("--filter", "cost>0 status:running,paused")
        watching.process.send_signal(signal.SIGHUP)
    with httpx.Client(base_url=os.environ["QUARTERDECK_URL"], headers={"X-Session-API-Key": KEY}) as somebody:
        somebody.post(f"{SANDBOXES}/{paused}/pause")
        somebody.post(f"{SANDBOXES}/{resumed}/resume")
        somebody.delete(f"{SANDBOXES}/{deleted}", params={"sandbox_id": deleted})
    told: dict[str, tuple[str | None, ...]] = {}  # the first change of each
    while not told.keys() >= {paused, resumed, deleted}:
        one = json.loads(watching.out.readline())
        told.setdefault(one["id"], (one["from"], one["to"], one["cause"]))
    assert (told[paused], told[deleted]) == (("Running", "Paused", "server"), ("Running", None, "server"))
    assert told[resumed][0] == "Paused"
    watching.process.send_signal(signal.SIGTERM)
    assert watching.ended() == (0, "")


def test_watching_ends_when_nobody_reads_it_any_more(on: Run) -> None:
    watching = watch()
    watching.out.close()
    assert watching.ended() == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_what_was_not_asked_for_yet(on: Run, number: signal.Signals) -> None:
    paused = ids(on, "PAUSED")[:30]
    resuming = Program("sandboxes", "resume", *paused, PYTHONUNBUFFERED="")
    first = resuming.out.readline()
    resuming.process.send_signal(number)
    rest = resuming.out.readlines()
    status, told = resuming.ended()
    assert status == 1
    done = {line.split()[0] for line in [first, *rest]}
    assert done == {*ids(on, "STARTING"), *ids(on, "RUNNING")} & set(paused)  # in the order in which they come to be so
    assert (f"{len(done)} done, {len(paused) - len(done)} stopped" in told, "Traceback" in told) == (True, False)
