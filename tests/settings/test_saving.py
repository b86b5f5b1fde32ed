"""Saving without a screen: what is said and kept when a store fails in one of its ways."""

from collections.abc import Awaitable, Callable, Iterable

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.settings import PreparedRequest, rules_of
from quarterdeck.fleet.ages import utc_now
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.kept import DisabledServers, Journal, disabled_in, with_replaced
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Review
from quarterdeck.settings.save import Caller, SaveResult, complaint, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from tests.client.fakes import Answer, Asked, client_of
from tests.settings.flat_server import DOWN, LOST, FlatServer

SERVER = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True, fields=rules_of(Generation.FLAT, merges=True))

Keep = Callable[[Iterable[McpServer], Iterable[McpServer]], Awaitable[DisabledServers | None]]


def flat(record: Settings, *answers: Answer | Exception, ignores: Iterable[str] = ()) -> FlatServer:
    server = FlatServer(*answers, **record.model_dump(mode="json"))
    server.ignores = {*ignores}
    return server


class Dying(FlatServer):
    """Takes no connection once it was asked to store."""

    def __call__(self, asked: Asked) -> Answer | Exception:
        self.refusal = DOWN if self.stores else None
        return super().__call__(asked)


async def _mine(conflict: Conflict) -> Side:
    return Side.MINE


async def _yes(review: Review, request: PreparedRequest | None, why: str) -> bool:
    return True


class Notes:
    """The journal, and what it held when a store was asked for."""

    def __init__(self, server: FlatServer) -> None:
        self.server = server
        self.journal: Journal | None = None
        self.before: list[Journal | None] = []

    def __call__(self, asked: Asked) -> Answer | Exception:
        self.before += [self.journal] if asked.method == "POST" else []
        return self.server(asked)

    async def note(self, noted: Callable[[Journal | None], Journal | None]) -> None:
        self.journal = noted(self.journal)


async def saved(
    draft: Draft,
    server: FlatServer,
    keep: Keep | None = None,
    tell: Callable[[str], None] = lambda step: None,
    notes: Notes | None = None,
) -> SaveResult:
    notes = notes or Notes(server)
    client, _ = client_of(notes, server=SERVER)
    async with client:
        store = RememberingStore(client, TypedSecrets())
        return await save(draft, store, Caller(_mine, _yes, notes.note, utc_now, keep, tell=tell))


BASE = Settings(language="de", llm_api_key_set=False)
HAD = BASE.model_copy(update={"llm_api_key_set": True})
LANGUAGE = Draft(BASE).set("language", "fr")
DRAFT = LANGUAGE.set("llm_api_key", SecretStr("new"))
NOT_KNOWN = "Not known whether it is stored: API key. The connection to server.test broke. Save it again."
LOCKED = Answer({"detail": "locked"}, 500)
NOT_STORED = "It was not stored: The server failed with 500: locked."
NOT_YET = "Not stored so far, but it still may be: The connection to server.test broke."
EVERY = {"language", "llm_api_key"}
BOTH = Draft(HAD).set("language", "fr").set("llm_api_key", SecretStr("new"))


@pytest.mark.parametrize(
    ("draft", "server", "words", "is_saved", "left", "is_noted"),
    [
        (LANGUAGE, flat(BASE, LOST), "Saved · 1 of 1 verified", True, set(), True),
        (BOTH, flat(HAD), "Saved · 1 verified, 1 accepted", True, set(), True),
        (BOTH, flat(HAD, LOST), NOT_KNOWN, False, {"llm_api_key"}, True),
        (Draft(HAD).unset("llm_api_key"), flat(HAD, LOST), "Saved · 1 of 1 verified", True, set(), True),
        (DRAFT, flat(BASE, LOST, ignores=EVERY), NOT_YET, False, EVERY, True),
        (DRAFT, flat(BASE, LOCKED, ignores=EVERY), NOT_STORED, False, EVERY, False),
        (DRAFT, Dying(LOST, **BASE.model_dump(mode="json")), "Unknown whether it was stored", False, EVERY, True),
        (DRAFT, flat(BASE, DOWN), "Not saved: Cannot connect to server.test.", False, EVERY, False),
        (LANGUAGE, flat(BASE.model_copy(update={"language": "fr"})), "The server holds all", True, set(), False),
    ],
)
async def test_what_became_of_a_save_is_found_out_by_reading(
    draft: Draft, server: FlatServer, words: str, is_saved: bool, left: set[str], is_noted: bool
) -> None:
    """A secret is accepted only where the server said yes to the very request that stores it."""
    told: list[str] = []
    notes = Notes(server)
    result = await saved(draft, server, tell=told.append, notes=notes)
    assert result.words.startswith(words)
    assert ("Unknown whether it was stored; reading back…" in told) is (server.answers in ([LOST], [LOCKED]))
    assert (result.saved, result.error) == (is_saved, not is_saved)
    assert result.draft.changes == {key: draft.edits[key] for key in left}
    assert (result.meant is not None) is is_noted
    assert [each.saves[-1].unsure for each in notes.before if each is not None] == [True] * server.stores
    saves = notes.journal.saves if notes.journal is not None else ()
    assert [each.unsure for each in saves] == ([result.seen is None] if is_noted else [])


async def test_a_server_that_always_says_so_is_not_asked_for_ever() -> None:
    server = flat(BASE, Answer({"detail": "It changed."}, 409))
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

    holding = BASE.model_copy(update={"mcp_config": McpConfig(stdio_servers=(OLD,))})
    disabled = Draft(holding).change_servers(Servers.disable, 0)
    server = flat(holding, DOWN)
    result = await saved(disabled, server, keep)
    assert (server.stores > 0, kept, result.draft.edits) == (True, None, disabled.edits)
    result = await saved(disabled, flat(holding), keep)
    assert (result.saved, disabled_in(kept), result.draft.disabled) == (True, (OLD,), (OLD,))
    server = flat(BASE)
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
