import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, StdioServer, listed
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import files, kept, masks
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import OBJECT, Field, Group
from quarterdeck.settings.files import ImportRefused, imported
from quarterdeck.settings.form_fields import CANONICAL, FormFields
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp_json import without_secrets
from quarterdeck.settings.mcp_server import bare, filled, members, missing, place_of
from quarterdeck.settings.review import lines
from tests.settings.strategies import FILES, MARK, MARKED_RECORDS, MARKED_SERVER, marked_drafts, saved

STORED = Settings(language="de", max_iterations=5, llm_api_key_set=True, mcp_config=McpConfig(stdio_servers=(FILES,)))


def written(draft: Draft) -> str:
    return files.as_toml(files.exported(draft))


def as_told(server: McpServer, name: str, *, nested: bool) -> McpServer:
    """A server as one of the generations tells it: flat ones know no other members, nested ones a name of each."""
    if nested:
        return server.model_copy(update={"name": name})
    return type(server)(**{member: getattr(server, member) for member in type(server).model_fields})


@given(MARKED_RECORDS, st.booleans())
def test_what_was_exported_is_no_edit_where_it_came_from(record: Settings, nested: bool) -> None:
    servers = enumerate(listed(record.mcp_config))
    told = McpConfig.of(as_told(server, f"n{number}", nested=nested) for number, server in servers)
    leaves = {"agent_settings.agent_kind": "openhands"} if nested else {}
    draft = Draft(record.model_copy(update={"mcp_config": told, "leaves": leaves}))
    for write in (files.as_toml, files.as_json):
        result = imported(write(files.exported(draft)), draft)
        assert (result.draft.edits, result.wrong, result.notes) == ({}, (), ())


@given(marked_drafts(secrets=False), MARKED_RECORDS)
def test_edits_that_were_exported_are_edits_again_and_take_no_server_away(draft: Draft, other: Settings) -> None:
    text = files.as_json(files.exported(draft))
    result = imported(text, Draft(draft.base)).draft
    assert all(result.value(key) == value for key, value in draft.edits.items() if key != MCP)
    there = {place_of(bare(entry.server)) for entry in result.servers.remaining}
    assert {place_of(bare(entry.server)) for entry in draft.servers.remaining} <= there
    assert len(imported(text, Draft(other)).draft.servers.remaining) >= len(Draft(other).servers.remaining)


def test_only_what_the_file_names_is_changed_and_a_secret_that_was_filled_in_is_taken() -> None:
    text = 'not_set = ["language"]\n[settings]\nlanguage = "fr"\nllm_api_key = "sk-typed"\n'
    assert imported(text, Draft(STORED)).draft.changes == {"language": "fr", "llm_api_key": SecretStr("sk-typed")}


def test_values_of_another_kind_are_left_alone_and_named() -> None:
    bad = {"language": 5, "enable_sound_notifications": "yes", "max_iterations": "many", "llm_api_key": 5}
    other = {"nonsense": 1, "secrets_store": {}, "git_user_name": None}
    result = imported(json.dumps({"settings": bad | other, "not_set": ["foreign"], "stray": 3}), Draft(STORED))
    assert (result.draft.edited, len(result.wrong), result.notes) == (False, 4, ())
    foreign, stray = result.left
    assert foreign == "nonsense, secrets_store: this server does not have it, or lets nobody change it."
    assert stray == "stray: outside the table [settings]."


def test_values_with_a_null_in_them_survive_toml() -> None:
    extra = Field("agent_settings.llm.extra", "Extra", "", kind=OBJECT, group=Group.LLM)
    fields = FormFields((*CANONICAL.fields, extra))
    draft = Draft(Settings(leaves={"agent_settings.llm.extra": {"a": None, "b": [1, None]}}), fields=fields)
    assert imported(written(draft), draft) == files.Imported(draft)
    other = Draft(Settings(leaves={"agent_settings.llm.extra": {}}), fields=fields)
    assert imported(written(draft), other).draft.value("agent_settings.llm.extra") == {"a": None, "b": [1, None]}


