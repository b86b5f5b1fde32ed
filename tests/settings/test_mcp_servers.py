"""MCP servers disabled, enabled, converted, told apart and freed of duplicates."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import EntryState, Servers, converted, duplicates, without_duplicates
from quarterdeck.settings.merge import merge
from quarterdeck.settings.review import HERE_ONLY, KEPT_HERE, WITH_SECRETS, Line, review
from quarterdeck.settings.verify import verify
from quarterdeck.settings.words import differences
from tests.settings.strategies import MARKED_SERVER, marked_drafts, saved

FLAT = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
NESTED = Server(Generation.NESTED, KeyState.ACCEPTED, merges=True)
FILES = StdioServer(name="files", command="npx", args=("--token", "secret-a"), env={"K": SecretStr("held")})
TOOLS = SseServer(url="https://a.example/sse")
STORED = Settings(mcp_config=McpConfig(stdio_servers=(FILES,), sse_servers=(TOOLS,)))


def states(draft: Draft) -> list[EntryState]:
    return [entry.state for entry in draft.servers.entries]


def test_a_disabled_server_is_kept_here_and_can_be_used_again() -> None:
    draft = Draft(STORED).change_servers(Servers.disable, 1)
    assert states(draft) == [EntryState.KEPT, EntryState.DISABLED]
    assert draft.servers.to_keep_here == (FILES,)
    assert draft.changes["mcp_config"] == McpConfig(sse_servers=(TOOLS,))
    assert draft.count == 1
    assert not draft.change_servers(Servers.restore, 1).edited
    assert not draft.change_servers(Servers.enable, 1).edited
    after = saved(draft)
    assert not after.edited
    assert [(entry.server, entry.disabled) for entry in after.servers.entries] == [(TOOLS, False), (FILES, True)]
    used = after.change_servers(Servers.enable, 1)
    assert states(used) == [EntryState.KEPT, EntryState.ENABLED]
    assert used.changes["mcp_config"].stdio_servers == (FILES,)
    assert used.servers.to_keep_here == ()
    assert not used.change_servers(Servers.restore, 1).edited


def test_disabled_without_secrets_they_have_to_be_typed_before_it_is_sent() -> None:
    disabled = Draft(STORED).change_servers(Servers.disable, 1, with_secrets=False)
    assert disabled.change_servers(Servers.enable, 1).changes == {}
    (line,) = review(disabled, FLAT).lines
    assert line.note == "To be typed again when it is used: an argument, K."
    used = saved(disabled).change_servers(Servers.enable, 1)
    assert {(problem.member, problem.stops) for problem in used.problems} == {("args", True), ("env", True)}
    assert not used.change_servers(Servers.edit, 1, FILES).errors


def test_what_is_only_kept_here_is_no_matter_of_the_server() -> None:
    draft = Draft(STORED, disabled=(FILES.model_copy(update={"name": "other"}),))
    renamed = draft.change_servers(Servers.edit, 2, FILES.model_copy(update={"name": "third"}))
    removed = draft.change_servers(Servers.remove, 2)
    for changed in (renamed, removed):
        assert changed.edited
        assert changed.changes == {}
        assert (verify(changed, STORED).asked, verify(changed, STORED).stored) == (0, True)
    assert removed.servers.to_keep_here == ()
    assert not renamed.change_servers(Servers.restore, 2).edited


def test_a_disabled_server_that_is_still_there_is_named_after_the_save() -> None:
    (difference,) = verify(Draft(STORED).change_servers(Servers.disable, 1), STORED).differences
    assert (difference.label, difference.found, difference.asked) == ("stdio files", "there", True)
    gone = STORED.model_copy(update={"mcp_config": McpConfig(sse_servers=(TOOLS,))})
    assert verify(Draft(STORED).change_servers(Servers.disable, 1), gone).good == 1


def test_the_review_says_what_is_disabled_and_what_is_used_again() -> None:
    draft = Draft(STORED, disabled=(TOOLS.model_copy(update={"url": "https://b.example/sse"}),))
    assert review(draft.change_servers(Servers.disable, 0).change_servers(Servers.enable, 2), FLAT).lines == (
        Line(EntryState.DISABLED, "SSE https://a.example/sse", "", KEPT_HERE),
        Line(EntryState.ENABLED, "SSE https://b.example/sse", KEPT_HERE, ""),
    )
    kept = Draft(Settings(), disabled=(StdioServer(name="files", command="npx"),)).change_servers(
        Servers.edit, 0, FILES
    )
    assert [line.note for line in review(kept, FLAT).lines] == [f"{HERE_ONLY} {WITH_SECRETS}"]
    assert [line.note for line in review(Draft(STORED).change_servers(Servers.disable, 1), FLAT).lines] == [
        WITH_SECRETS
    ]


def test_where_secrets_are_not_read_back_disabling_says_that_they_are_lost() -> None:
    stored = Settings(mcp_config=McpConfig(sse_servers=(TOOLS,)))
    (loss,) = review(Draft(stored).change_servers(Servers.disable, 0), NESTED).losses
    assert "https://a.example/sse" in loss.words
    typed = TOOLS.model_copy(update={"api_key": SecretStr("typed")})
    assert not review(
        Draft(stored).change_servers(Servers.edit, 0, typed).change_servers(Servers.disable, 0), NESTED
    ).losses


@given(marked_drafts(), st.lists(MARKED_SERVER, max_size=2))
def test_no_server_is_lost_whatever_is_kept_here(draft: Draft, others: list[McpServer]) -> None:
    gone = sum(entry.removed for entry in draft.servers.entries)
    assert len(draft.servers.left) + len(draft.servers.to_keep_here) + gone == len(draft.servers.entries)
    assert merge(draft, draft.base, draft.disabled).draft.edits == draft.edits
    known = merge(draft, draft.base, draft.servers.to_keep_here).draft
    assert all(
        known.servers.to_keep_here.count(server) >= draft.servers.to_keep_here.count(server)
        for server in draft.servers.to_keep_here
    )
    assert [entry.server for entry in known.servers.left] == [entry.server for entry in draft.servers.left]
    beside = merge(draft, draft.base, (*draft.disabled, *others)).draft
    held = [entry.kept for entry in beside.servers.entries]
    assert all(held.count(server) >= others.count(server) for server in others)


def test_a_disabled_row_edited_into_another_takes_nothing_from_an_untouched_one() -> None:
    draft = Draft(Settings(), disabled=(FILES, FILES)).change_servers(Servers.edit, 0, TOOLS)
    known = merge(draft, draft.base, draft.servers.to_keep_here).draft
    assert sorted(map(str, known.servers.to_keep_here)).count(str(FILES)) == 1


def test_what_the_server_holds_again_is_not_kept_here_any_longer() -> None:
    enabled = Draft(Settings(), disabled=(FILES,)).change_servers(Servers.enable, 0)
    merged = merge(enabled, Settings(mcp_config=McpConfig(stdio_servers=(FILES,)))).draft
    assert merged.edited
    assert merged.changes == {}
    assert merged.servers.to_keep_here == ()


def test_a_converted_server_keeps_what_both_transports_have_and_takes_the_place_of_the_old_one() -> None:
    sse = SseServer.model_validate({"url": "https://a.example/mcp", "api_key": "k", "transport": "sse", "icon": "i"})
    http = converted(sse)
    assert isinstance(http, ShttpServer)
    assert (http.url, http.api_key, http.model_extra) == (sse.url, sse.api_key, {"icon": "i"})
    back = converted(http.model_copy(update={"timeout": 5}))
    assert back == SseServer.model_validate({"url": sse.url, "api_key": "k", "icon": "i"})
    assert converted(FILES) is None
    stored = Settings(mcp_config=McpConfig(sse_servers=(sse,)))
    draft = Draft(stored).change_servers(Servers.edit, 0, http)
    assert draft.changes["mcp_config"] == McpConfig(shttp_servers=(http,))
    assert verify(draft, stored).untouched
    assert verify(draft, stored.model_copy(update={"mcp_config": draft.changes["mcp_config"]})).good == 1


def test_of_equal_servers_the_first_stays_and_a_disabled_one_is_none_of_them() -> None:
    other = FILES.model_copy(update={"env": {"K": SecretStr("w")}})
    config = McpConfig(sse_servers=(TOOLS, TOOLS, TOOLS), stdio_servers=(FILES, other, FILES))
    draft = Draft(Settings(mcp_config=config))
    assert duplicates(draft.servers) == ((0, 1, 2), (3, 5))
    single = draft.change_servers(without_duplicates)
    assert single.changes["mcp_config"] == McpConfig(sse_servers=(TOOLS,), stdio_servers=(FILES, other))
    assert not duplicates(single.servers)
    assert not single.undo().edited
    assert duplicates(draft.change_servers(Servers.disable, 3).servers) == ((0, 1, 2),)


def remote(**more: Any) -> McpServer:
    return ShttpServer.model_validate({"url": "https://a.example/mcp", "name": "tools", **more})


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (remote(headers={"X-Key": "secret-c"}), ["header X-Key new value"]),
        (remote(headers={"X-Key": SecretStr("secret-a")}), []),
        (remote(headers={"X-Key": "secret-a", "X-Team": "t"}), ["header X-Team added"]),
        (remote(), ["header X-Key removed"]),
        (remote(headers={"X-Key": "secret-a"}, cwd="/srv"), ["cwd /srv"]),
        (remote(headers={"X-Key": "secret-a"}, auth={"value": "secret-c"}), ["auth added"]),
        (remote(headers={"X-Key": "secret-a"}, api_key="secret-d"), ["key added"]),
    ],
)
def test_the_parts_of_a_server_that_differ_are_named_without_a_secret(now: McpServer, words: list[str]) -> None:
    assert differences(remote(headers={"X-Key": "secret-a"}), now)[1] == words


def test_a_type_and_hidden_values_that_differ_are_named() -> None:
    http = converted(TOOLS)
    assert http is not None
    assert differences(TOOLS, http) == (["type SSE"], ["type HTTP", "time-out default"])
    now = FILES.model_copy(update={"args": ("--token", "secret-c"), "env": {"L": SecretStr("secret-d")}})
    assert differences(FILES, now) == ([], ["a hidden part of the command changed", "K removed", "L added"])
