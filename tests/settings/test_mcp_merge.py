"""Merging MCP servers where several may be equal, some hold unknown members, and some are disabled."""

import json
from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.mcp import McpConfig, McpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import EntryState, listed
from quarterdeck.settings.mcp_server import as_data
from quarterdeck.settings.merge import Side, merge, settle
from tests.settings.strategies import MARKED_SERVER, config_of, marked_drafts

FILES = StdioServer(name="files", command="npx")
OTHER = StdioServer(name="files", command="uvx")
TOOLS = SseServer(url="https://a.example/sse")


def counted(servers: Iterable[McpServer]) -> Counter[str]:
    return Counter(json.dumps(as_data(server), sort_keys=True) for server in servers)


@st.composite
def sides(draw: st.DrawFn) -> tuple[Draft, Settings]:
    """An edited draft, and what somebody else has made of its base meanwhile."""
    mine = draw(marked_drafts())
    base = mine.base or Settings()
    left: list[McpServer] = []
    for server in listed(base.mcp_config):
        what = draw(st.sampled_from(["keep", "keep", "remove", "edit", "swap"]))
        left += [] if what == "remove" else [draw(MARKED_SERVER)] if what == "swap" else [server]
        if what == "edit":
            left[-1] = server.model_copy(update={"description": draw(st.sampled_from(["x", "y"]))})
    left += draw(st.lists(MARKED_SERVER, max_size=2))
    return mine, base.model_copy(update={"mcp_config": config_of(draw(st.permutations(left)))})


def records(*servers: McpServer) -> Settings:
    return Settings(mcp_config=config_of(list(servers)))


@given(sides())
def test_the_merged_list_is_theirs_with_each_change_of_mine_on_it(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    merged = merge(mine, theirs).draft.servers
    assert counted(entry.was for entry in merged.entries if entry.was is not None) == counted(listed(theirs.mcp_config))
    if not merged.changed:
        wanted = [entry.server for entry in mine.servers.edited if entry.stays]
        assert not counted(wanted) - counted(listed(theirs.mcp_config))
        return
    rows = {entry.row: entry for entry in merged.entries}
    assert len(rows) == len(merged.entries)
    for entry in mine.servers.entries:
        result = rows.get(entry.row)
        if entry.removed or entry.state is EntryState.KEPT:
            assert result is None or result.removed is entry.removed
            assert result is None or result.state in (entry.state, EntryState.KEPT)
            continue
        assert result is not None
        assert result.disabled is entry.disabled
        if entry.server not in (entry.was, entry.kept):
            assert result.server == entry.server
    new_rows = [entry for entry in merged.entries if mine.servers.entry(entry.row) is None]
    assert all(entry.state is EntryState.KEPT for entry in new_rows)


@given(sides())
def test_what_both_sides_still_have_stays(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    merged = merge(mine, theirs).draft.servers
    untouched = counted(entry.server for entry in mine.servers.left if entry.state is EntryState.KEPT)
    wanted_by_both = untouched & counted(listed(theirs.mcp_config))
    assert not wanted_by_both - counted(entry.server for entry in merged.left)


@given(sides())
def test_a_conflict_is_reported_for_each_row_that_both_changed_and_no_other(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    merged = merge(mine, theirs)
    contested = {conflict.row for conflict in merged.conflicts}
    if not merged.draft.servers.changed:
        assert not contested
        return
    for entry in mine.servers.entries:
        result = merged.draft.servers.entry(entry.row)
        held = None if result is None else result.was
        changed_here = entry.removed or entry.server != entry.was
        there = entry.was is not None or held is not None
        agreed = (held is None and (entry.removed or entry.disabled)) or (not entry.removed and held == entry.server)
        assert (entry.row in contested) == (there and changed_here and held != entry.was and not agreed)


@given(sides())
def test_what_is_kept_here_stays_here(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    merged = merge(mine, theirs).draft
    assert len(merged.to_keep_here) == len(mine.to_keep_here)
    assert merged.disabled == mine.disabled
    kept = [entry for entry in mine.servers.entries if entry.disabled and entry.was is None]
    assert not counted(entry.server for entry in kept if not entry.removed) - counted(merged.to_keep_here)


@given(sides())
def test_theirs_in_every_conflict_leaves_their_version(both: tuple[Draft, Settings]) -> None:
    merged = merge(*both)
    draft = merged.draft
    for conflict in merged.conflicts:
        draft = settle(draft, conflict, Side.THEIRS)
    rows = {conflict.row for conflict in merged.conflicts}
    others = counted(entry.server for entry in merged.draft.servers.left if entry.row not in rows)
    theirs = counted(conflict.theirs for conflict in merged.conflicts if conflict.theirs is not None)
    assert counted(entry.server for entry in draft.servers.left) == others + theirs


@given(marked_drafts())
def test_merging_with_what_was_loaded_changes_nothing(draft: Draft) -> None:
    merged = merge(draft, draft.base)
    assert merged.draft.edits == draft.edits
    assert not merged.conflicts


@given(sides())
def test_merging_twice_is_merging_once(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    once = merge(mine, theirs).draft
    again = merge(once, theirs)
    assert again.draft.edits == once.edits
    assert not again.conflicts


def test_two_decks_that_each_delete_one_of_two_equal_servers_leave_one() -> None:
    mine = Draft(records(FILES, FILES)).remove_server(0)
    assert [entry.server for entry in merge(mine, records(FILES)).draft.servers.left] == [FILES]


def test_of_two_with_one_name_the_edited_one_is_found_after_the_other_was_deleted() -> None:
    mine = Draft(records(FILES, OTHER)).edit_server(1, OTHER.model_copy(update={"args": ("-y",)}))
    merged = merge(mine, records(OTHER))
    assert not merged.conflicts
    assert [entry.server for entry in merged.draft.servers.left] == [OTHER.model_copy(update={"args": ("-y",)})]


def test_what_is_disabled_here_and_edited_there_is_disabled_as_it_is_now() -> None:
    merged = merge(Draft(records(FILES)).disable_server(0), records(OTHER))
    assert not merged.conflicts
    assert merged.draft.to_keep_here == (OTHER,)
    assert merged.draft.changes["mcp_config"] == McpConfig()


def test_what_is_disabled_here_and_deleted_there_stays_here() -> None:
    merged = merge(Draft(records(FILES)).disable_server(0), records())
    assert not merged.conflicts
    assert merged.draft.to_keep_here == (FILES,)


def test_unknown_members_of_both_sides_meet_in_a_conflict() -> None:
    mine = Draft(records(FILES)).edit_server(0, FILES.model_copy(update={"cwd": "/mine"}))
    (conflict,) = merge(mine, records(FILES.model_copy(update={"cwd": "/theirs"}))).conflicts
    assert conflict.row == 0


def test_members_of_the_list_that_are_unknown_are_theirs() -> None:
    theirs = Settings(mcp_config=McpConfig.model_validate({"mode": "new"}))
    config = merge(Draft(records(FILES)).add_server(TOOLS), theirs).draft.changes["mcp_config"]
    assert config.model_extra == {"mode": "new"}
    assert config.sse_servers == (TOOLS,)