def test_a_file_of_the_first_version_is_read_and_one_of_a_later_one_is_not() -> None:
    servers = 'stdio_servers = [{name = "files", command = "uvx", env = {K = "${K}"}}]'
    first = f'[quarterdeck]\nversion = 1\n[json]\nlanguage = "fr"\n[mcp]\n{servers}\n'
    stored = StdioServer(name="files", command="uvx", env=FILES.env)
    assert imported(first, Draft(STORED)).draft.changes == {"language": "fr", MCP: McpConfig(stdio_servers=(stored,))}
    with pytest.raises(ImportRefused, match="another version"):
        imported("[quarterdeck]\nversion = 3\n[settings]\n", Draft(STORED))


@given(st.text(max_size=40))
def test_any_text_is_refused_or_read(text: str) -> None:
    with suppress(ImportRefused):
        imported(f"[settings]\n{text}", Draft(STORED))


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@given(marked_drafts())
def test_no_secret_is_in_a_note_or_a_file(draft: Draft) -> None:
    after = saved(draft)
    written = (
        kept.with_run(None, "a", draft, NOON, "1").model_dump_json(),
        kept.with_save(None, draft, after.base, NOON).model_dump_json(),
        kept.with_save(None, draft, None, NOON).model_dump_json(),
        files.as_json(files.exported(draft)),
        without_secrets(listed(draft.servers.config())),
        repr(tuple(lines(draft))),
    )
    assert [text for text in written if MARK in text] == []


@given(st.lists(MARKED_SERVER, max_size=3))
def test_disabled_servers_are_kept_with_what_secrets_they_have(servers: list[McpServer]) -> None:
    for each in (tuple(servers), tuple(map(bare, servers))):
        text = kept.DisabledServers(servers=each).model_dump_json()
        assert kept.DisabledServers.model_validate_json(text).servers == each
    assert MARK not in text


@given(MARKED_SERVER)
def test_what_is_masked_is_filled_in_again_from_the_server_it_was_made_of(server: McpServer) -> None:
    hidden = bare(server)
    assert MARK not in json.dumps(members(hidden))
    assert bare(hidden) == hidden
    assert filled(hidden, server) == server
    assert bool(tuple(missing(hidden))) == (hidden != server)


def test_each_of_several_headers_is_filled_in_with_its_own_secret() -> None:
    sent = ("-H", "X-One: secret-one", "-H", "X-One: secret-two", "--quiet")
    server = StdioServer(name="curl", command="curl", args=sent)
    shown = bare(server)
    assert isinstance(shown, StdioServer)
    edited = filled(shown.model_copy(update={"args": (*shown.args[:-1], "--verbose")}), server)
    assert edited == server.model_copy(update={"args": (*sent[:-1], "--verbose")})


def test_addresses_keep_what_identifies_them() -> None:
    assert masks.address("https://a.example:8443/mcp") == "https://a.example:8443/mcp"
    assert masks.address("https://user:pw@a.example/x?token=t&b") == f"https://{MASK}@a.example/x?token={MASK}&{MASK}"


def test_of_arguments_what_may_be_secret_is_masked_and_no_more() -> None:
    given = ["--token", "abc", "--token", "--verbose", "--token", "-v", "-H", "abc", "read the token", "notes.txt"]
    given += ["--api-key=abc", "--api-key=", "run x=1 token: abc", "X-Team: abc", "-p", "8080"]
    given += ["https://abc@a.example/p"]
    assert masks.arguments(given) == [each.replace("abc", MASK) for each in given]
    assert masks.arguments(["--max-tokens", "8080"]) == ["--max-tokens", MASK]


def test_of_a_document_what_is_secret_by_its_name_is_masked_and_no_more() -> None:
    given = {"headers": {"X-Any": "abc", "count": 3}, "auth": {"strategy": "basic", "username": "abc"}}
    given |= {"language": "en", "max_output_tokens": 4096, "deep": {"headers": ["abc"]}}
    assert masks.document(given, "") == json.loads(json.dumps(given).replace("abc", MASK))
    assert masks.document({"api_key": "https://a.example/?for=abc"}, "") == {"api_key": MASK}
