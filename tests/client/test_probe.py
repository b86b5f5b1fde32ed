"""Trying the addresses of tool servers: which key goes where, what is not followed, and what each end is called."""

import asyncio

import pytest
from pydantic import SecretStr

from quarterdeck.client.describe import Probe
from quarterdeck.client.limits import Limits
from tests.client.fakes import KEY, client_at, plain, raw_server
from tests.client.test_network import answering

NOWHERE = "http://127.0.0.1:1"
LIMITS = Limits(connect=10.0, probe=10.0, repeat_after=0)


async def tried(answer: bytes, key: str | None = None) -> tuple[Probe, str]:
    """What a try at a server comes to, and the head the server was sent."""
    async with raw_server(answering(answer)) as server, client_at(NOWHERE, limits=LIMITS) as client:
        reached = await client.probe(f"{server.url}/deep/mcp?tenant=sentinel", SecretStr(key) if key else None)
    assert "sentinel" not in reached.words + reached.brief
    assert len(server.heads) == 1
    return reached, server.heads[0].decode()


@pytest.mark.parametrize("status", ["200 OK", "202 Accepted", "400 Bad", "405 No", "406 No"])
async def test_any_answer_of_a_tool_server_is_good_and_says_where_it_was_seen_from(status: str) -> None:
    reached, head = await tried(plain(b"", status))
    assert reached.good
    assert f"answers {status[:3]} from this machine in" in reached.words
    assert "a sandbox's network may differ" in reached.words
    assert head.startswith("GET /deep/mcp?tenant=sentinel HTTP/1.1")
    assert KEY not in head
    assert "authorization" not in head.lower()


async def test_a_key_of_its_own_is_sent_to_the_address_and_nowhere_else() -> None:
    async with raw_server(answering(plain(b""))) as other:
        moved = plain(b"", "307 Temporary", f"Location: {other.url}/mcp")
        reached, head = await tried(moved, "sentinel-mcp")
    assert "authorization: bearer sentinel-mcp" in head.lower()
    assert KEY not in head
    assert other.heads == []
    assert (reached.good, reached.brief) == (False, "moved 307")
    assert "not followed" in reached.words


async def test_a_refusal_says_whether_a_key_is_missing_or_wrong() -> None:
    for status in ("401 No", "403 No"):
        without, _ = await tried(plain(b"", status))
        with_key, _ = await tried(plain(b"", status), "sentinel-mcp")
        assert without.words.startswith(f"needs a key ({status[:3]})")
        assert with_key.words.startswith(f"refuses its key ({status[:3]})")
        assert not without.good | with_key.good


@pytest.mark.parametrize(("status", "words"), [("404 No", "nothing is at this path"), ("502 Bad", "no welcome")])
async def test_other_ends_are_told(status: str, words: str) -> None:
    reached, _ = await tried(plain(b"", status))
    assert not reached.good
    assert words in reached.words


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
    ("address", "brief"),
    [
        (NOWHERE, "no connection"),
        ("http://nobody.invalid/sse", "no such host"),
        ("ws://127.0.0.1:1/x", "not tried"),
        ("http://[", "not tried"),
        ("", "not tried"),
    ],
)
async def test_an_address_that_cannot_answer_is_told_in_words(address: str, brief: str) -> None:
    async with client_at(NOWHERE, limits=LIMITS) as client:
        reached = await client.probe(address)
    assert (reached.brief, reached.good) == (brief, False)
    assert reached.words.endswith(".")


async def test_a_key_that_no_header_can_hold_is_not_sent() -> None:
    async with raw_server(answering(plain(b""))) as server, client_at(NOWHERE, limits=LIMITS) as client:
        reached = await client.probe(server.url, SecretStr("sentinel mcp"))
    assert (reached.brief, server.heads) == ("not tried", [])
    assert "sentinel" not in reached.words


async def test_a_user_name_in_an_address_is_sent_as_basic_and_a_key_goes_before_it() -> None:
    async with raw_server(answering(plain(b""))) as server, client_at(NOWHERE, limits=LIMITS) as client:
        address = server.url.replace("//", "//me:sentinel@")
        reached = [await client.probe(address), await client.probe(address, SecretStr("sentinel-mcp"))]
    heads = [head.decode().lower() for head in server.heads]
    assert "authorization: basic bwu6c2vudgluzww=" in heads[0]
    assert "authorization: bearer sentinel-mcp" in heads[1]
    assert not any("sentinel" in each.words for each in reached)
