"""Answers and bodies on the wire: every shape an answer may come in, and what breaks the rules."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from quarterdeck.client.calls import Call, Repeat
from quarterdeck.client.endpoint import Endpoint
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.exchanges import Exchanges
from quarterdeck.client.fault import Fault, WireError
from quarterdeck.client.limits import Limits
from quarterdeck.client.road import Question
from quarterdeck.client.sender import Sender
from quarterdeck.client.wire import written
from tests.client.fakes import FAST, ITEMS, KEY, client_at, first_page, plain, raw_server
from tests.client.test_network import EMPTY, SHORT, answering, reading, resetting

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunked(*pieces: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return CHUNKED + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end


SHAPES = {
    "length": (plain(ITEMS), 1),
    "chunks": (chunked(ITEMS[:5], ITEMS[5:]), 1),
    "trailers": (chunked(ITEMS, end=b"0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"), 1),
    "words before": (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + plain(ITEMS), 1),
    "bare line feeds": (b"HTTP/1.1 200\nContent-Length: %d\n\n%s" % (len(ITEMS), ITEMS), 1),
    "offers another protocol": (plain(ITEMS, "200 OK", "Upgrade: h2,h2c\r\nConnection: Upgrade, Keep-Alive"), 1),
    "said to close": (plain(ITEMS, "200 OK", "Connection: close"), 2),
    "old version": (b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ITEMS), ITEMS), 2),
    "more than the answer": (plain(ITEMS) + b"stray", 2),
    "another answer behind": (plain(ITEMS) + EMPTY, 2),
}


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("shape", SHAPES)
async def test_an_answer_is_read_whole_and_its_connection_used_again_where_that_is_safe(shape: str, size: int) -> None:
    answer, connections = SHAPES[shape]

    async def in_pieces(_: bytes, writer: asyncio.StreamWriter) -> None:
        for start in range(0, len(answer), size):
            writer.write(answer[start : start + size])
            await writer.drain()
            await asyncio.sleep(0)

    async with raw_server(in_pieces, requests_per_connection=9) as server, client_at(server.url) as client:
        for _ in range(2):
            assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]
    assert server.connections == connections


async def test_an_answer_may_end_with_its_connection() -> None:
    async with raw_server(answering(b"HTTP/1.1 200 OK\r\n\r\n" + ITEMS)) as server, client_at(server.url) as client:
        for _ in range(2):
            assert [sandbox.id for sandbox in await first_page(client)] == ["s1"]


async def test_an_answer_that_ends_in_a_reset_did_not_end() -> None:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + ITEMS)
        await resetting(b"", writer)

    async with raw_server(answer) as server, client_at(server.url) as client:
        assert (await reading(client)).kind is ErrorKind.BROKEN


async def test_an_answer_without_a_body_ends_at_once() -> None:
    none = answering(b"HTTP/1.1 204 No Content\r\n\r\n")
    async with raw_server(none, requests_per_connection=9) as server, client_at(server.url, limits=SHORT) as client:
        await client.sandboxes.pause("s1")
    assert len(server.heads) == 1


async def storing_much(url: str, limits: Limits) -> ServiceError:
    """The error that a write of 20 MB ends in."""
    exchanges = Exchanges(Endpoint("test", url), SecretStr(KEY), limits=limits)
    with pytest.raises(ServiceError) as caught:
        await Sender(exchanges, None).send(Call("POST", "/x", body={"text": "x" * 20_000_000}, repeat=Repeat.ONCE))
    await exchanges.aclose()
    return caught.value


@asynccontextmanager
async def taking_nothing(answer: bytes, *, hangs_up: bool) -> AsyncIterator[str]:
    """The address of a server that reads nothing of a large body."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        if not hangs_up:
            await over.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, limit=1000) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        over.set()


