import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.serve import serve
from tests.local.conftest import processes

PROGRAM = """
import asyncio, pathlib, sys
from quarterdeck.local.serve import serve
asyncio.run(serve(pathlib.Path(sys.argv[1]), 0))
"""


@asynccontextmanager
async def serving(folder: Path, **environment: str) -> AsyncIterator[tuple[Process, httpx.AsyncClient]]:
    """The service in a process of its own, and a client of it without a key."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(folder), stdout=PIPE, stderr=PIPE, env={**os.environ, **environment}
    )
    assert process.stdout
    try:
        line = (await process.stdout.readline()).decode()
        assert line.startswith("serving http://127.0.0.1:")
        async with httpx.AsyncClient(base_url=line.split()[1], trust_env=False) as client:
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_it_ends_cleanly_and_leaves_sandboxes_running(folder: Path) -> None:
    async with serving(folder, QUARTERDECK_API_KEY="key-of-mine") as (process, client):
        client.headers["X-Session-API-Key"] = "key-of-mine"
        assert (await client.post("/api/v1/sandboxes")).json()["status"] == "RUNNING"
        process.terminate()
        rest, complaints = await asyncio.wait_for(process.communicate(), 10)
        assert (process.returncode, rest, complaints) == (0, b"", b"")
    assert len(processes(folder)) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
async def test_a_signal_right_after_the_first_line_ends_it_cleanly(folder: Path, number: signal.Signals) -> None:
    async with serving(folder) as (process, _):
        process.send_signal(number)
        assert await asyncio.wait_for(process.wait(), 10) == 0


@pytest.mark.parametrize("key", ["with\nnewline", "with blank", "ключ"])
async def test_a_key_that_no_header_can_carry_is_refused(
    folder: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", key)
    with pytest.raises(LocalServiceError, match="cannot be sent"):
        await serve(folder, 0)


async def test_it_answers_to_names_of_loopback_only(folder: Path) -> None:
    async with serving(folder) as (_, client):
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.8.8.8:1", "[::1]:3000"):
            assert (await client.get("/alive", headers={"Host": host})).status_code == 200, host
        for host in ("example.com", "127.0.0.1.example.com:3000", "localhost.example.com", "10.0.0.1", "[::1", ""):
            for path in ("/alive", "/api/settings", "/nowhere"):
                assert (await client.get(path, headers={"Host": host})).status_code == 421, (host, path)
