"""Connections as a server sees them: how many there are, which are used again, and when they end."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome
from quarterdeck.client.exchanges import CONNECTIONS
from quarterdeck.client.limits import Limits
from tests.client.fakes import ITEMS, client_at, first_page, plain, raw_server
from tests.client.test_network import EMPTY, SHORT, answering, reading


async def test_a_read_that_is_given_up_leaves_nothing_to_the_next_one() -> None:
    asked, given_up = asyncio.Event(), asyncio.Event()

    async def late(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"id=late" in head:
            asked.set()
            await given_up.wait()
            writer.write(plain(b'[{"id": "late"}]'))
        else:
            writer.write(plain(ITEMS))

    async with raw_server(late, requests_per_connection=9) as server, client_at(server.url) as client:
        await first_page(client)
        reading_late = asyncio.create_task(client.sandboxes.read(["late"]))
        await asked.wait()
        reading_late.cancel()
        given_up.set()
        assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
        assert server.connections == 2


async def test_a_body_that_is_not_read_to_its_end_takes_its_connection_with_it() -> None:
    large = answering(plain(b" " * (SHORT.body + 1)), plain(ITEMS))
    async with raw_server(large, requests_per_connection=9) as server, client_at(server.url, limits=SHORT) as client:
        assert (await reading(client)).kind is ErrorKind.TOO_LARGE
        assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
    assert server.connections == 2


async def test_a_slow_answer_keeps_no_other_waiting() -> None:
    asked, go = asyncio.Semaphore(0), asyncio.Event()

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"id=slow" in head:
            asked.release()
            await go.wait()
        writer.write(plain(b"[]" if b"id=" in head else ITEMS))

    async with raw_server(answer) as server, client_at(server.url) as client:
        slow = [asyncio.create_task(client.sandboxes.read([f"slow{number}"])) for number in range(2)]
        for _ in slow:
            await asked.acquire()
        assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
        assert not any(task.done() for task in slow)
        go.set()
        assert await asyncio.gather(*slow) == [(None,), (None,)]


async def test_more_reads_than_connections_wait_for_one_and_not_for_ever() -> None:
    asked, go = asyncio.Semaphore(0), asyncio.Event()

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        asked.release()
        await go.wait()
        writer.write(EMPTY)

    limits = Limits(pool=0.05, repeat_after=0, per_second=10_000)
    async with raw_server(answer) as server, client_at(server.url, limits=limits) as client:
        waiting = [asyncio.create_task(first_page(client)) for _ in range(CONNECTIONS)]
        for _ in waiting:
            await asked.acquire()
        error = await reading(client)
        assert (error.kind, error.outcome) == (ErrorKind.CONNECT_TIMEOUT, Outcome.NOT_SENT)
        assert "within 0.05 s" in error.words
        go.set()
        await asyncio.gather(*waiting)
        await first_page(client)
    assert len(server.heads) == CONNECTIONS + 1


@asynccontextmanager
async def watched() -> AsyncIterator[tuple[str, asyncio.Queue[bytes]]]:
    """A server that answers once on each connection, and what it reads there after that until its end."""
    rest: asyncio.Queue[bytes] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(EMPTY)
        rest.put_nowait(await reader.read())
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", rest


async def test_a_connection_that_was_not_used_for_a_while_is_closed_when_another_is_needed() -> None:
    async with watched() as (url, rest), client_at(url, limits=Limits(kept=0)) as client:
        await first_page(client)
        assert rest.empty()
        await first_page(client)
        assert await asyncio.wait_for(rest.get(), 5) == b""
        assert rest.empty()


async def test_a_connection_in_use_does_not_end_with_the_time_it_is_kept() -> None:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        later = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.1, later.set_result, None)
        await later
        writer.write(plain(ITEMS))

    limits = Limits(kept=0.05, per_second=10_000)
    async with raw_server(answer, requests_per_connection=9) as server, client_at(server.url, limits=limits) as client:
        for _ in range(2):
            assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
    assert (len(server.heads), server.connections) == (2, 1)


async def test_leaving_closes_what_is_kept() -> None:
    async with watched() as (url, rest):
        async with client_at(url, limits=Limits(kept=60)) as client:
            await first_page(client)
            assert rest.empty()
        assert await asyncio.wait_for(rest.get(), 5) == b""


async def test_a_server_that_speaks_unasked_is_hung_up_on() -> None:
    unasked, ended = asyncio.Event(), asyncio.Event()

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(plain(ITEMS))
        await unasked.wait()
        while not writer.is_closing():
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await asyncio.sleep(0)
        ended.set()

    async with raw_server(answer) as server, client_at(server.url, limits=Limits(kept=60)) as client:
        assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
        unasked.set()
        await asyncio.wait_for(ended.wait(), 5)


async def test_a_read_that_fails_takes_no_connection_from_the_next() -> None:
    left = [b""] * 3 * CONNECTIONS

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop() if left else plain(ITEMS))

    async with raw_server(answer) as server, client_at(server.url) as client:
        for _ in range(CONNECTIONS):
            assert (await reading(client)).kind is ErrorKind.BROKEN
        assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
    assert server.connections == 3 * CONNECTIONS + 1


async def test_a_read_that_is_given_up_hangs_up() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()
        ended.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, client_at(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        given_up = asyncio.create_task(first_page(client))
        await asked.wait()
        given_up.cancel()
        await asyncio.wait_for(ended.wait(), 5)


async def test_localhost_is_reached_without_asking_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_answer(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_AGAIN, "no resolver")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", no_answer)
    async with raw_server(answering(plain(ITEMS))) as server:
        at_localhost = server.url.replace("127.0.0.1", "localhost")
        async with client_at(at_localhost) as client:
            assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
    async with client_at(at_localhost) as client:
        assert (await reading(client)).kind is ErrorKind.UNREACHABLE
