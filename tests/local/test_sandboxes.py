import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from quarterdeck.client.models.enums import UrlName
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.runtime.sessions import identify, live_process, read_process, read_with_psutil
from quarterdeck.local.sandboxes import READY_WITHIN, Identity
from quarterdeck.local.service import LocalService
from quarterdeck.local.specs import BUILT_IN, Spec
from tests.local.conftest import SANDBOXES, Caller, Opener, leaders, processes, sql, stored, until


async def test_only_its_owner_may_read_it(open_service: Opener, folder: Path) -> None:
    folder.mkdir(mode=0o755, parents=True)
    caller = await open_service()
    await caller.post("/api/settings", {})
    own = folder / "sandboxes" / (await caller.start("shell"))["id"]
    files = [folder / f"service.db{end}" for end in ("", "-wal", "-shm")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, own)] == [0o700] * 2
    assert [stat.S_IMODE(path.stat().st_mode) for path in (own / "output.log", *files)] == [0o600] * 4


async def test_sandboxes_outlive_the_service_known_by_more_than_pids(open_service: Opener, folder: Path) -> None:
    first = await open_service()
    running, paused = [await first.start(spec) for spec in ("files", "shell")]
    await first.post(f"/api/v1/sandboxes/{paused['id']}/pause")
    await first.service.aclose()
    second = await open_service()
    assert (await second.sandbox(running["id"]), await second.status(paused["id"])) == (running, "PAUSED")
    await second.post(f"/api/v1/sandboxes/{paused['id']}/resume")
    assert await second.status(paused["id"]) == "RUNNING"
    await second.service.aclose()
    kept = leaders(folder)
    sql(folder, "UPDATE sandboxes SET ticks = ticks - 1")
    third = await open_service()
    assert await third.status(running["id"]) == "MISSING"
    await third.delete(running["id"])
    for leader in kept:
        os.kill(leader.pid, signal.SIGTERM)  # raises if deleting had ended it


async def killed(leader: Identity) -> None:
    os.kill(leader.pid, signal.SIGKILL)
    await until(lambda: live_process(leader) is None)


async def test_a_second_opener_shares_all_but_only_the_owner_declares_dead(open_service: Opener, folder: Path) -> None:
    owner, second = await open_service(), await open_service()
    await owner.post("/api/settings", {"language": "fr"})
    await second.post("/api/settings", {"agent": "mine"})
    record = await owner.get("/api/settings")
    assert (record["language"], record["agent"]) == ("fr", "mine")
    sandbox = await owner.start("shell")
    assert await second.sandbox(sandbox["id"]) == sandbox
    await second.post(f"/api/v1/sandboxes/{sandbox['id']}/pause")
    assert await owner.status(sandbox["id"]) == "PAUSED"
    await killed(leaders(folder)[0])
    assert await second.status(sandbox["id"]) == "PAUSED"
    refused = await second.delete(sandbox["id"])
    assert (refused.status_code, sandbox["id"] in refused.json()["detail"]) == (500, True)
    assert await owner.status(sandbox["id"]) == await second.status(sandbox["id"]) == "MISSING"
    assert (await second.delete(sandbox["id"])).status_code == 200
    sandbox = await owner.start("shell")
    await owner.service.aclose()
    await killed(leaders(folder)[0])
    assert await second.status(sandbox["id"]) == "MISSING"


async def test_what_an_owner_had_begun_to_create_goes_on_in_the_next(open_service: Opener, folder: Path) -> None:
    owner, second = await open_service(), await open_service()
    task = await owner.created({})
    sql(folder, "UPDATE start_tasks SET status = 'WORKING', runner_boot = 'killed'")
    await owner.service.aclose()
    assert (await second.ended(task["id"]))["status"] == "READY"


