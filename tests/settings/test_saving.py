"""Saving without a screen: what is said and kept when a store fails in one of its ways."""

from collections.abc import Awaitable, Callable, Iterable

import httpx
import pytest
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.settings import PreparedRequest, rules_of
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.kept import DisabledServers, disabled_in, with_replaced
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Review
from quarterdeck.settings.save import Caller, SaveResult, complaint, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from tests.client.fakes import NO_ROUTE, Answer, Asked, client_of

SERVER = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True, fields=rules_of(Generation.FLAT, merges=True))
LOST = httpx.ReadError("gone")
DOWN = httpx.ConnectError("down")


Keep = Callable[[Iterable[McpServer], Iterable[McpServer]], Awaitable[DisabledServers | None]]


class Flat:
    """A server that merges; with a `failure` it answers a store so, which before that it `applies` or not."""

    def __init__(
        self, record: Settings, *, failure: Answer | Exception | None = None, applies: bool = True, down: bool = False
    ) -> None:
        self.record = record.model_dump(mode="json")
        self.failure = failure
        self.applies = applies
        self.down = down
        """Whether it takes no connection once it was asked to store."""
        self.stores = 0

    def __call__(self, asked: Asked) -> Answer | Exception:
        if asked.path != "/api/settings":
            return NO_ROUTE
        if asked.method == "GET":
            return httpx.ConnectError("down") if self.stores and self.down else Answer(self.record)
        self.stores += 1
        if self.applies:
            key = asked.body.pop("llm_api_key", None)
            self.record |= asked.body | ({} if key is None else {"llm_api_key_set": key != ""})
        return self.failure or Answer({"message": "Settings stored"})


async def _mine(conflict: Conflict) -> Side:
    return Side.MINE


async def _yes(review: Review, request: PreparedRequest | None, why: str) -> bool:
    return True


async def _noted(meant: Draft, found: Settings | None) -> None:
    pass


async def saved(
    draft: Draft, server: Flat, keep: Keep | None = None, tell: Callable[[str], None] = lambda step: None
) -> SaveResult:
    client, _ = client_of(server)
    client.transport.server = SERVER
    async with client:
        store = RememberingStore(client, TypedSecrets())
        return await save(draft, store, Caller(_mine, _yes, _noted, keep, tell=tell))


BASE = Settings(language="de", llm_api_key_set=False)
HAD = BASE.model_copy(update={"llm_api_key_set": True})
LANGUAGE = Draft(BASE).set("language", "fr")
DRAFT = LANGUAGE.set("llm_api_key", SecretStr("new"))
NOT_KNOWN = "Not known whether it is stored: API key. Unknown whether it happened."
EVERY = {"language", "llm_api_key"}
BOTH = Draft(HAD).set("language", "fr").set("llm_api_key", SecretStr("new"))


@pytest.mark.parametrize(
    ("draft", "server", "words", "is_saved", "left"),
    [
        (LANGUAGE, Flat(BASE, failure=LOST), "Saved · 1 of 1 verified", True, set()),
        (BOTH, Flat(HAD), "Saved · 1 verified, 1 accepted", True, set()),
        (BOTH, Flat(HAD, failure=LOST), NOT_KNOWN, False, {"llm_api_key"}),
        (Draft(HAD).unset("llm_api_key"), Flat(HAD, failure=LOST), "Saved · 1 of 1 verified", True, set()),
        (DRAFT, Flat(BASE, failure=LOST, applies=False), "It was not stored; your edits are kept.", False, EVERY),
        (DRAFT, Flat(BASE, failure=LOST, down=True), "Unknown whether it was stored", False, EVERY),
        (DRAFT, Flat(BASE, failure=DOWN, applies=False), "Not saved: Cannot connect to server.test.", False, EVERY),
        (LANGUAGE, Flat(BASE.model_copy(update={"language": "fr"})), "The server holds all", True, set()),
    ],
)
async def test_what_became_of_a_save_is_found_out_by_reading(
    draft: Draft, server: Flat, words: str, is_saved: bool, left: set[str]
) -> None:
    """A secret is accepted only where the server said yes to the very request that stores it."""
    told: list[str] = []
    result = await saved(draft, server, tell=told.append)
    assert result.words.startswith(words)
    assert ("Unknown whether it was stored; reading back…" in told) is (server.failure is LOST)
    assert (result.saved, result.error) == (is_saved, not is_saved)
    assert result.draft.changes == {key: draft.edits[key] for key in left}
    assert (result.meant is not None) == (server.stores > 0 and (server.applies or server.down))


