"""The real servers of a live run, a client for each, settings that are put back in the end, and what was found."""

import os
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.server import KeyState
from quarterdeck.client.options import SchemaField
from tests.live.kit import delete_sandbox_left_by, put_back, settings_of, unrestorable

OVERWRITE = os.environ.get("QUARTERDECK_LIVE_OVERWRITE") == "1"
"""Whether secrets may be overwritten that are stored and that nobody could put back."""


@dataclass(frozen=True)
class Target:
    """One server and its key; None for a server that wants none."""

    url: str
    key: SecretStr | None

    @property
    def label(self) -> str:
        """Host and port: how reports name it."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def client(self) -> Client:
        """A client of it, at the client's own pace."""
        return Client(self.url, self.key)


def targets() -> tuple[Target, ...]:
    """Read "URL KEY" pairs from QUARTERDECK_LIVE_URLS, or the one server of QUARTERDECK_LIVE_URL and ..._KEY."""
    listed = os.environ.get("QUARTERDECK_LIVE_URLS", "")
    if not listed.strip() and (url := os.environ.get("QUARTERDECK_LIVE_URL")):
        listed = f"{url} {os.environ.get('QUARTERDECK_LIVE_KEY', '')}"
    return tuple(_target(pair.split()) for pair in re.split(r"[,\n]", listed) if pair.strip())


def _target(words: list[str]) -> Target:
    url, *keys = words
    if urlsplit(url).scheme not in ("http", "https") or len(keys) > 1:
        raise pytest.UsageError("QUARTERDECK_LIVE_URLS: give each server as URL KEY, one a line or between commas.")
    return Target(url, SecretStr(keys[0]) if keys else None)


UNNAMED = pytest.mark.skip(reason="QUARTERDECK_LIVE_URL names no server to test on")
PARAMS = [pytest.param(target, id=target.label) for target in targets()] or [
    pytest.param(None, id="no-server", marks=UNNAMED)
]


@dataclass
class Notes:
    """What tests tell of one server."""

    server: str = "not described"
    found: list[str] = field(default_factory=list)

    def add(self, words: str) -> None:
        """Note something that was found, once."""
        if words not in self.found:
            self.found.append(words)


BOOK = pytest.StashKey[defaultdict[str, Notes]]()
"""Label of a server -> what was noted of it."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BOOK] = defaultdict(Notes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if book := config.stash[BOOK]:
        terminalreporter.section("live servers")
        for label, notes in book.items():
            terminalreporter.write_line(f"{label}: {notes.server}")
            for words in notes.found:
                terminalreporter.write_line(f"  found: {words}")


@pytest.fixture(scope="session", params=PARAMS)
def target(request: pytest.FixtureRequest) -> Target:
    """Each server of the run in turn."""
    assert isinstance(request.param, Target)
    return request.param


@pytest.fixture(scope="session")
def notes(target: Target, pytestconfig: pytest.Config) -> Notes:
    """Where to note what was found about the server."""
    return pytestconfig.stash[BOOK][target.label]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client(target: Target, notes: Notes) -> AsyncIterator[Client]:
    """A client that has described its server; one for all tests, so that they keep its pace together."""
    async with target.client() as client:
        server = await client.describe()
        notes.server = f"release {await client.release() or 'unknown'}, {server.generation} generation"
        if server.key is not KeyState.ACCEPTED:
            pytest.fail(f"{target.label} does not take its key")
        yield client


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def editable(client: Client, notes: Notes) -> AsyncIterator[Client]:
    """The client of a server whose settings may be changed; what they were is put back in the end."""
    before = await settings_of(client)
    lost = unrestorable(before, client.server)
    if lost and not OVERWRITE:
        pytest.skip(f"{' and '.join(lost)} would be lost for good; QUARTERDECK_LIVE_OVERWRITE=1 allows it")
    yield client
    for left in await put_back(client, before):
        notes.add(f"left changed: {left}")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def schema(client: Client) -> Mapping[str, SchemaField]:
    """The server's own description of its settings by their places; empty where there is none."""
    return {each.place: each for each in reversed(await client.settings.schema())}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def started(client: Client) -> AsyncIterator[StartTask]:
    """The start of a conversation, going on while other tests run; its sandbox is deleted in the end."""
    created = await client.conversations.create(NewConversation())
    assert isinstance(created, StartTask)
    yield created
    await delete_sandbox_left_by(client, created.id)
