from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.flat import flat_rules
from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import LOAD_ONLY, Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.fleet.ages import utc_now
from quarterdeck.settings import mcp_checks
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.form_fields import CANONICAL, fields_on
from quarterdeck.settings.kept import DisabledServers, Journal
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp import Servers, without_duplicates
from quarterdeck.settings.merge import Conflict, Side, merge
from quarterdeck.settings.review import Review, ReviewLine, problems, review, until_when
from quarterdeck.settings.save import Caller, SaveResult, complaint, save
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.settings.verify import ADDED_AGAIN, verify
from quarterdeck.settings.words import holds_secret
from tests.client.fakes import NESTED, Answer, Asked, client_of
from tests.client.settings_servers import DOWN, LOST, STORED, FlatServer, NestedServer
from tests.live.test_settings import VALUES
from tests.settings.strategies import EDITS, RECORDS, Edits, edited, errors, marked_drafts, saved

BAD: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("max_budget_per_task", "0 or more", ("-1",)),
    ("max_budget_per_task", "not a number", ("NaN", "1e999", "five")),
    ("max_iterations", "1 or more", ("0",)),
    ("max_iterations", "not a whole number", ("1.5", "many")),
    ("max_iterations", "too many digits", ("999999999999999999999999999999", "-1_000_000_000_000_000_000_000")),
    ("remote_runtime_resource_factor", "1 or more", ("0",)),
    ("llm_base_url", "Begin the address with", ("a.example", "ftp://a.example")),
    ("llm_base_url", "names no host", ("https://",)),
    ("llm_base_url", "not a web address", ("https://a:port/x", "https://[::1/x")),
    ("llm_base_url", "no spaces", ("https://a b.c",)),
    ("llm_model", "no spaces", ("openai/gpt 5",)),
    ("llm_model", "mask", ("********",)),
    ("llm_api_key", "mask", ("**********", "••••••", "<hidden>")),
    ("llm_api_key", "Bearer", ("Bearer sk-1",)),
    ("llm_api_key", "quotation", ('"sk-1"',)),
    ("llm_api_key", "a space", ("sk-1\nsk-2", "sk-1 sk-2")),
    ("llm_api_key", "Nothing is typed", ("   ",)),
    ("git_user_name", "The characters", ("Ada $(reboot)", 'Ada "the" L', "Ada `x`")),
    ("git_user_name", "control character", ("Ada\x1b[2J",)),
    ("git_user_email", "The characters", ("ada\\@example.com",)),
    ("sandbox_base_container_image", "not an image name", ("Not An Image",)),
)
ODD = ["max_iterations=20000", "max_budget_per_task=0.5", "llm_model=gpt-5", "llm_base_url=http://localhost:4000"]
ODD += ["search_api_key=other-key", "language=eo", "agent=MyAgent", "remote_runtime_resource_factor=3"]
ODD += ["git_user_email=nobody", "email=nobody", "sandbox_base_container_image=python"]
GOOD = ["max_budget_per_task=2,50", "max_budget_per_task=$5", "max_budget_per_task=0", "max_iterations=1_000"]
GOOD += ["llm_model=anthropic/claude-sonnet-4-5", "llm_base_url=https://gateway.example.com/v1", "language=zh-CN"]
GOOD += ["llm_api_key=sk-ant-api03-x", "search_api_key=tvly-x", "git_user_name=Ada O'Hara"]
GOOD += ["sandbox_base_container_image=ghcr.io:443/acme/base_image:1.2"]
EACH: list[tuple[str, str, bool | None, str]] = [(key, typed, True, words) for key, words, bad in BAD for typed in bad]
for stops, group in ((False, ODD), (None, GOOD)):
    EACH += [(key, typed, stops, "") for key, _, typed in (each.partition("=") for each in group)]


