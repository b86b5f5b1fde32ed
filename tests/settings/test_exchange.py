import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer, listed
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import files, masks
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import OBJECT, Field, Group
from quarterdeck.settings.files import ImportRefused, imported
from quarterdeck.settings.form_fields import CANONICAL, FormFields
from quarterdeck.settings.kept import DisabledServers, Journal, UnsavedEdits
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp import Servers, converted
from quarterdeck.settings.mcp_json import PasteError, pasted, without_secrets
from quarterdeck.settings.mcp_server import bare, filled, members, missing, place_of
from quarterdeck.settings.merge import merge
from quarterdeck.settings.review import HERE_ONLY, WITH_SECRETS, lines, review
from quarterdeck.settings.words import differences, server_details
from tests.client.fakes import NESTED
from tests.settings.strategies import FILES, MARK, MARKED_RECORDS, MARKED_SERVER, NOON, counted, marked_drafts, saved

STORED = Settings(language="de", max_iterations=5, llm_api_key_set=True, mcp_config=McpConfig(stdio_servers=(FILES,)))


def as_told(server: McpServer, name: str, *, nested: bool) -> McpServer:
    """A server as one of the generations tells it: flat ones know no other members, nested ones a name of each."""
    if nested:
        return server.model_copy(update={"name": name})
    return type(server)(**{member: getattr(server, member) for member in type(server).model_fields})


@given(MARKED_RECORDS, st.booleans())
def test_what_was_exported_is_no_edit_where_it_came_from(record: Settings, nested: bool) -> None:
    servers = enumerate(listed(record.mcp_config))
    told = McpConfig.of(as_told(server, f"n{number}", nested=nested) for number, server in servers)
    draft = Draft(record.model_copy(update={"mcp_config": told}), fields=replace(CANONICAL, nested=nested))
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
    assert imported('secrets = ["llm_api_key"]\n[settings]', Draft()).notes == ("API key: to be typed.",)


def test_values_with_a_null_in_them_survive_toml() -> None:
    extra = Field("agent_settings.llm.extra", "Extra", "", kind=OBJECT, group=Group.LLM)
    fields = FormFields((*CANONICAL.fields, extra))
    draft = Draft(Settings(leaves={"agent_settings.llm.extra": {"a": None, "b": [1, None]}}), fields=fields)
    text = files.as_toml(files.exported(draft))
    assert imported(text, draft) == files.Imported(draft)
    other = Draft(Settings(leaves={"agent_settings.llm.extra": {}}), fields=fields)
    assert imported(text, other).draft.value("agent_settings.llm.extra") == {"a": None, "b": [1, None]}


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


@given(marked_drafts())
def test_no_secret_is_in_a_note_or_a_file(draft: Draft) -> None:
    after = saved(draft)
    written = (
        UnsavedEdits().with_run("a", draft, NOON, "1").model_dump_json(),
        Journal().with_save(draft, after.base, NOON).model_dump_json(),
        Journal().with_save(draft, None, NOON).model_dump_json(),
        files.as_json(files.exported(draft)),
        without_secrets(listed(draft.servers.config())),
        repr(tuple(lines(draft))),
    )
    assert [text for text in written if MARK in text] == []


@given(st.lists(MARKED_SERVER, max_size=3))
def test_disabled_servers_are_kept_with_what_secrets_they_have(servers: list[McpServer]) -> None:
    for each in (tuple(servers), tuple(map(bare, servers))):
        text = DisabledServers(servers=each).model_dump_json()
        assert DisabledServers.model_validate_json(text).servers == each
    assert MARK not in text


@given(MARKED_SERVER)
def test_what_is_masked_is_filled_in_again_from_the_server_it_was_made_of(server: McpServer) -> None:
    hidden = bare(server)
    assert MARK not in json.dumps(members(hidden))
    assert (bare(hidden), filled(hidden, server)) == (hidden, server)
    assert bool(tuple(missing(hidden))) == (hidden != server)


def test_each_of_several_headers_is_filled_in_with_its_own_secret() -> None:
    sent = ("-H", "X-One: secret-one", "-H", "X-One: secret-two", "--quiet")
    server = StdioServer(name="curl", command="curl", args=sent)
    shown = bare(server)
    assert isinstance(shown, StdioServer)
    edited = filled(shown.model_copy(update={"args": (*shown.args[:-1], "--verbose")}), server)
    assert edited == server.model_copy(update={"args": (*sent[:-1], "--verbose")})


