"""A deck that runs for a day holds no more at its end than after its first minutes."""

import asyncio
from contextlib import suppress
from pathlib import Path

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from tests.client.fakes import client_at, plain, raw_server

GOOD = plain(b'{"items": [{"id": "s1", "status": "RUNNING"}], "id": "s1", "status": "RUNNING"}')
CUT = b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"items": '
REFUSED = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nNo"
ANSWERS = (GOOD, GOOD, CUT, REFUSED, GOOD)


async def held(client: Client, rounds: int) -> int:
    """Descriptors and tasks that are held after so many rounds of readings and writes, good and bad."""
    for _ in range(rounds):
        for _ in ANSWERS:
            with suppress(ServiceError):
                await anext(aiter(client.sandboxes.pages()))
        with suppress(ServiceError):
            await client.sandboxes.pause("s1")
    await asyncio.sleep(0.05)
    return len(list(Path("/proc/self/fd").iterdir())) + len(asyncio.all_tasks())


async def test_many_readings_hold_no_more_than_a_few() -> None:
    asked = 0

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        writer.write(ANSWERS[asked % len(ANSWERS)])
        asked += 1

    async with raw_server(answer) as server, client_at(server.url) as client:
        few = await held(client, 5)
        assert await held(client, 20) <= few + 4
