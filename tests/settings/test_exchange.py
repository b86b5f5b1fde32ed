import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import files
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import OBJECT, Field, Group
from quarterdeck.settings.files import ImportRefused, imported
from quarterdeck.settings.form_fields import CANONICAL, FormFields
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import bare
from tests.settings.strategies import MARKED_RECORDS, marked_drafts

FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("held")})
STORED = Settings(language="de", max_iterations=5, llm_api_key_set=True, mcp_config=McpConfig(stdio_servers=(FILES,)))


def written(draft: Draft) -> str:
    return files.as_toml(files.exported(draft, release="1.6.0"))


@given(MARKED_RECORDS)
def test_what_was_exported_is_no_edit_where_it_came_from(record: Settings) -> None:
    for write in (files.as_toml, files.as_json):
        result = imported(write(files.exported(Draft(record), release="1.6.0")), Draft(record))
        assert (result.draft.edits, result.notes) == ({}, ())


@given(marked_drafts(secrets=False), MARKED_RECORDS)
def test_edits_that_were_exported_are_edits_again_and_take_no_server_away(draft: Draft, other: Settings) -> None:
    text = files.as_json(files.exported(draft, release="1.6.0"))
    result = imported(text, Draft(draft.base)).draft
    assert all(result.value(key) == value for key, value in draft.edits.items() if key != MCP)
    there = [bare(entry.server) for entry in result.servers.left]
    assert all(bare(entry.server) in there for entry in draft.servers.left)
    assert len(imported(text, Draft(other)).draft.servers.left) >= len(Draft(other).servers.left)


def test_only_what_the_file_names_is_changed_and_what_it_says_is_not_set_is_unset() -> None:
    result = imported('[settings]\nlanguage = "fr"\n', Draft(STORED))
    assert result.draft.changes == {"language": "fr"}
    exported = written(Draft(Settings(language="de")))
    assert imported(exported, Draft(STORED)).draft.changes["max_iterations"] is None


def test_a_server_keeps_the_secret_stored_for_it_and_another_has_to_be_typed() -> None:
    text = written(Draft(STORED).change_servers(Servers.edit, 0, FILES.model_copy(update={"command": "uvx"})))
    (server,) = imported(text, Draft(STORED)).draft.changes["mcp_config"].stdio_servers
    assert (server.command, server.env) == ("uvx", FILES.env)
    elsewhere = imported(text, Draft(Settings()))
    assert elsewhere.notes == ("stdio files: to be typed: K.",)
    assert elsewhere.draft.errors


def test_a_secret_that_was_filled_in_is_taken() -> None:
    text = written(Draft(STORED)).replace("${K}", "typed") + "\n[more]\n"
    text = text.replace("[settings]", '[settings]\nllm_api_key = "sk-typed"')
    changes = imported(text, Draft(Settings())).draft.changes
    assert changes["llm_api_key"] == SecretStr("sk-typed")
    assert changes["mcp_config"].stdio_servers[0].env == {"K": SecretStr("typed")}


def test_values_of_another_kind_are_left_alone_and_named() -> None:
    bad = {"language": 5, "enable_sound_notifications": "yes", "max_iterations": "many", "llm_api_key": 5}
    text = json.dumps({"settings": {**bad, "nonsense": 1, "secrets_store": {}, "git_user_name": None}})
    result = imported(text, Draft(STORED))
    assert not result.draft.edited
    assert len(result.notes) == 6


def test_values_with_a_null_in_them_survive_toml() -> None:
    extra = Field("agent_settings.llm.extra", "Extra", Group.LLM, "", kind=OBJECT)
    fields = FormFields((*CANONICAL.fields, extra))
    stored = Settings(leaves={"agent_settings.llm.extra": {"a": None, "b": [1, None]}})
    draft = Draft(stored, fields=fields)
    assert imported(written(draft), draft) == files.Imported(draft)
    other = Draft(Settings(leaves={"agent_settings.llm.extra": {}}), fields=fields)
    assert imported(written(draft), other).draft.value("agent_settings.llm.extra") == {"a": None, "b": [1, None]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"settings": {"language": }}', "line 1, column 27"),
        ("[settings]\nllm_api_key = sk-secret\n", "line 2"),
        ('[settings]\nlanguage = "de\n', "line 2"),
        ("", "no settings"),
        ("[]", "TOML"),
        ("[other]\na = 1\n", "no settings"),
        ('[quarterdeck]\nversion = 2\n[settings]\nlanguage = "de"\n', "another version"),
    ],
)
def test_a_file_that_is_none_is_refused_with_the_place(text: str, words: str) -> None:
    with pytest.raises(ImportRefused, match=words) as refused:
        imported(text, Draft(STORED))
    assert "sk-secret" not in str(refused.value)


@given(st.text(max_size=40))
def test_any_text_is_refused_or_read(text: str) -> None:
    with suppress(ImportRefused):
        imported(f"[settings]\n{text}", Draft(STORED))
