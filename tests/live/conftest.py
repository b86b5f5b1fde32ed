"""The real servers of a live run, a client for each, settings that are put back in the end, and what was found."""

import os
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.models.server import KeyState
from quarterdeck.client.options import SchemaField
from tests.live.kit import put_back, settings_of, unrestorable

OVERWRITE = os.environ.get("QUARTERDECK_LIVE_OVERWRITE") == "1"
"""Whether secrets may be overwritten that are stored and that nobody could put back."""


@dataclass(frozen=True)
class Target:
    """One server and its key; None for a server that wants none."""

    url: str
    key: SecretStr | None

    @property
    def label(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def client(self) -> Client:
        return Client(self.url, self.key)


def targets() -> Iterator[Target]:
    """Read "URL KEY" pairs from QUARTERDECK_LIVE_URLS, or the one server of QUARTERDECK_LIVE_URL and ..._KEY."""
    url, key = (os.environ.get(f"QUARTERDECK_LIVE_{name}", "") for name in ("URL", "KEY"))
    listed = os.environ.get("QUARTERDECK_LIVE_URLS", "").strip() or (url and f"{url} {key}")
    for words in map(str.split, filter(str.strip, re.split(r"[,\n]", listed))):
        if urlsplit(words[0]).scheme not in ("http", "https") or len(words) > 2:
            raise pytest.UsageError("QUARTERDECK_LIVE_URLS: give each server as URL KEY, one a line or between commas.")
        yield Target(words[0], SecretStr(words[1]) if len(words) > 1 else None)


NO_SERVER = pytest.param(None, id="no-server", marks=pytest.mark.skip(reason="QUARTERDECK_LIVE_URL names no server"))
PARAMS = [pytest.param(target, id=target.label) for target in targets()] or [NO_SERVER]
BOOK = pytest.StashKey[defaultdict[str, list[str]]]()  # label of a server -> what tests tell of it


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BOOK] = defaultdict[str, list[str]](list)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if book := config.stash[BOOK]:
        terminalreporter.section("live servers")
        for label, notes in book.items():
            terminalreporter.write_line(f"{label}:")
            for words in dict.fromkeys(notes):
                terminalreporter.write_line(f"  {words}")


@pytest.fixture(scope="session", params=PARAMS)
def target(request: pytest.FixtureRequest) -> Target:
    assert isinstance(request.param, Target)
    return request.param


@pytest.fixture(scope="session")
def notes(target: Target, pytestconfig: pytest.Config) -> list[str]:
    return pytestconfig.stash[BOOK][target.label]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(target: Target, notes: list[str]) -> AsyncIterator[Client]:
    """A client that has described its server; one for all tests, so that they keep its pace together."""
    async with target.client() as client:
        server = await client.describe()
        notes.append(f"release {await client.release() or 'unknown'}, {server.generation} generation")
        if server.key is not KeyState.ACCEPTED:
            pytest.fail(f"{target.label} does not take its key")
        yield client


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def editable(client: Client, notes: list[str]) -> AsyncIterator[Client]:
    """The client of a server whose settings may be changed; what they were is put back in the end."""
    before = await settings_of(client)
    lost = unrestorable(before, client.server)
    if lost and not OVERWRITE:
        pytest.skip(f"{' and '.join(lost)} would be lost for good; QUARTERDECK_LIVE_OVERWRITE=1 allows it")
    yield client
    for left in await put_back(client, before):
        notes.append(f"left changed: {left}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def schema(client: Client) -> Mapping[str, SchemaField]:
    """The server's own description of its settings by their places; empty where there is none."""
    return {each.place: each for each in reversed(await client.settings.schema())}
