"""Trying the addresses of tool servers: which key goes where, what is not followed, and what each end is called."""

import asyncio

import pytest
from pydantic import SecretStr

from quarterdeck.client.describe import Probe
from quarterdeck.client.limits import Limits
from tests.client.fakes import KEY, answering, client_at, plain, raw_server

NOWHERE = "http://127.0.0.1:1"
LIMITS = Limits(connect=10.0, quick=10.0, repeat_after=0)
GOOD = "a sandbox's network may differ"


async def tried(answer: bytes, key: str | None = None) -> tuple[Probe, str]:
    """What a try at a server comes to, and the head the server was sent."""
    async with raw_server(answering(answer)) as server, client_at(NOWHERE, limits=LIMITS) as client:
        reached = await client.probe(f"{server.url}/deep/mcp?tenant=sentinel", SecretStr(key) if key else None)
    assert len(server.heads) == 1
    return reached, server.heads[0].decode().lower()


@pytest.mark.parametrize(
    ("status", "key", "words", "good"),
    [
        *((status, None, GOOD, True) for status in ("200 OK", "202 Accepted", "400 Bad", "405 No", "406 No")),
        ("401 No", None, "needs a key (401)", False),
        ("403 No", None, "needs a key (403)", False),
        ("401 No", "sentinel-mcp", "refuses its key (401)", False),
        ("404 No", None, "nothing is at this path", False),
        ("307 Moved", "sentinel-mcp", "not followed", False),
        ("502 Bad", None, "no welcome", False),
    ],
)
async def test_each_end_is_told_and_its_own_key_alone_is_sent(
    status: str, key: str | None, words: str, good: bool
) -> None:
    async with raw_server(answering(plain(b""))) as other:
        reached, head = await tried(plain(b"", status, f"Location: {other.url}/mcp"), key)
    assert (reached.good, other.heads) == (good, [])
    assert words in reached.words
    assert "from this machine" in reached.words
    assert "sentinel" not in reached.words + reached.brief
    assert head.startswith("get /deep/mcp?tenant=sentinel http/1.1")
    assert KEY not in head
    assert ("authorization: bearer sentinel-mcp" in head) is (key is not None)


async def test_a_body_without_end_is_not_waited_for() -> None:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(b"data: x\n\n" * 1000)
            await writer.drain()
            await asyncio.sleep(0)

    async with raw_server(answer) as server, client_at(NOWHERE, limits=LIMITS) as client:
        assert (await client.probe(server.url)).good


@pytest.mark.parametrize(
    ("address", "key", "brief"),
    [
        (NOWHERE, None, "no connection"),
        ("http://nobody.invalid/sse", None, "no such host"),
        ("ws://127.0.0.1:1/x", None, "not tried"),
        ("http://[", None, "not tried"),
        (NOWHERE, "sentinel mcp", "not tried"),
    ],
)
async def test_an_address_that_cannot_answer_is_told_in_words(address: str, key: str | None, brief: str) -> None:
    async with client_at(NOWHERE, limits=LIMITS) as client:
        reached = await client.probe(address, SecretStr(key) if key else None)
    assert (reached.brief, reached.good) == (brief, False)
    assert reached.words.endswith(".")
    assert "sentinel" not in reached.words


async def test_a_user_name_in_an_address_is_sent_as_basic_and_a_key_goes_before_it() -> None:
    async with raw_server(answering(plain(b""))) as server, client_at(NOWHERE, limits=LIMITS) as client:
        address = server.url.replace("//", "//me:sentinel@")
        reached = [await client.probe(address), await client.probe(address, SecretStr("sentinel-mcp"))]
    heads = [head.decode().lower() for head in server.heads]
    assert "authorization: basic bwu6c2vudgluzww=" in heads[0]
    assert "authorization: bearer sentinel-mcp" in heads[1]
    assert not any("sentinel" in each.words for each in reached)