@pytest.mark.parametrize(("key", "typed", "stops", "words"), EACH)
def test_bad_input_stops_the_save_with_one_sentence(key: str, typed: str, stops: bool | None, words: str) -> None:
    field = CANONICAL.by_key[key]
    value = SecretStr(typed) if field.secret else field.parse(typed)
    problem = next((each for each in Draft(Settings()).set(key, value).problems if each.key == key), None)
    assert (None if problem is None else problem.stops) is stops
    if problem is not None:
        assert words in problem.words
        assert problem.words.endswith((".", "?"))
        assert "\n" not in problem.words


def of(*servers: McpServer) -> list[tuple[int | None, str, bool]]:
    rows = Servers()
    for server in servers:
        rows = rows.add(server)
    return [(problem.row, problem.member, problem.stops) for problem in rows.problems]


FILES = StdioServer(name="files", command="npx")
BAD_SERVERS: list[tuple[McpServer, str]] = [(SseServer(url=bad), "url") for bad in ("a.example", "ftp://a.example", "")]
BAD_SERVERS += [(FILES.model_copy(update={"command": bad}), "command") for bad in ("npx -y x", "")]
BAD_SERVERS += [(FILES.model_copy(update={"name": bad}), "name") for bad in ("my files", "")]
ENVS = {"A-B": SecretStr("x")}, {"A": SecretStr("****")}
BAD_SERVERS += [(FILES.model_copy(update={"env": bad}), "env") for bad in ENVS]
BAD_SERVERS += [(ShttpServer(url="https://a.example", timeout=seconds), "timeout") for seconds in (0, 3601)]
BAD_SERVERS += [(SseServer(url="https://a.example", api_key=SecretStr("<redacted>")), "api_key")]


@pytest.mark.parametrize(("server", "member"), BAD_SERVERS)
def test_a_bad_server_stops_the_save_at_its_member(server: McpServer, member: str) -> None:
    assert of(server) == [(0, member, True)]
    told = [problem.words for problem in mcp_checks.problems(server)]
    assert not any(mask in words for words in told for mask in ("****", "<redacted>"))


def test_equal_names_stop_and_equal_addresses_of_two_types_warn() -> None:
    assert of(FILES, FILES) == [(0, "name", True), (1, "name", True)]
    address = "https://tools.example.com/x"
    assert of(SseServer(url=address), ShttpServer(url=address)) == [(0, "url", False), (1, "url", False)]


def test_what_is_behind_a_mask_has_to_be_typed_again_and_is_named_without_it() -> None:
    headers = {"X-Key": SecretStr(MASK), "X-Other": SecretStr("typed")}
    (found,) = mcp_checks.problems(SseServer.model_validate({"url": "https://a.example/sse", "headers": headers}))
    assert found == Problem("The value of a header is hidden; type it again.", member="headers")
    (found,) = mcp_checks.problems(FILES.model_copy(update={"env": {"TOKEN": SecretStr("<hidden>")}}))
    assert "hidden" not in found.words
    assert "TOKEN" in found.words


def test_every_documented_field_has_an_entry() -> None:
    documented = set(Settings.model_fields) - LOAD_ONLY - {"leaves"}
    assert ({entry.key for entry in CATALOGUE if not entry.extra}, len(documented)) == (documented, 25)
    assert {entry.key for entry in CATALOGUE} - VALUES.keys() == {MCP, "secrets_store"}, "tried on real servers"


def test_what_was_stored_badly_before_only_warns_and_empty_text_counts_as_not_set() -> None:
    doubles = McpConfig(stdio_servers=(FILES, FILES))
    draft = Draft(Settings(max_iterations=-5, llm_base_url="", git_user_email="", mcp_config=doubles))
    assert [(each.key, each.stops) for each in draft.problems] == [("max_iterations", False)] + 2 * [(MCP, False)]
    after = draft.set("max_iterations", -6)
    assert (len(errors(after)), after.servers is draft.servers) == (1, True), "the list is not checked again"


