"""Saving without a screen: what is said and kept when a store fails in one of its ways."""

from collections.abc import Awaitable, Callable, Sequence

import pytest
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings, SettingsChanges
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Review
from quarterdeck.settings.save import Questions, Request, SaveResult, complaint, save

SERVER = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
LOST = ServiceError(ErrorKind.UNKNOWN_OUTCOME, "No answer came.", outcome=Outcome.UNKNOWN)
CONFLICT = ServiceError(ErrorKind.CONFLICT, "It changed.", status=409)
DOWN = ServiceError(ErrorKind.UNREACHABLE, "Cannot connect.", outcome=Outcome.NOT_SENT)


class FakeStore:
    """Keeps a record; `failure` is raised by a store, which before that applies it or not."""

    def __init__(
        self,
        record: Settings,
        *,
        failure: ServiceError | None = None,
        applies: bool = True,
        down_after: ServiceError | None = None,
    ) -> None:
        self.record = record
        self.failure = failure
        self.applies = applies
        self.down_after = down_after
        self.stores = 0

    def losing(self, base: Settings | None, changes: SettingsChanges) -> tuple[str, ...]:
        return ()

    async def secret_names(self) -> frozenset[str] | None:
        return None

    async def load(self) -> Settings | None:
        if self.stores and self.down_after is not None:
            raise self.down_after
        return self.record

    async def store(self, base: Settings | None, changes: SettingsChanges) -> None:
        self.stores += 1
        if self.applies:
            flags = {f"{key}_set": value is not None for key, value in changes.items() if key == "llm_api_key"}
            plain = {key: value for key, value in changes.items() if key != "llm_api_key"}
            self.record = self.record.model_copy(update=plain | flags)
        if self.failure is not None:
            raise self.failure

    def preview(self, base: Settings | None, changes: SettingsChanges) -> PreparedRequest:
        return PreparedRequest("POST", "/api/settings", dict(changes))


async def _mine(conflicts: Sequence[Conflict]) -> Sequence[Side]:
    return [Side.MINE] * len(conflicts)


async def _yes(review: Review, request: Request | None, why: str) -> bool:
    return True


async def _nothing(draft: Draft) -> None:
    return None


async def saved(
    draft: Draft, store: FakeStore, prepare: Callable[[Draft], Awaitable[None]] = _nothing
) -> tuple[SaveResult, list[str]]:
    steps: list[str] = []
    return await save(draft, store, SERVER, Questions(_mine, _yes, prepare), steps.append), steps


BASE = Settings(language="de", llm_api_key_set=False)
HAD = BASE.model_copy(update={"llm_api_key_set": True})
LANGUAGE = Draft(BASE).set("language", "fr")
DRAFT = LANGUAGE.set("llm_api_key", SecretStr("new"))
NOT_KNOWN = "Not known whether it is stored: API key. No answer came. The edit is kept"
EVERY = {"language", "llm_api_key"}
BOTH = Draft(HAD).set("language", "fr").set("llm_api_key", SecretStr("new"))


@pytest.mark.parametrize(
    ("draft", "store", "words", "is_saved", "left"),
    [
        (LANGUAGE, FakeStore(BASE, failure=LOST), "Saved · 1 of 1 verified", True, set()),
        (BOTH, FakeStore(HAD), "Saved · 1 verified, 1 accepted", True, set()),
        (BOTH, FakeStore(HAD, failure=LOST), NOT_KNOWN, False, {"llm_api_key"}),
        (Draft(HAD).unset("llm_api_key"), FakeStore(HAD, failure=LOST), "Saved · 1 of 1 verified", True, set()),
        (DRAFT, FakeStore(BASE, failure=LOST, applies=False), "It was not stored; your edits are kept.", False, EVERY),
        (DRAFT, FakeStore(BASE, failure=LOST, down_after=DOWN), "Unknown whether it was stored", False, EVERY),
        (DRAFT, FakeStore(BASE, failure=DOWN, applies=False), "Not saved: Cannot connect.", False, EVERY),
        (LANGUAGE, FakeStore(BASE.model_copy(update={"language": "fr"})), "The server holds all", True, set()),
    ],
)
async def test_what_became_of_a_save_is_found_out_by_reading(
    draft: Draft, store: FakeStore, words: str, is_saved: bool, left: set[str]
) -> None:
    """A secret is accepted only where the server said yes to the very request that stores it."""
    result, _ = await saved(draft, store)
    assert result.words.startswith(words)
    assert (result.saved, result.error) == (is_saved, not is_saved)
    assert result.draft.changes == {key: draft.edits[key] for key in left}
    assert (result.meant is not None) == (store.stores > 0 and (store.applies or store.down_after is not None))


async def test_a_server_that_always_says_so_is_not_asked_for_ever() -> None:
    store = FakeStore(BASE, failure=CONFLICT, applies=False)
    result, _ = await saved(DRAFT, store)
    assert (store.stores, result.saved) == (3, False)
    assert result.draft.changes == DRAFT.changes


async def test_what_cannot_be_prepared_or_concerns_only_this_machine_is_not_sent() -> None:
    async def no_disk(draft: Draft) -> None:
        raise ServiceError(ErrorKind.LOCAL, "The disk is full.", outcome=Outcome.NOT_APPLIED)

    store = FakeStore(BASE)
    result, _ = await saved(DRAFT, store, no_disk)
    assert (store.stores, result.words, result.meant) == (0, "Not saved: The disk is full.", None)
    assert result.draft.changes == DRAFT.changes
    disabled = Draft(BASE).with_disabled([StdioServer(name="old", command="uvx")])
    result, _ = await saved(disabled.remove_server(0), store)
    assert (store.stores, result.saved, result.draft.edited) == (0, True, False)


LISTED = McpConfig(
    sse_servers=(SseServer.model_validate({"url": "https://a.example", "name": "tools.v2"}),),
    shttp_servers=(ShttpServer(url="https://b.example/mcp"), ShttpServer(url="https://b.example/other")),
    stdio_servers=(StdioServer(name="files", command="npx"),),
)


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (("max_iterations",), ("max_iterations", None, "")),
        (("mcp_config", "shttp_servers", 0, "url"), (MCP, 2, "url")),
        (("mcp_config", "stdio_servers", 7), (MCP, None, "")),
        (("mcp_config", "tools", "v2", "timeout"), (MCP, 0, "timeout")),
        (("mcp_config", "b-example", "url"), (MCP, 2, "url")),
        (("mcp_config", "files", "env", "KEY"), (MCP, 3, "env")),
        (("mcp_config", "nobody", "url"), (MCP, None, "")),
        (("mcp_config",), (MCP, None, "")),
        (("v2_enabled",), None),
        ((), None),
    ],
)
def test_a_complaint_of_the_server_stands_at_its_field_or_row(
    location: tuple[str | int, ...], place: tuple[str, int | None, str] | None
) -> None:
    """The row is found among those that were sent, by its list and number or by the name it is stored under."""
    problem = complaint(Draft(Settings(mcp_config=LISTED)).remove_server(1), location, "bad")
    assert place == (None if problem is None else (problem.key, problem.row, problem.member))
    assert problem is None or problem.stops