def test_what_may_be_secret_of_addresses_arguments_and_documents_is_masked_and_no_more() -> None:
    assert masks.address("https://a.example:8443/mcp") == "https://a.example:8443/mcp"
    assert masks.address("https://user:pw@a.example/x?token=t&b") == f"https://{MASK}@a.example/x?token={MASK}&{MASK}"
    given = ["--token", "abc", "--token", "--verbose", "--token", "-v", "-H", "abc", "read the token", "notes.txt"]
    given += ["--api-key=abc", "--api-key=", "run x=1 token: abc", "X-Team: abc", "-p", "8080"]
    given += ["https://abc@a.example/p"]
    assert masks.arguments(given) == [each.replace("abc", MASK) for each in given]
    assert masks.arguments(["--max-tokens", "8080"]) == ["--max-tokens", MASK]
    told = {"headers": {"X-Any": "abc", "count": 3}, "auth": {"strategy": "basic", "username": "abc"}}
    told |= {"language": "en", "max_output_tokens": 4096, "deep": {"headers": ["abc"]}}
    assert masks.document(told, "") == json.loads(json.dumps(told).replace("abc", MASK))
    assert masks.document({"api_key": "https://a.example/?for=abc"}, "") == {"api_key": MASK}


DB = StdioServer(name="db", command="npx", args=("--token", "secret-a"), env={"K": SecretStr("held")})
TOOLS = SseServer(url="https://a.example/sse")


def test_the_review_says_where_secrets_of_disabled_servers_are_kept_and_which_are_lost() -> None:
    kept = Draft(Settings(), disabled=(StdioServer(name="files", command="npx"),))
    (line,) = review(kept.change_servers(Servers.edit, 0, DB), NESTED).lines
    assert line.note == f"{HERE_ONLY} {WITH_SECRETS}"
    stored = Draft(Settings(mcp_config=McpConfig(sse_servers=(TOOLS,))))
    typed = stored.change_servers(Servers.edit, 0, TOOLS.model_copy(update={"api_key": SecretStr("typed")}))
    told = [review(draft.change_servers(Servers.disable, 0), NESTED).losses for draft in (stored, typed)]
    assert all("https://a.example/sse" in loss.words and "only those typed are kept" in loss.words for (loss,) in told)


@given(marked_drafts(), st.lists(MARKED_SERVER, max_size=2))
def test_no_server_is_lost_whatever_is_kept_here(draft: Draft, others: list[McpServer]) -> None:
    known = merge(draft, draft.base, draft.servers.to_keep_here).draft
    here, before = known.servers.to_keep_here, draft.servers.to_keep_here
    assert all(here.count(server) >= before.count(server) for server in before)
    remaining = [counted(entry.server for entry in each.servers.remaining) for each in (known, draft)]
    assert remaining[0] == remaining[1]
    held = [entry.kept for entry in merge(draft, draft.base, (*draft.disabled, *others)).draft.servers.entries]
    assert all(held.count(server) >= others.count(server) for server in others)


def remote(**more: Any) -> McpServer:
    return ShttpServer.model_validate({"url": "https://a.example/mcp", "name": "tools", **more})


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (remote(headers={"X-Key": "secret-c"}), ["header X-Key new value"]),
        (remote(headers={"X-Key": SecretStr("secret-a")}), []),
        (remote(headers={"X-Key": "secret-a", "X-Team": "t"}), ["header X-Team added"]),
        (remote(), ["header X-Key removed"]),
        (remote(headers={"X-Key": "secret-a"}, cwd="/srv"), ["directory /srv"]),
        (remote(headers={"X-Key": "secret-a"}, auth={"value": "secret-c"}), ["auth added"]),
        (remote(headers={"X-Key": "secret-a"}, api_key="secret-d"), ["key added"]),
        (remote(headers={"X-Key": "secret-a"}, api_key=MASK), []),
        (remote(headers={"X-Key": "secret-a"}, auth={"strategy": "bearer"}), ["auth bearer"]),
    ],
)
def test_the_parts_of_a_server_that_differ_are_named_without_a_secret(now: McpServer, words: list[str]) -> None:
    assert differences(remote(headers={"X-Key": "secret-a"}), now)[1] == words


def test_a_type_and_hidden_values_that_differ_are_named() -> None:
    http, told = converted(TOOLS), TOOLS.model_copy(update={"transport": "sse"})
    assert http is not None
    assert differences(told, http) == (["type SSE"], ["type HTTP", "time-out default"])
    assert differences(http, told) == (["type HTTP", "time-out default"], ["type SSE"])
    now = DB.model_copy(update={"args": ("--token", "secret-c"), "env": {"L": SecretStr("secret-d")}})
    assert differences(DB, now) == ([], ["a hidden part of the command changed", "K removed", "L added"])


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (StdioServer(name="files", command="npx", args=("-y", "--root", "/a b", "")), "npx -y --root '/a b' ''"),
        (SseServer.model_validate({"url": "https://a.example", "name": "tools"}), "tools"),
        (ShttpServer.model_validate({"url": "https://b", "name": "b", "timeout": 9}), "b · time-out 9 s"),
    ],
)
def test_an_argument_with_blanks_reads_as_one_and_an_address_with_a_name_as_that(server: McpServer, words: str) -> None:
    assert server_details(server) == words