@pytest.mark.parametrize("hangs_up", [False, True])
async def test_a_large_body_that_is_refused_unread_is_told_as_the_server_told_it(hangs_up: bool) -> None:
    async with taking_nothing(plain(b'{"detail": "too much"}', "413 Too Large"), hangs_up=hangs_up) as url:
        error = await storing_much(url, FAST)
    assert (error.status, error.outcome) == (413, Outcome.NOT_APPLIED)


@pytest.mark.parametrize(("hangs_up", "words"), [(False, "no complete answer"), (True, "broke in the middle")])
async def test_a_large_body_that_is_not_taken_is_given_up(hangs_up: bool, words: str) -> None:
    limits = Limits(write=0.1 if not hangs_up else 20, read=20, repeat_after=0)
    async with taking_nothing(b"", hangs_up=hangs_up) as url:
        error = await storing_much(url, limits)
    assert (error.kind, error.outcome) == (ErrorKind.UNKNOWN_OUTCOME, Outcome.UNKNOWN)
    assert words in error.words


STRANGE = {
    "other protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "no length": b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    "no chunk": CHUNKED + b"2\r\n{}..0\r\n\r\n",
}


@pytest.mark.parametrize("strange", STRANGE)
async def test_an_answer_that_breaks_the_rules_is_none(strange: str) -> None:
    answer = answering(STRANGE[strange])
    async with raw_server(answer, requests_per_connection=9) as server, client_at(server.url, limits=SHORT) as client:
        assert (await reading(client)).kind is ErrorKind.BROKEN


HEAD = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "one header": (HEAD + b"X: ", b"a" * 1000),
    "many headers": (HEAD, b"X: a\r\n" * 200),
    "words before": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 40),
    "one chunk's size": (CHUNKED + b"1;", b"a" * 1000),
    "one trailer": (chunked(b"{", end=b"0\r\nX: "), b"a" * 1000),
    "many trailers": (chunked(b"{", end=b"0\r\n"), b"X: a\r\n" * 200),
}


@pytest.mark.parametrize("endless", ENDLESS)
async def test_what_never_comes_to_the_point_is_not_waited_for(endless: str) -> None:
    beginning, more = ENDLESS[endless]
    sent = 0

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(beginning)
        while True:
            writer.write(more)
            sent += len(more)
            await writer.drain()

    async with raw_server(answer) as server, client_at(server.url) as client:
        assert (await reading(client)).kind is ErrorKind.WRONG_API
    assert sent < 20_000_000, "what was read, and what the buffers of the system hold"


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", " a", "a ", "a\0", "\u2603"])
def test_a_header_that_http_cannot_hold_is_not_written(value: str) -> None:
    with pytest.raises(WireError) as caught:
        written(Question("GET", "/", {"Host": "a", "X": value}))
    assert caught.value.fault is Fault.BAD_REQUEST


@pytest.mark.parametrize("target", ["/a b", "/a\r\nX: b", "", "/\u2603"])
def test_neither_is_an_address(target: str) -> None:
    with pytest.raises(WireError):
        written(Question("GET", target, {"Host": "a"}))


async def test_the_key_goes_to_its_own_origin_whatever_a_path_looks_like() -> None:
    async with raw_server(answering(EMPTY)) as server:
        exchanges = Exchanges(Endpoint("test", server.url), SecretStr(KEY), limits=FAST)
        await exchanges.attempt(Call("GET", "/own"), asyncio.get_running_loop().time() + 5)
        await exchanges.attempt(Call("GET", "@other.example/own"), asyncio.get_running_loop().time() + 5)
        await exchanges.aclose()
    assert [KEY.encode() in head for head in server.heads] == [True, False]


async def test_a_name_that_cannot_be_one_is_a_name_nobody_has() -> None:
    async with client_at(f"http://{'a' * 64}.example") as client:
        assert (await reading(client)).kind is ErrorKind.DNS


def test_a_host_that_no_name_can_have_is_refused() -> None:
    with pytest.raises(ServiceError) as caught:
        client_at("http://☃☃.example")
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.LOCAL, Outcome.NOT_SENT)
