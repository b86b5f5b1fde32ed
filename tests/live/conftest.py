"""One client for each server of the run, settings that are put back in the end, and the summary."""

from collections import defaultdict
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import NewConversation, StartTask
from quarterdeck.client.models.server import KeyState
from quarterdeck.client.options import SchemaField
from tests.live.kit import delete_sandbox_left_by
from tests.live.settings_kit import put_back, settings_of, unrestorable
from tests.live.summary import Book, Notes, summary
from tests.live.targets import OVERWRITE, PARAMS, Target

BOOK = pytest.StashKey[Book]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BOOK] = defaultdict(Notes)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if book := config.stash[BOOK]:
        terminalreporter.section("live servers")
        terminalreporter.write("\n".join(summary(book, terminalreporter.stats)))


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
        notes.server = await client.describe()
        notes.release = await client.release() or "unknown"
        if notes.server.key is not KeyState.ACCEPTED:
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
async def schema(client: Client) -> tuple[SchemaField, ...]:
    """The server's own description of its settings; skips where there is none."""
    fields = await client.settings.schema()
    if not fields:
        pytest.skip("this server does not describe its settings as forms")
    return fields


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def started(client: Client) -> AsyncIterator[StartTask]:
    """The start of a conversation, going on while other tests run; its sandbox is deleted in the end."""
    created = await client.conversations.create(NewConversation())
    assert isinstance(created, StartTask)
    yield created
    await delete_sandbox_left_by(client, created.id)