PASTED = StdioServer(name="files", command="npx", args=("-y", "pkg"), env={"K": SecretStr("v")})
TOLD_FILES = {"args": ["-y", "pkg"], "env": {"K": "v"}}
GIVEN_FILES = {"command": "npx", **TOLD_FILES}
LINEAR = SseServer(url="https://mcp.linear.app/sse", api_key=SecretStr("tok"))
TOLD_LINEAR = {"url": "https://mcp.linear.app/sse", "api_key": "tok"}
GIVEN_LINEAR = {"url": "https://mcp.linear.app/sse", "headers": {"Authorization": "Bearer tok"}}


@pytest.mark.parametrize(
    "data",
    [
        {"mcpServers": {"files": GIVEN_FILES, "linear": GIVEN_LINEAR}},
        {"servers": {"files": {"type": "stdio", **GIVEN_FILES}, "linear": GIVEN_LINEAR}, "inputs": []},
        {"mcp": {"servers": {"files": GIVEN_FILES, "linear": {"type": "sse", **GIVEN_LINEAR}}}},
        {"files": GIVEN_FILES, "linear": GIVEN_LINEAR},
        {"context_servers": {"files": GIVEN_FILES, "linear": GIVEN_LINEAR}},
        {"mcp_servers": {"files": GIVEN_FILES, "linear": GIVEN_LINEAR}},
        [{"name": "files", **GIVEN_FILES}, {"name": "linear", **GIVEN_LINEAR}],
        {"mcpServers": [{"name": "files", **GIVEN_FILES}, {"name": "linear", **GIVEN_LINEAR}]},
        {"mcp_config": {"files": GIVEN_FILES, "linear": {"transport": "sse", **GIVEN_LINEAR}}},
        {"stdio_servers": [{"name": "files", **GIVEN_FILES}], "sse_servers": [TOLD_LINEAR], "shttp_servers": None},
        {
            "files": {"type": "local", "command": ["npx", "-y", "pkg"], "environment": {"K": "v"}},
            "linear": {"url": "https://mcp.linear.app/sse", "apiKey": "tok"},
        },
        {"context_servers": {"files": {"command": {"path": "npx", **TOLD_FILES}}, "linear": GIVEN_LINEAR}},
    ],
)
def test_every_usual_shape_is_read(data: object) -> None:
    result = pasted(json.dumps(data))
    assert set(map(repr, result.servers)) == {repr(PASTED), repr(LINEAR)}
    assert all(server in (PASTED, LINEAR) for server in result.servers)
    assert result.notes == ()


@pytest.mark.parametrize(
    ("members", "transport"),
    [
        ({"url": "https://a.example/mcp"}, ShttpServer),
        ({"url": "https://a.example/mcp", "type": "streamable-http"}, ShttpServer),
        ({"url": "https://a.example/mcp", "type": "streamableHttp"}, ShttpServer),
        ({"url": "https://a.example/mcp", "transport": "sse"}, SseServer),
        ({"url": "https://a.example/sse/", "headers": None}, SseServer),
        ({"httpUrl": "https://a.example/sse"}, ShttpServer),
        ({"serverUrl": "https://a.example/sse"}, SseServer),
        ({"url": "https://a.example/mcp", "type": "remote"}, ShttpServer),
    ],
)
def test_a_word_decides_or_else_the_address(members: dict[str, str], transport: type[SseServer | ShttpServer]) -> None:
    for text in (json.dumps({"x": members}), json.dumps(members)):
        (server,) = pasted(text).servers
        assert (type(server), server) == (transport, transport(url=members.get("url", "https://a.example/sse")))


@pytest.mark.parametrize("around", ["```json\n{%s}\n```", "\ufeff{%s}", "%s", "  %s,\n"])
def test_text_as_pages_print_it_is_read(around: str) -> None:
    assert pasted(around % f'"files": {json.dumps(GIVEN_FILES)}').servers == (PASTED,)