async def test_what_cannot_be_used_is_named_and_left_alone(tmp_path: Path) -> None:
    file, damaged, newer = (tmp_path / name for name in ("file", "damaged", "newer"))
    file.write_text("a file")
    damaged.mkdir()
    (damaged / "service.db").write_bytes(b"not a database" * 100)
    newer.mkdir()
    sql(newer, "PRAGMA user_version = 99")
    words = {file: "set XDG_DATA_HOME", damaged: "a database. Move it away", newer: "newer Quarterdeck"}
    for folder, why in words.items():
        with pytest.raises(LocalServiceError, match=why):
            await LocalService.open(folder)
    assert (damaged / "service.db").read_bytes() == b"not a database" * 100


FIRST_VERSION = """
CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), record TEXT NOT NULL);
CREATE TABLE sandboxes (id TEXT PRIMARY KEY, spec_id TEXT NOT NULL, created_at TEXT NOT NULL, key TEXT NOT NULL,
    port INTEGER, pid INTEGER, ticks INTEGER, boot TEXT, status TEXT NOT NULL, has_run INTEGER NOT NULL DEFAULT 0);
CREATE TABLE conversations (id TEXT PRIMARY KEY, sandbox_id TEXT NOT NULL, title TEXT NOT NULL, message TEXT,
    repository TEXT, branch TEXT, git_provider TEXT, trigger TEXT, pr_number TEXT NOT NULL, llm_model TEXT,
    parent_id TEXT, public INTEGER, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE start_tasks (id TEXT PRIMARY KEY, status TEXT NOT NULL, detail TEXT, conversation_id TEXT NOT NULL,
    sandbox_id TEXT, request TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    runner_pid INTEGER NOT NULL, runner_ticks INTEGER NOT NULL, runner_boot TEXT NOT NULL);
INSERT INTO sandboxes VALUES ('s', 'files', '2026-01-01T00:00:00.000000Z', 'k', 1, 1, 1, 'earlier', 'RUNNING', 1);
INSERT INTO conversations VALUES ('c', 's', 'Mine', NULL, NULL, NULL, NULL, NULL, '[]', NULL, NULL, NULL,
    '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z');
PRAGMA user_version = 1;
"""


async def test_all_of_a_database_of_an_older_program_is_kept(open_service: Opener, folder: Path) -> None:
    token = {"token": "ghp", "host": "github.example"}
    record = {"language": "fr", "secrets_store": {"provider_tokens": {"github": token}, "custom_secrets": {}}}
    folder.mkdir(parents=True)
    for statement in FIRST_VERSION.split(";\n"):
        sql(folder, statement)
    sql(folder, "INSERT INTO settings VALUES (1, ?)", json.dumps(record))
    caller = await open_service()
    loaded = await caller.get("/api/settings")
    assert (loaded["language"], loaded["provider_tokens_set"]) == ("fr", {"github": "github.example"})
    assert stored(folder, "settings") == {"language": "fr"}
    (conversation,) = (await caller.get("/api/v1/app-conversations"))["items"]
    assert (conversation["title"], conversation["sandbox_status"]) == ("Mine", "MISSING")


DIES = Spec("dies", (sys.executable, "-c", "raise SystemExit('no licence')"), address=UrlName.WORKER_1)
ABSENT, SILENT = Spec("absent", ("/no/such/program",)), Spec("silent", ("sleep", "100"), address=UrlName.WORKER_1)


def place(folder: Path, sandbox_id: str) -> Path:
    return folder / "sandboxes" / sandbox_id


async def type_in(folder: Path, sandbox_id: str, line: str) -> None:
    """Give a line to the shell of a sandbox, and wait until it has run."""
    done = place(folder, sandbox_id) / "workspace" / "typed"
    (place(folder, sandbox_id) / "input").write_text(f"{line}\ntouch typed\n")
    await until(done.exists)