async def test_a_server_that_always_says_so_is_not_asked_for_ever() -> None:
    server = Flat(BASE, failure=Answer({"detail": "It changed."}, 409), applies=False)
    result = await saved(DRAFT, server)
    assert (server.stores, result.saved) == (3, False)
    assert result.draft.changes == DRAFT.changes


OLD = StdioServer(name="old", command="uvx")


async def test_what_this_machine_keeps_is_kept_before_it_is_sent_and_not_for_a_save_that_was_refused() -> None:
    kept: DisabledServers | None = None

    async def keep(gone: Iterable[McpServer], new: Iterable[McpServer]) -> DisabledServers | None:
        nonlocal kept
        kept = with_replaced(kept, gone, new)
        return kept

    async def no_disk(gone: Iterable[McpServer], new: Iterable[McpServer]) -> None:
        raise ServiceError(ErrorKind.LOCAL, "The disk is full.", outcome=Outcome.NOT_APPLIED)

    holding = BASE.model_copy(update={"mcp_config": McpConfig(stdio_servers=(OLD,))})
    disabled = Draft(holding).change_servers(Servers.disable, 0)
    server = Flat(holding, failure=DOWN, applies=False)
    result = await saved(disabled, server, no_disk)
    assert (server.stores, result.words, result.meant) == (0, "Not saved: The disk is full.", None)
    assert result.draft.edits == disabled.edits
    result = await saved(disabled, server, keep)
    assert (server.stores > 0, kept, result.draft.edits) == (True, None, disabled.edits)
    result = await saved(disabled, Flat(holding), keep)
    assert (result.saved, disabled_in(kept), result.draft.disabled) == (True, (OLD,), (OLD,))
    server = Flat(BASE)
    result = await saved(result.draft.change_servers(Servers.remove, 0), server, keep)
    assert (server.stores, result.saved, kept, result.draft.edited) == (0, True, None, False)


LISTED = McpConfig(
    sse_servers=(SseServer.model_validate({"url": "https://a.example", "name": "tools"}),),
    shttp_servers=(ShttpServer(url="https://b.example/mcp"), ShttpServer(url="https://b.example/other")),
    stdio_servers=(StdioServer(name="files", command="npx"),),
)


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (("max_iterations",), ("max_iterations", None)),
        (("mcp_config", "shttp_servers", 0, "url"), (MCP, 2)),
        (("mcp_config", "stdio_servers", 7), (MCP, None)),
        (("mcp_config", "tools", "timeout"), (MCP, 0)),
        (("mcp_config", "b-example", "url"), (MCP, 2)),
        (("mcp_config", "files", "env", "KEY"), (MCP, 3)),
        (("mcp_config", "stdio_servers", 0, "autoApprove"), (MCP, 3)),
        (("mcp_config", "nobody", "url"), (MCP, None)),
        (("mcp_config",), (MCP, None)),
        (("v2_enabled",), None),
        ((), None),
    ],
)
def test_a_complaint_of_the_server_stands_at_its_field_or_row(
    location: tuple[str | int, ...], place: tuple[str, int | None] | None
) -> None:
    """The row is found among those that were sent, by its list and number or by the name it is stored under."""
    problem = complaint(Draft(Settings(mcp_config=LISTED)).change_servers(Servers.remove, 1), location, "bad")
    assert place == (None if problem is None else (problem.key, problem.row))
    assert problem is None or problem.stops
    if location[-1:] in (("KEY",), ("autoApprove",)):
        assert problem is not None
        assert problem.words == f"The server says: {location[-1]}: bad"
