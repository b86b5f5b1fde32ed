"""Saving without a screen: what is reviewed, and what is said and kept however a store ends."""

from collections.abc import Awaitable, Callable, Iterable

import pytest
from hypothesis import assume, given
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.client.settings import PreparedRequest, rules_of
from quarterdeck.fleet.ages import utc_now
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.form_fields import fields_on
from quarterdeck.settings.kept import DisabledServers, Journal, with_replaced
from quarterdeck.settings.mcp import Servers, without_duplicates
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.review import Review, ReviewLine, problems, review, until_when
from quarterdeck.settings.save import Caller, SaveResult, complaint, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.settings.verify import ADDED_AGAIN, verify
from tests.client.fakes import NESTED, Answer, Asked, client_of
from tests.settings.flat_server import DOWN, LOST, FlatServer
from tests.settings.strategies import errors, marked_drafts, saved

MERGING = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True, fields=rules_of(Generation.FLAT, merges=True))

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


async def save_on(
    server: FlatServer,
    draft: Draft,
    keep: Keep | None = None,
    tell: Callable[[str], None] = lambda step: None,
    notes: Notes | None = None,
) -> SaveResult:
    notes = notes or Notes(server)
    client, _ = client_of(notes, server=MERGING)
    async with client:
        store = RememberingStore(client, TypedSecrets())
        return await save(draft, store, Caller(_mine, _yes, notes.note, utc_now, keep, tell=tell))


BASE = Settings(language="de", git_user_name="Ada", llm_api_key_set=False)
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
    result = await save_on(server, draft, tell=told.append, notes=notes)
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
    result = await save_on(server, DRAFT)
    assert (server.stores, result.saved) == (3, False)
    assert result.draft.changes == DRAFT.changes


async def test_what_this_machine_would_keep_is_not_kept_for_a_save_that_was_refused() -> None:
    kept: DisabledServers | None = None

    async def keep(gone: Iterable[McpServer], new: Iterable[McpServer]) -> DisabledServers | None:
        nonlocal kept
        kept = with_replaced(kept, gone, new)
        return kept

    holding = BASE.model_copy(update={"mcp_config": McpConfig(stdio_servers=(StdioServer(name="old", command="uvx"),))})
    disabled = Draft(holding).change_servers(Servers.disable, 0)
    server = flat(holding, DOWN)
    result = await save_on(server, disabled, keep)
    assert (server.stores > 0, kept, result.draft.edits) == (True, None, disabled.edits)
    assert (await save_on(flat(holding), disabled, keep)).saved
    assert kept is not None


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


REPLACING = Server(Generation.FLAT, KeyState.ACCEPTED, fields=rules_of(Generation.FLAT, merges=False))


def test_each_change_is_a_line_and_only_warnings_about_changes_are_repeated() -> None:
    draft = Draft(Settings(max_iterations=-5)).set("llm_model", "plain")
    tool = ShttpServer.model_validate({"url": "https://a.example/mcp", "api_key": "a", "headers": {"X-Team": "b"}})
    told = review(draft.change_servers(Servers.add, tool), MERGING)
    model, added = told.lines
    assert model == ReviewLine("set", "Model", "not set", "plain")
    assert added == ReviewLine("added", "HTTP https://a.example/mcp", "", "with key, header X-Team")
    assert [warning.partition(":")[0] for warning in told.warnings] == ["Model"]


def test_running_conversations_keep_the_old_values_of_what_they_go_by() -> None:
    draft = Draft(Settings(language="en"), fields=fields_on(REPLACING, (), "openhands"))
    model = draft.set("llm_model", "a/b").set("language", "fr")
    assert until_when(model, REPLACING, 0) == "new conversations only"
    assert until_when(model, REPLACING, 1) == "new conversations only; 1 running keeps the old values"
    assert until_when(model, REPLACING, 3) == "new conversations only; 3 running keep the old values"
    assert until_when(model, MERGING._replace(local=True), 3) == ""
    for key, value in (("language", "fr"), ("max_budget_per_task", 5.0), ("user_consents_to_analytics", True)):
        assert until_when(draft.set(key, value), REPLACING, 3) == ""


def test_edits_of_a_field_that_is_gone_stay_and_stop_a_save() -> None:
    place = "agent_settings.llm.timeout"
    words = {"label": "timeout", "section": "llm", "section_label": "LLM"}
    timeout = SchemaField(place=place, value_type="integer", variant="openhands", default=300, **words)
    described = Draft(Settings(leaves={place: 60}), fields=fields_on(NESTED, (timeout,), "openhands"))
    assert review(described.set(place, 30), NESTED).lines == (ReviewLine("set", "timeout", "60", "30", place=place),)
    edited = described.set(place, 30).set("language", "de")
    moved = edited.with_fields(fields_on(REPLACING, (), "openhands"))
    assert moved.edits == edited.edits
    (problem,) = [problem for problem in problems(moved, REPLACING) if problem.stops]
    assert "no such setting" in problem.words
    assert not problems(moved.revert(problem.key), REPLACING)


FILES = StdioServer(name="files", command="npx")


@given(marked_drafts())
def test_what_a_server_stored_as_it_was_asked_is_verified(draft: Draft) -> None:
    assume(not errors(draft))
    for hidden in (False, True):
        seen = verify(draft, saved(draft).base, hidden=hidden)
        assert (seen.stored, seen.good, seen.returned) == (True, seen.readable, ())


def test_a_field_that_nobody_here_touched_is_named_too_and_empty_text_counts_as_not_set() -> None:
    found = BASE.model_copy(update={"language": "fr", "git_user_name": None})
    (difference,) = verify(Draft(BASE).set("language", "fr"), found).differences
    assert (difference.key, difference.asked) == ("git_user_name", False)
    assert verify(Draft(BASE).unset("git_user_name"), BASE.model_copy(update={"git_user_name": ""})).stored


def test_servers_are_verified_one_by_one() -> None:
    tools = ShttpServer(url="https://a.example/mcp")
    base = BASE.model_copy(update={"mcp_config": McpConfig(stdio_servers=(FILES,), shttp_servers=(tools,))})
    uvx = FILES.model_copy(update={"command": "uvx"})
    draft = Draft(base).change_servers(Servers.remove, 0).change_servers(Servers.edit, 1, uvx)
    assert verify(draft, base).good == 0
    (back,) = verify(Draft(base).change_servers(Servers.remove, 1), base).differences
    assert (back.found, back.note) == ("there", ADDED_AGAIN)
    assert {difference.found for difference in verify(draft, base).differences} == {"there", "different"}
    done = base.model_copy(update={"mcp_config": draft.changes["mcp_config"]})
    assert (verify(draft, done).good, verify(draft, done).stored) == (2, True)


def test_a_removed_copy_that_the_server_adds_itself_is_told_and_is_no_failure() -> None:
    twice = Settings(mcp_config=McpConfig(stdio_servers=(FILES, FILES)))
    once = Draft(twice).change_servers(without_duplicates)
    seen = verify(once.set("language", "fr"), twice.model_copy(update={"language": "fr"}))
    assert (seen.stored, seen.readable, seen.good, seen.returned) == (True, 1, 1, ("stdio files",))
    gone = verify(once, Settings(mcp_config=McpConfig(stdio_servers=(FILES,))))
    assert (gone.readable, gone.good, gone.returned) == (1, 1, ())