def test_unknown_members_of_the_list_of_servers_are_carried() -> None:
    stored, newer = (Settings(mcp_config=McpConfig.model_validate({"mode": mode})) for mode in ("x", "new"))
    draft = Draft(stored).change_servers(Servers.add, FILES)
    assert draft.changes["mcp_config"].model_extra == {"mode": "x"}
    added = merge(draft, newer).draft.changes["mcp_config"]
    assert (added.model_extra, added.stdio_servers) == ({"mode": "new"}, (FILES,))


@given(RECORDS, EDITS, st.data())
def test_edits_change_nothing_else_and_are_undone_and_redone(base: Settings, edits: Edits, data: st.DataObject) -> None:
    draft, touched = edited(Draft(base), edits), dict(edits)
    assert set(draft.changes) <= set(touched)
    assert all(draft.value(key) == value for key, value in touched.items())
    untouched = data.draw(st.sampled_from([key for key in CANONICAL.by_key if key not in touched]))
    assert draft.value(untouched) == Draft(base).value(untouched)
    undone = draft
    while undone.past:
        undone = undone.undo()
    assert not undone.edited
    while undone.future:
        undone = undone.redo()
    assert undone.edits == draft.edits


MERGING = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True, fields=flat_rules(merges=True))


def flat(record: Settings, *answers: Answer | Exception, ignores: Iterable[str] = ()) -> FlatServer:
    server, server.ignores = FlatServer(*answers, **record.model_dump(mode="json")), {*ignores}
    return server


class Dying(FlatServer):
    """Takes no connection once it was asked to store."""

    def __call__(self, asked: Asked) -> Answer | Exception:
        self.refusal = DOWN if self.stores else None
        return super().__call__(asked)


class Notes:
    """What is kept here, and the journal when a store was asked for; each question is answered for the own edits."""

    def __init__(self, server: FlatServer) -> None:
        self.server = server
        self.journal, self.disabled = Journal(), DisabledServers()
        self.before: list[Journal] = []

    def __call__(self, asked: Asked) -> Answer | Exception:
        self.before += [self.journal] if asked.method == "POST" else []
        return self.server(asked)

    async def note(self, noted: Callable[[Journal], Journal]) -> Journal:
        self.journal = noted(self.journal)
        return self.journal

    async def keep(self, kept: Callable[[DisabledServers], DisabledServers]) -> DisabledServers:
        self.disabled = kept(self.disabled)
        return self.disabled

    async def mine(self, conflict: Conflict) -> Side:
        return Side.MINE

    async def agrees(self, review: Review, request: PreparedRequest | None, why: str) -> bool:
        return True


async def save_on(server: FlatServer, draft: Draft, notes: Notes | None = None, **more: Any) -> SaveResult:
    notes = notes or Notes(server)
    client, _ = client_of(notes, server=MERGING)
    async with client:
        return await save_in(RememberingStore(client, TypedSecrets()), draft, notes, **more)


async def save_in(store: RememberingStore, draft: Draft, notes: Notes, **more: Any) -> SaveResult:
    return await save(draft, store, Caller(notes.mine, notes.agrees, notes.note, notes.keep, utc_now, **more))


UNSTORED: list[tuple[dict[str, Any], Answer | Exception, str]] = [
    ({"env": {"K": SecretStr("two")}}, LOST, "Not known whether it is stored: stdio files."),
    ({"cwd": "/srv"}, STORED, "Saved, but only 0 of 1 verified: stdio files is different"),
    ({"name": "docs"}, STORED, "Saved, but only 0 of 1 verified: stdio docs is not there"),
]


