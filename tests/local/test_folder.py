import json
import os
import signal
import stat
from pathlib import Path

import pytest

from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.runtime.sessions import ProcessState, process_state
from quarterdeck.local.sandboxes import Identity
from quarterdeck.local.service import LocalService
from tests.local.conftest import Opener, leaders, sql, stored, until


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_only_its_owner_may_read_it(open_service: Opener, folder: Path) -> None:
    folder.mkdir(mode=0o755, parents=True)
    caller = await open_service()
    await caller.post("/api/settings", {})
    sandbox = await caller.start("shell")
    own = folder / "sandboxes" / sandbox["id"]
    files = [folder / f"service.db{end}" for end in ("", "-wal", "-shm")]
    assert [mode(path) for path in (folder, own)] == [0o700] * 2
    assert [mode(path) for path in (own / "output.log", *files)] == [0o600] * 4


async def test_sandboxes_outlive_the_service_known_by_more_than_pids(open_service: Opener, folder: Path) -> None:
    first = await open_service()
    running, paused = [await first.start(spec) for spec in ("files", "shell")]
    await first.post(f"/api/v1/sandboxes/{paused['id']}/pause")
    await first.service.aclose()

    second = await open_service()
    assert await second.sandbox(running["id"]) == running
    assert await second.status(paused["id"]) == "PAUSED"
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
    await until(lambda: process_state(leader) is ProcessState.GONE)


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
