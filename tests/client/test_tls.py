"""Servers with a certificate of a private authority, asked again and again."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.transport import Access
from tests.client.fakes import FAST, ITEMS, client_at, plain
from tests.client.test_network import Answering, reading


def trusting(url: str, ca_file: str) -> Client:
    return Client(url, access=Access(ca_file=ca_file, limits=FAST))


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return str(tmp_path / "ca.pem")


@asynccontextmanager
async def secure_server(answer: Answering, tls: ssl.SSLContext) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server behind TLS that answers as often as it is asked on a connection, and which connections it had."""
    connections: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(b"")
        try:
            while connections:
                await answer(await reader.readuntil(b"\r\n\r\n"), writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", connections


async def test_an_answer_cut_off_behind_tls_is_broken(tls: ssl.SSLContext, ca_file: str) -> None:
    async def cut(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(plain(ITEMS)[:-3])
        await writer.drain()
        writer.transport.abort()

    async with secure_server(cut, tls) as (url, _), trusting(url, ca_file) as client:
        assert (await reading(client)).kind is ErrorKind.BROKEN


async def test_a_server_that_hangs_up_on_tls_is_told_from_one_that_is_down() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server, client_at(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        assert (await reading(client)).kind is ErrorKind.TLS
