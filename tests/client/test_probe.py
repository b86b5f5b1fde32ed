import pytest
from pydantic import SecretStr

from quarterdeck.client.limits import Limits
from tests.client.fakes import KEY, answering, client_at, plain, raw_server
from tests.client.test_network import endless

NOWHERE = "http://127.0.0.1:1"
LIMITS = Limits(connect=10.0, quick=10.0, repeat_after=0)
GOOD = "a sandbox's network may differ"


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
async def test_each_end_is_told_and_only_its_own_key_sent(status: str, key: str | None, words: str, good: bool) -> None:
    async with raw_server(answering(plain(b""))) as other:
        moved = plain(b"", status, f"Location: {other.url}/mcp")
        async with raw_server(answering(moved)) as server, client_at(NOWHERE, limits=LIMITS) as client:
            reached = await client.probe(f"{server.url}/deep/mcp?tenant=sentinel", SecretStr(key) if key else None)
    assert (reached.good, other.heads) == (good, [])
    [head] = [each.decode().lower() for each in server.heads]
    assert (words in reached.words, "from this machine" in reached.words) == (True, True)
    assert "sentinel" not in reached.words + reached.brief
    assert head.startswith("get /deep/mcp?tenant=sentinel http/1.1")
    assert KEY not in head
    assert ("authorization: bearer sentinel-mcp" in head) is (key is not None)


async def test_a_body_without_end_is_not_waited_for() -> None:
    async with raw_server(endless) as server, client_at(NOWHERE, limits=LIMITS) as client:
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
    assert (reached.brief, reached.good, reached.words[-1]) == (brief, False, ".")
    assert "sentinel" not in reached.words