@pytest.mark.parametrize(("changed", "answer", "words"), UNSTORED)
async def test_what_is_not_stored_of_a_server_stays(changed: Any, answer: Answer | Exception, words: str) -> None:
    keeper, files = NestedServer(), StdioServer(name="files", command="npx", env={"K": SecretStr("one")})
    client, _ = client_of(lambda asked: answer if is_kept and asked.method == "POST" else keeper(asked), server=NESTED)
    nested, store, is_kept = fields_on(NESTED, (), "openhands"), RememberingStore(client, TypedSecrets()), False
    async with client:
        added = Draft(await store.load(), fields=nested).change_servers(Servers.add, files)
        assert (await save_in(store, added, Notes(flat(BASE)))).words == "Saved · 1 accepted"
        stored, is_kept = Draft(await store.load(), fields=nested), True
        edit = stored.change_servers(Servers.edit, 0, stored.servers.entries[0].server.model_copy(update=changed))
        result = await save_in(store, edit, Notes(flat(BASE)))
        assert (result.words.startswith(words), result.draft.changes) == (True, edit.changes)
        keeper.agent["mcp_config"]["files"] |= {"command": "uvx", "env": {"K": "of somebody else"}}
        assert not holds_secret(Draft(await store.load(), fields=nested).servers.entries[0].server)


BASE = Settings(language="de", git_user_name="Ada", llm_api_key_set=False)
HAD, LANGUAGE = BASE.model_copy(update={"llm_api_key_set": True}), Draft(BASE).set("language", "fr")
DRAFT = LANGUAGE.set("llm_api_key", SecretStr("new"))
NOT_KNOWN = "Not known whether it is stored: API key. The connection to server.test broke. Save it again."
LOCKED, NOT_STORED = Answer({"detail": "locked"}, 500), "It was not stored: The server failed with 500: locked."
NOT_YET = "Not stored so far, but it still may be: The connection to server.test broke."
EVERY, BOTH = {"language", "llm_api_key"}, Draft(HAD).set("language", "fr").set("llm_api_key", SecretStr("new"))


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
        (LANGUAGE, flat(BASE.model_copy(update={"language": "fr"})), "It is stored already", True, set(), False),
    ],
)
async def test_what_became_of_a_save_is_found_out_by_reading(
    draft: Draft, server: FlatServer, words: str, is_saved: bool, left: set[str], is_noted: bool
) -> None:
    """A secret is accepted only where the server said yes to the very request that stores it."""
    told: list[str] = []
    notes = Notes(server)
    result = await save_on(server, draft, notes, tell=told.append)
    assert result.words.startswith(words)
    assert ("Unknown whether it was stored; reading back…" in told) is (server.answers in ([LOST], [LOCKED]))
    assert (result.saved, result.error) == (is_saved, not is_saved)
    assert result.draft.changes == {key: draft.edits[key] for key in left}
    assert (result.meant is not None) is is_noted
    assert [each.saves[-1].unsure for each in notes.before] == [True] * server.stores
    assert [each.unsure for each in notes.journal.saves] == ([result.seen is None] if is_noted else [])


async def test_a_server_that_always_says_so_is_not_asked_for_ever() -> None:
    server = flat(BASE, Answer({"detail": "It changed."}, 409))
    result = await save_on(server, DRAFT)
    assert (server.stores, result.saved, result.draft.changes) == (3, False, DRAFT.changes)


async def test_what_another_deck_makes_of_what_is_kept_while_a_save_is_sent_is_left_alone() -> None:
    old, edited, other = (StdioServer(name="old", command=command) for command in ("uvx", "npx", "deno"))
    holding = BASE.model_copy(update={"mcp_config": McpConfig(stdio_servers=(old,))})
    notes = Notes(flat(holding))

    def meanwhile(step: str) -> None:
        if step == "Saving…":
            assert notes.disabled == DisabledServers(servers=(old,))
            notes.disabled = DisabledServers(servers=(edited, other))

    disabled = Draft(holding).change_servers(Servers.disable, 0)
    assert (await save_on(notes.server, disabled, notes, tell=meanwhile)).saved
    assert notes.disabled == DisabledServers(servers=(edited, other))


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
def test_a_complaint_stands_at_its_place(location: tuple[str | int, ...], place: tuple[str, int | None] | None) -> None:
    """The row is found among those that were sent, by its list and number or by the name it is stored under."""
    problem = complaint(Draft(Settings(mcp_config=LISTED)).change_servers(Servers.remove, 1), location, "bad")
    assert place == (None if problem is None else (problem.key, problem.row))
    assert problem is None or problem.stops
    if location[-1:] in (("KEY",), ("autoApprove",)):
        assert problem is not None
        assert problem.words == f"The server says: {location[-1]}: bad"


