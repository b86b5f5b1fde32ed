"""Filters, plans and watching from the command line."""

import json
import os
import signal
from typing import Any

import httpx

from tests.cli.conftest import Run
from tests.cli.serving import KEY, Program, at_an_address
from tests.client.fakes import Answer
from tests.tui.fake_fleet import SANDBOXES, FakeFleet


def listed(on: Run, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = on("sandboxes", "list", "--json", *arguments).json
    return found


def ids(on: Run, status: str) -> list[str]:
    return [one["id"] for one in listed(on) if one["status"] == status]


def test_a_filter_asks_for_what_the_deck_asks_for(on: Run) -> None:
    everything = listed(on)
    assert (len(everything), everything[0]["conversations"], everything[0]["orphan"]) == (100, None, None)
    orphans = listed(on, "--filter", "orphan")
    assert all(one["orphan"] and one["conversations"] == [] for one in orphans)
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


def test_a_table_has_what_comes_from_conversations_only_where_they_were_read(on: Run) -> None:
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


def test_a_dry_run_tells_the_plan_and_does_nothing(on: Run) -> None:
    before = listed(on)
    told = on("sandboxes", "pause", "--filter", "age>1s", "--dry-run", "--json")
    planned = {one["id"]: (one["result"], one["done"]) for one in told.json}
    for one in before:
        up = one["status"] in {"RUNNING", "STARTING"}
        assert planned[one["id"]] == ("planned" if up else "skipped", False)
    assert all(one["why"] for one in told.json if one["result"] == "skipped")
    assert "simulated-node" in on("sandboxes", "start", "simulated-node", "--dry-run").out
    on("sandboxes", "start", "no-such", "--dry-run", status=1)
    assert listed(on) == before


def test_what_a_filter_lets_through_is_paused_and_read_so(on: Run) -> None:
    running = ids(on, "RUNNING")[:2]
    other = ids(on, "PAUSED")[0]
    ended = on("sandboxes", "pause", *running, other, "--filter", f"status:running,paused !id:{running[1]}", "--json")
    results = {one["id"]: (one["result"], one["status"]) for one in ended.json}
    assert results == {running[0]: ("done", "PAUSED"), other: ("skipped", "PAUSED")}
    assert running[0] in ids(on, "PAUSED")
    assert running[1] in ids(on, "RUNNING")


def test_what_is_named_and_cannot_be_done_is_a_failure_and_an_unknown_id_too(on: Run) -> None:
    failed = ids(on, "ERROR")[0]
    ended = on("sandboxes", "resume", failed, "nobody", "-dash", "--json", status=1)
    assert {one["id"]: one["result"] for one in ended.json} == {failed: "skipped", "nobody": "gone", "-dash": "gone"}
    told = [line.split()[1:3] for line in ended.err.splitlines()]
    assert told == [[f"{failed}:", "It"], ["nobody:", "There"], ["-dash:", "There"]]
    on("sandboxes", "resume", "--filter", f"id:{failed}")


def test_deleting_needs_its_word(on: Run) -> None:
    doomed, *others = ids(on, "PAUSED")[:9]
    refused = on("sandboxes", "delete", doomed, status=2)
    assert (doomed in refused.out, "--yes" in refused.err) == (True, True)
    assert len(listed(on)) == 100
    ended = on("sandboxes", "delete", doomed, *others, "--yes")
    assert sorted(ended.out.splitlines()) == sorted(f"{each} Deleted" for each in (doomed, *others))
    assert doomed not in {one["id"] for one in listed(on)}


def test_a_start_that_is_answered_with_a_failure_is_none_and_addresses_hold_no_secret(run: Run) -> None:
    url = "http://me:sentinel-1@box:8000/vscode?tkn=sentinel-2#sentinel-3"
    urls = [{"name": "VSCODE", "url": url, "port": 8000}]
    fleet = FakeFleet()
    fleet.sandboxes["b1"] = {"id": "b1", "status": "ERROR", "session_api_key": "sentinel-4", "exposed_urls": urls}
    fleet.says[f"POST {SANDBOXES}"] = Answer(fleet.sandboxes["b1"])
    with at_an_address(fleet.answer) as address:
        listed = run("sandboxes", "list", "--json", "--url", address)
        started = run("sandboxes", "start", "--url", address, status=1)
        assert "There is no spec no-such. List" in run("sandboxes", "start", "no-such", "--url", address, status=1).err
    assert listed.json[0]["exposed_urls"] == [{"name": "VSCODE", "address": "http://box:8000/vscode", "port": 8000}]
    assert "sentinel" not in listed.out + started.out + started.err
    assert started.out == ""
    assert "b1 was started, but is ERROR" in started.err


def test_a_sandbox_is_not_called_free_while_a_start_could_not_be_read(run: Run) -> None:
    fleet = FakeFleet(tasks=[{"id": "t1", "sandbox_id": "b1"}])
    fleet.add("b1")
    with at_an_address(fleet.answer) as url:
        listed = run("sandboxes", "list", "--json", "--url", url, "--filter", "status:running !cost>1", status=1)
        free = run("sandboxes", "delete", "--yes", "--url", url, "--filter", "no-conversation", status=1)
    assert (listed.json[0]["orphan"], listed.json[0]["conversations"]) == (None, None)
    assert "Records that could not be read: 1." in listed.err
    assert "Records that could not be read and are left alone: 1." in free.err
    assert fleet.orders == []


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
    watching = watch("--filter", "cost>0 status:running,paused")
    with httpx.Client(base_url=os.environ["QUARTERDECK_URL"], headers={"X-Session-API-Key": KEY}) as somebody:
        somebody.post(f"{SANDBOXES}/{paused}/pause")
        somebody.post(f"{SANDBOXES}/{resumed}/resume")
        somebody.delete(f"{SANDBOXES}/{deleted}", params={"sandbox_id": deleted})
    told: dict[str, tuple[str | None, ...]] = {}  # the first change of each
    while not told.keys() >= {paused, resumed, deleted}:
        one = json.loads(watching.out.readline())
        told.setdefault(one["id"], (one["from"], one["to"], one["cause"]))
    assert told[paused] == ("Running", "Paused", "server")
    assert told[resumed][0] == "Paused"
    assert told[deleted] == ("Running", None, "server")
    watching.process.send_signal(signal.SIGTERM)
    assert watching.ended() == (0, "")


def test_watching_ends_when_nobody_reads_it_any_more(on: Run) -> None:
    watching = watch()
    watching.out.close()
    assert watching.ended() == (128 + signal.SIGPIPE, "")


def test_an_interrupt_stops_what_was_not_asked_for_yet(on: Run) -> None:
    paused = ids(on, "PAUSED")[:30]
    resuming = Program("sandboxes", "resume", *paused, PYTHONUNBUFFERED="1")
    first = resuming.out.readline()
    resuming.process.send_signal(signal.SIGINT)
    rest = resuming.out.readlines()
    status, told = resuming.ended()
    assert status == 1
    done = {line.split()[0] for line in [first, *rest]}
    assert done == {*ids(on, "STARTING"), *ids(on, "RUNNING")} & set(paused)  # in the order in which they come to be so
    assert f"{len(done)} done, {len(paused) - len(done)} stopped" in told
    assert "Traceback" not in told
