import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, StdioServer, listed
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import files
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import OBJECT, Field, Group
from quarterdeck.settings.files import ImportRefused, imported
from quarterdeck.settings.form_fields import CANONICAL, FormFields
from quarterdeck.settings.mcp_server import bare, place_of
from tests.settings.strategies import MARKED_RECORDS, marked_drafts

FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("held")})
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