REPLACING = Server(Generation.FLAT, KeyState.ACCEPTED, fields=flat_rules(merges=False))


def test_each_change_is_a_line_and_only_warnings_about_changes_are_repeated() -> None:
    draft = Draft(Settings(max_iterations=-5)).set("llm_model", "plain")
    members = {"api_key": "a", "headers": {"X-Team": "b"}, "cwd": "/srv"}
    tool = ShttpServer.model_validate({"url": "https://a.example/mcp", **members})
    told = review(draft.change_servers(Servers.add, tool), MERGING)
    model, added = told.lines
    assert model == ReviewLine("set", "Model", "not set", "plain")
    assert added == ReviewLine("added", "HTTP https://a.example/mcp", "", "with key, header X-Team, directory /srv")
    assert [warning.partition(":")[0] for warning in told.warnings] == ["Model"]


def test_running_conversations_keep_the_old_values_of_what_they_go_by() -> None:
    draft = Draft(Settings(language="en"), fields=fields_on(REPLACING, (), "openhands"), disabled=(FILES,))
    model = draft.set("llm_model", "a/b").set("language", "fr")
    assert until_when(model, REPLACING, 0) == "new conversations only"
    assert until_when(model, REPLACING, 1) == "new conversations only; 1 running keeps the old values"
    assert until_when(model, REPLACING, 3) == "new conversations only; 3 running keep the old values"
    assert until_when(model, MERGING._replace(local=True), 3) == ""
    unused = {"language": "fr", "max_budget_per_task": 5.0, "user_consents_to_analytics": True}
    assert until_when(draft.set_all(unused | {"mcp_config": draft.servers.remove(0)}), REPLACING, 3) == ""


def test_edits_of_a_field_that_is_gone_stay_and_stop_a_save() -> None:
    place, words = "agent_settings.llm.timeout", {"label": "timeout", "section": "llm", "section_label": "LLM"}
    timeout = SchemaField(place=place, value_type="integer", variant="openhands", default=300, **words)
    described = Draft(Settings(leaves={place: 60}), fields=fields_on(NESTED, (timeout,), "openhands"))
    assert review(described.set(place, 30), NESTED).lines == (ReviewLine("set", "timeout", "60", "30", place=place),)
    edited = described.set(place, 30).set("language", "de")
    moved = edited.with_fields(fields_on(REPLACING, (), "openhands"))
    assert moved.edits == edited.edits
    (problem,) = [problem for problem in problems(moved, REPLACING) if problem.stops]
    assert "no such setting" in problem.words
    assert not problems(moved.revert(problem.key), REPLACING)


@given(marked_drafts())
def test_what_a_server_stored_as_it_was_asked_is_verified(draft: Draft) -> None:
    assume(not errors(draft))
    for nested in (False, True):
        seen = verify(replace(draft, fields=replace(draft.fields, nested=nested)), saved(draft).base)
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


def test_a_removed_copy_that_the_server_adds_itself_is_told_and_is_no_failure() -> None:
    twice = Settings(mcp_config=McpConfig(stdio_servers=(FILES, FILES)))
    once = Draft(twice).change_servers(without_duplicates)
    seen = verify(once.set("language", "fr"), twice.model_copy(update={"language": "fr"}))
    assert (seen.stored, seen.readable, seen.good, seen.returned) == (True, 1, 1, ("stdio files",))
    gone = verify(once, Settings(mcp_config=McpConfig(stdio_servers=(FILES,))))
    assert (gone.readable, gone.good, gone.returned) == (1, 1, ())