async def test_the_default_spec_serves_its_workspace(caller: Caller, folder: Path) -> None:
    sandbox = await caller.post(SANDBOXES)
    assert (sandbox["status"], sandbox["sandbox_spec_id"]) == ("RUNNING", BUILT_IN[0].id)
    (place(folder, sandbox["id"]) / "workspace" / "notes.txt").write_text("hello")
    url = sandbox["exposed_urls"][0]["url"]
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert (await browser.get(f"{origin}/alive")).json() == {"status": "ok"}
        assert (await browser.get(f"{origin}/notes.txt")).status_code == 401
        key = {"X-Session-API-Key": sandbox["session_api_key"]}
        assert (await browser.get(f"{origin}/notes.txt", headers=key)).text == "hello"
        assert "notes.txt" in (await browser.get(url)).text
        assert (await browser.get(f"{origin}/notes.txt")).text == "hello", "the cookie carries the key"


async def test_a_sandbox_gets_no_key_of_the_deck(caller: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", "for another server")
    sandbox = await caller.start("shell")
    await type_in(folder, sandbox["id"], 'echo "[$QUARTERDECK_API_KEY] $SESSION_API_KEY"')
    assert (place(folder, sandbox["id"]) / "output.log").read_text() == f"[] {sandbox['session_api_key']}\n"


async def test_pause_stops_every_process_also_those_in_groups_of_their_own(caller: Caller, folder: Path) -> None:
    sandbox = await caller.start("shell")
    await type_in(folder, sandbox["id"], "set -m; sleep 100 & (sleep 100 & sleep 100) &")
    assert len({os.getpgid(process.pid) for process in processes(folder)}) > 2, "job control gives each job a group"
    assert await caller.post(f"{SANDBOXES}/{sandbox['id']}/pause") == {"success": True}
    assert {process.state for process in processes(folder)} == {"T"}
    paused = await caller.sandbox(sandbox["id"])
    assert (paused["status"], paused["session_api_key"], paused["exposed_urls"]) == ("PAUSED", None, None)
    assert await caller.post(f"{SANDBOXES}/{sandbox['id']}/resume") == {"success": True}
    assert "T" not in {process.state for process in processes(folder)}
    assert await caller.sandbox(sandbox["id"]) == sandbox


@pytest.mark.parametrize("victim", ["supervisor", "command", "by itself"])
async def test_however_it_dies_nothing_is_left_and_that_is_noticed(caller: Caller, folder: Path, victim: str) -> None:
    sandbox = await caller.start("shell" if victim == "by itself" else "files")
    (leader,) = leaders(folder)
    if victim == "by itself":
        (place(folder, sandbox["id"]) / "input").write_text("(setsid sleep 100 &); sleep 100 & exit 3\n")
    else:
        (command,) = {process.pid for process in processes(folder)} - {leader.pid}
        os.kill(leader.pid if victim == "supervisor" else command, signal.SIGKILL)
    await until(lambda: not processes(folder))
    assert await caller.status(sandbox["id"]) == "MISSING"
    for action in ("pause", "resume"):
        answer = await caller.http.post(f"{SANDBOXES}/{sandbox['id']}/{action}")
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


async def test_an_absent_command_leaves_nothing_and_a_failing_one_an_error(open_service: Opener, folder: Path) -> None:
    caller = await open_service(specs=[ABSENT, DIES])
    for spec, words, left in ((ABSENT, "/no/such/program", []), (DIES, "no licence", ["ERROR"])):
        answer = await caller.http.post(SANDBOXES, params={"sandbox_spec_id": spec.id})
        assert (answer.status_code, words in answer.json()["detail"]) == (500, True)
        assert [one["status"] for one in await caller.all()] == left
        assert len(list((folder / "sandboxes").iterdir())) == len(left)


@pytest.mark.parametrize("before", ["", "pause", "ignore"])
async def test_delete_ends_processes_and_removes_files(
    caller: Caller, folder: Path, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quarterdeck.local.runtime.sessions._SETTLES_WITHIN", 0.3)
    sandbox_id = (await caller.start("shell"))["id"]
    await type_in(folder, sandbox_id, "set -m; sleep 100 & mkdir sealed; touch sealed/file; chmod 500 sealed")
    pids = [process.pid for process in processes(folder)]
    if before == "pause":
        await caller.post(f"{SANDBOXES}/{sandbox_id}/pause")
    if before == "ignore":
        (place(folder, sandbox_id) / "workspace" / "typed").unlink()
        await type_in(folder, sandbox_id, "trap '' TERM; (while :; do sleep 0.1; done) &")
        pids = [process.pid for process in processes(folder)]
    assert (await caller.delete(sandbox_id)).json() == {"success": True}
    assert await caller.sandbox(sandbox_id) is None
    assert not place(folder, sandbox_id).exists()
    assert {process and process.state for process in map(read_process, pids)} <= {None, "Z", "X"}
    assert (await caller.delete(sandbox_id)).status_code == 404


async def test_delete_acts_on_the_query_as_real_servers_do(caller: Caller) -> None:
    sandbox_id = (await caller.start("shell"))["id"]
    path_only = await caller.http.delete(f"{SANDBOXES}/{sandbox_id}")
    assert (path_only.status_code, path_only.json()["detail"][0]["loc"]) == (422, ["query", "sandbox_id"])
    assert (await caller.http.delete(f"{SANDBOXES}/other", params={"sandbox_id": sandbox_id})).status_code == 200
    assert await caller.sandbox(sandbox_id) is None


@pytest.mark.parametrize("asked", ["limit=0", "limit=101", "limit=x", "page_id=x", "page_id=-1"])
async def test_a_page_that_cannot_be_is_refused(caller: Caller, asked: str) -> None:
    for resource in ("sandboxes", "sandbox-specs", "app-conversations", "app-conversations/start-tasks"):
        answer = await caller.http.get(f"/api/v1/{resource}/search?{asked}")
        assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", asked.partition("=")[0]])


async def test_a_batch_answers_in_order_with_nulls(caller: Caller) -> None:
    sandbox = await caller.start("shell")
    found = await caller.get(SANDBOXES, id=["none", sandbox["id"], "%/..", sandbox["id"]])
    assert [one and one["id"] for one in found] == [None, sandbox["id"], None, sandbox["id"]]
    specs = await caller.get("/api/v1/sandbox-specs", id=["none", "shell"])
    assert [one and one["id"] for one in specs] == [None, "shell"]
    assert (await caller.http.get(SANDBOXES)).status_code == 422
    assert (await caller.http.get(SANDBOXES, params={"id": ["x"] * 101})).status_code == 400


async def test_closing_does_not_wait_for_a_sandbox_that_never_gets_ready(open_service: Opener, folder: Path) -> None:
    caller = await open_service(specs=[SILENT])
    start = asyncio.ensure_future(caller.http.post(SANDBOXES))
    await until(lambda: leaders(folder))
    began = time.monotonic()
    await caller.service.aclose()
    await asyncio.wait([start])
    assert time.monotonic() - began < READY_WITHIN / 2
    assert processes(folder), "it goes on without the service"


async def test_a_start_goes_on_when_its_caller_gives_up(caller: Caller) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(caller.start("files"), 0.005)

    async def running() -> bool:
        return [one["status"] for one in await caller.all()] == ["RUNNING"]

    await until(running)


def test_a_process_is_read_alike_in_both_ways_whatever_its_name_and_a_zombie_is_gone() -> None:
    assert read_process(2**22 + 1) is read_with_psutil(2**22 + 1) is None
    rename = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b') S 1 (2'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", rename], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        found, other, identity = read_process(process.pid), read_with_psutil(process.pid), identify(process.pid)
        assert found
        assert other
        assert (found.pid, found.session) == (other.pid, other.session) == (process.pid, os.getsid(0))
        assert found.state in "RS"
        assert identity
        assert (found := live_process(identity))
        assert not found.stopped
        assert process.stdin
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert (found := read_process(process.pid))
        assert (found.state, live_process(identity)) == ("Z", None)
        assert identify(process.pid) is None
