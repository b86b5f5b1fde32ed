from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, SseServer, StdioServer
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import EntryState
from quarterdeck.settings.merge import merge
from quarterdeck.settings.review import HERE_ONLY, KEPT_HERE, WITH_SECRETS, Act, Line, review
from quarterdeck.settings.verify import verify
from tests.settings.strategies import MARKED_SERVER, marked_drafts, saved

FLAT = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
NESTED = Server(Generation.NESTED, KeyState.ACCEPTED, merges=True)
FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("held")})
TOOLS = SseServer(url="https://a.example/sse")
STORED = Settings(mcp_config=McpConfig(stdio_servers=(FILES,), sse_servers=(TOOLS,)))


def states(draft: Draft) -> list[EntryState]:
    return [entry.state for entry in draft.servers.entries]


def test_a_disabled_server_is_kept_here_and_not_sent() -> None:
    draft = Draft(STORED).disable_server(1)
    assert states(draft) == [EntryState.KEPT, EntryState.DISABLED]
    assert draft.to_keep_here == (FILES,)
    assert draft.changes["mcp_config"] == McpConfig(sse_servers=(TOOLS,))
    assert draft.count == 1
    assert not draft.restore_server(1).edited
    assert not draft.enable_server(1).edited


def test_once_saved_it_is_a_row_of_its_own_that_can_be_used_again() -> None:
    disabled = saved(Draft(STORED).disable_server(1))
    assert not disabled.edited
    assert [(entry.server, entry.disabled) for entry in disabled.servers.entries] == [(TOOLS, False), (FILES, True)]
    used = disabled.enable_server(1)
    assert states(used) == [EntryState.KEPT, EntryState.ENABLED]
    assert used.changes["mcp_config"].stdio_servers == (FILES,)
    assert used.to_keep_here == ()
    assert not used.restore_server(1).edited


def test_disabled_without_secrets_they_have_to_be_typed_before_it_is_sent() -> None:
    disabled = Draft(STORED).disable_server(1, with_secrets=False)
    assert disabled.enable_server(1).changes == {}
    (line,) = review(disabled, FLAT).lines
    assert line.note == "To be typed again when it is used: K."
    used = saved(disabled).enable_server(1)
    assert [(problem.member, problem.stops) for problem in used.problems] == [("env", True)]
    assert not used.edit_server(1, FILES).errors


def test_what_is_only_kept_here_is_no_matter_of_the_server() -> None:
    draft = Draft(STORED, disabled=(FILES.model_copy(update={"name": "other"}),))
    edited = draft.edit_server(2, FILES.model_copy(update={"name": "third"}))
    removed = draft.remove_server(2)
    for changed in (edited, removed):
        assert changed.edited
        assert changed.changes == {}
        assert verify(changed, STORED).asked == 0
        assert verify(changed, STORED).stored
    assert removed.to_keep_here == ()
    assert not edited.restore_server(2).edited


def test_a_disabled_server_that_is_still_there_is_named_after_the_save() -> None:
    (difference,) = verify(Draft(STORED).disable_server(1), STORED).differences
    assert (difference.label, difference.found, difference.asked) == ("stdio files", "there", True)
    assert verify(Draft(STORED).disable_server(1), STORED.model_copy(update={"mcp_config": McpConfig()})).good == 1


def test_the_review_says_what_is_disabled_and_what_is_used_again() -> None:
    draft = Draft(STORED, disabled=(TOOLS.model_copy(update={"url": "https://b.example/sse"}),))
    assert review(draft.disable_server(0).enable_server(2), FLAT).lines == (
        Line(Act.DISABLED, "SSE https://a.example/sse", "", KEPT_HERE),
        Line(Act.ENABLED, "SSE https://b.example/sse", KEPT_HERE, ""),
    )


def test_where_secrets_are_not_told_disabling_says_that_they_are_lost() -> None:
    told = STORED.model_copy(update={"mcp_config": McpConfig(sse_servers=(TOOLS,))})
    (loss,) = review(Draft(told).disable_server(0), NESTED).losses
    assert "https://a.example/sse" in loss.words
    typed = TOOLS.model_copy(update={"api_key": SecretStr("typed")})
    assert not review(Draft(told).edit_server(0, typed).disable_server(0), NESTED).losses


@given(marked_drafts())
def test_no_server_is_nowhere_unless_it_was_deleted(draft: Draft) -> None:
    gone = sum(entry.removed for entry in draft.servers.entries)
    assert len(draft.servers.left) + len(draft.to_keep_here) + gone == len(draft.servers.entries)


@given(marked_drafts())
def test_knowing_anew_what_is_kept_here_changes_nothing(draft: Draft) -> None:
    assert draft.with_disabled(draft.disabled).edits == draft.edits


@given(marked_drafts())
def test_after_the_page_is_written_no_disabled_server_is_lost_whatever_becomes_of_the_save(draft: Draft) -> None:
    known = draft.with_disabled(draft.to_keep_here)
    assert all(known.to_keep_here.count(server) >= draft.to_keep_here.count(server) for server in draft.to_keep_here)
    assert [entry.server for entry in known.servers.left] == [entry.server for entry in draft.servers.left]


@given(marked_drafts(), st.lists(MARKED_SERVER, max_size=2))
def test_what_another_deck_disabled_is_shown(draft: Draft, others: list[McpServer]) -> None:
    known = draft.with_disabled((*draft.disabled, *others))
    assert known.disabled == (*draft.disabled, *others)
    held = [entry.kept for entry in known.servers.entries]
    assert all(held.count(server) >= others.count(server) for server in others)


def test_a_disabled_row_edited_into_another_takes_nothing_from_an_untouched_one() -> None:
    draft = Draft(Settings(), disabled=(FILES, FILES)).edit_server(0, TOOLS)
    known = draft.with_disabled(draft.to_keep_here)
    assert sorted(map(str, known.to_keep_here)).count(str(FILES)) == 1


def test_what_the_server_holds_again_is_not_kept_here_any_longer() -> None:
    enabled = Draft(Settings(), disabled=(FILES,)).enable_server(0)
    merged = merge(enabled, Settings(mcp_config=McpConfig(stdio_servers=(FILES,)))).draft
    assert merged.edited
    assert merged.changes == {}
    assert merged.to_keep_here == ()


def test_the_review_says_that_secrets_typed_into_a_disabled_server_are_kept_here() -> None:
    plain = FILES.model_copy(update={"env": {}})
    draft = Draft(Settings(), disabled=(plain,)).edit_server(0, FILES)
    (line,) = review(draft, FLAT).lines
    assert line.note == f"{HERE_ONLY} {WITH_SECRETS}"
    (disabled,) = review(Draft(STORED).disable_server(1), FLAT).lines
    assert disabled.note == WITH_SECRETS