def test_comments_and_last_commas_are_as_if_they_were_not_there() -> None:
    text = """// of "VS Code"
    {
      "servers": { /* {
        } */
        "odd // \\" , } /* name": {"command": "npx", "args": ["a,]", "//", "/*",], }, // , }
        "far": {"url": "https://a.example/mcp" /**/ , /* last */ },
      },
    }
    """
    odd = StdioServer(name='odd // " , } /* name', command="npx", args=("a,]", "//", "/*"))
    assert pasted(text).servers == (odd, ShttpServer(url="https://a.example/mcp"))


@pytest.mark.parametrize(
    ("members", "args", "env"),
    [
        ({"args": ["-p", 8080, True], "env": {"PORT": 8080, "ON": True, "OFF": None}}, ("-p", "8080", "true"), "8080"),
        ({"command": "npx -p 'a b'", "args": [], "env": {"PORT": 1.5, "ON": True}}, ("-p", "a b"), "1.5"),
    ],
)
def test_numbers_become_texts_and_a_line_its_words(members: dict[str, object], args: tuple[str, ...], env: str) -> None:
    result = pasted(json.dumps({"x": {"command": "npx", **members}}))
    variables = {"PORT": SecretStr(env), "ON": SecretStr("true")}
    assert (result.servers, result.notes) == ((StdioServer(name="x", command="npx", args=args, env=variables),), ())


def test_what_this_service_cannot_hold_is_named() -> None:
    given_members = {"url": "https://a.example/mcp", "headers": {"X-Org": "o"}, "alwaysAllow": ["x"], "disabled": True}
    assert pasted(json.dumps({"my tools": {**given_members}, "db": {"command": "npx", "cwd": "/w"}})).notes == (
        "my tools: this service has no place for headers (X-Org), alwaysAllow.",
        "db: this service has no place for cwd.",
    )
    (tools,) = pasted(json.dumps({"my tools": given_members}), nested=True).servers
    assert tools.model_extra == {"headers": {"X-Org": "o"}, "alwaysAllow": [SecretStr("x")], "name": "my tools"}


def test_a_wrong_one_is_named_by_its_number_and_a_map_that_is_not_read_by_its_name() -> None:
    given = {"sse_servers": ["https://mcp.linear.app/sse", 5]}
    result = pasted(json.dumps({"mcpServers": given, "mcp": {}, "projects": {}}))
    assert result.servers == (SseServer(url="https://mcp.linear.app/sse"),)
    assert result.left_out == ("Server 2: it is not an object.",)
    assert result.notes == ("Only mcpServers is read, not mcp, projects.",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON: look at line 1, column 1"),
        ('{"x": {"command": }}', "line 1, column 19"),
        ('"x": {"command": }', "line 1, column 18"),
        ('// one\n{"x": /* two\n*/ {"args": [1,],, "command": "a"}}', "line 3, column 18"),
        ('{"x": {"command": ,}}', "line 1, column 19"),
        ('{"x": {"command": "a"}} /* no end', "line 1, column 25"),
        ("/* " * 30_000 + '{"' * 30_000 + "[,:" * 30_000, "line 1, column 1"),
        ('{"x": {"command": "a"}, "x": {"command": "b"}}', "x is given twice"),
        *((text, "no MCP server") for text in ("[]", "5")),
        ('{"x": {"type": "carrier pigeon", "url": "https://a"}}', "none of stdio, SSE and HTTP"),
        ('{"x": {"args": []}}', "neither a command nor an address"),
        ('{"x": {"url": "https://a", "timeout": "soon"}}', "not of the right kind"),
        ("[" * 100_000, "not JSON|nested too deep"),
        *((f'{{"x": {text}}}', "too deep, or") for text in (f"{'[' * 900}{']' * 900}", "9" * 5_000)),
    ],
)
def test_what_holds_no_server_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(PasteError, match=words):
        pasted(text)


MEMBERS = ["mcpServers", "servers", "sse_servers", "command", "args", "env", "url", "headers", "type", "x"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused(data: object) -> None:
    with suppress(PasteError):
        assert pasted(json.dumps(data)).servers


@given(st.lists(MARKED_SERVER, min_size=1, max_size=4))
def test_a_copy_without_secrets_is_read_back(servers: list[McpServer]) -> None:
    text = without_secrets(servers)
    variables = re.findall(r"\$\{\w+\}", text)
    assert len(variables) == len(set(variables)), "what differs does not share a variable"
    assert [*map(place_of, pasted(text).servers)] == [place_of(bare(server)) for server in servers]
    for server, copy in zip(servers, pasted(text, nested=True).servers, strict=True):
        hidden = bare(server).model_dump(exclude_none=True)
        assert {**copy.model_dump(exclude_none=True), "name": hidden.get("name")} == {"name": None, **hidden}
