from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, StdioServer, listed
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.merge import Side, is_another, merge, settle
from tests.settings.strategies import EDITS, MARKED_SERVER, PLAIN_FIELDS, RECORDS, Edits, counted, edited, marked_drafts


@given(RECORDS, EDITS, RECORDS)
def test_each_field_is_mine_theirs_or_a_conflict(base: Settings, edits: Edits, theirs: Settings) -> None:
    mine = edited(Draft(base), edits)
    merged = merge(mine, theirs)
    reported = {conflict.key for conflict in merged.conflicts}
    for key in PLAIN_FIELDS:
        was, own, other = getattr(base, key), mine.value(key), getattr(theirs, key)
        changed_here, changed_there = own != was, other != was
        assert merged.draft.value(key) == (own if changed_here else other)
        assert (key in reported) == (changed_here and changed_there and own != other)
        assert (key in merged.arrived) == (changed_there and not changed_here)
    draft = merged.draft
    for conflict in merged.conflicts:
        draft = settle(draft, conflict, Side.THEIRS)
        assert draft.value(conflict.key) == getattr(theirs, conflict.key)
    assert set(draft.changes) == set(merged.draft.changes) - reported


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
    return mine, base.model_copy(update={"mcp_config": McpConfig.of(draw(st.permutations(left)))})


@given(sides())
def test_the_merged_list_is_theirs_with_each_change_of_mine_on_it(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    merge_of_both = merge(mine, theirs)
    merged, stored = merge_of_both.draft.servers, counted(listed(theirs.mcp_config))
    assert counted(entry.was for entry in merged.entries if entry.was is not None) == stored
    untouched = counted(entry.server for entry in mine.servers.remaining if entry.state is EntryState.KEPT)
    assert not (untouched & stored) - counted(entry.server for entry in merged.remaining)
    contested = {conflict.row for conflict in merge_of_both.conflicts if conflict.row is not None}
    if not merged.edited:
        assert not contested
        assert not counted(entry.server for entry in mine.servers.edited if entry.stays) - stored
        return
    rows = {entry.row: entry for entry in merged.entries}
    assert len(rows) == len(merged.entries)
    assert all(entry.state is EntryState.KEPT for row, entry in rows.items() if mine.servers.entry(row) is None)
    for entry in mine.servers.entries:
        result = rows.get(entry.row)
        assert (entry.row in contested) == is_contested(entry, None if result is None else result.was)
        if entry.removed or entry.state is EntryState.KEPT:
            assert result is None or result.removed is entry.removed
            assert result is None or result.state in (entry.state, EntryState.KEPT)
            continue
        assert result is not None
        assert result.disabled is entry.disabled
        if entry.server not in (entry.was, entry.kept):
            assert result.server == entry.server


def is_contested(entry: Entry, held: McpServer | None) -> bool:
    if entry.was is None and held is None:
        return False
    agreed = (held is None and (entry.removed or entry.disabled)) or (not entry.removed and held == entry.server)
    return (entry.removed or entry.server != entry.was) and held != entry.was and not agreed


@given(sides())
def test_a_merge_loses_nothing_kept_here_is_settled_by_theirs_and_is_made_once(both: tuple[Draft, Settings]) -> None:
    mine, theirs = both
    merge_of_both = merge(mine, theirs)
    merged = merge_of_both.draft
    assert (len(merged.servers.to_keep_here), merged.disabled) == (len(mine.servers.to_keep_here), mine.disabled)
    kept = [entry for entry in mine.servers.entries if entry.disabled and entry.was is None]
    assert not counted(entry.server for entry in kept if not entry.removed) - counted(merged.servers.to_keep_here)
    settled = merged
    for conflict in merge_of_both.conflicts:
        settled = settle(settled, conflict, Side.THEIRS)
    of_servers = [conflict for conflict in merge_of_both.conflicts if conflict.row is not None]
    rows = {conflict.row for conflict in of_servers}
    others = counted(entry.server for entry in merged.servers.remaining if entry.row not in rows)
    their_versions = counted(conflict.theirs for conflict in of_servers if conflict.theirs is not None)
    assert counted(entry.server for entry in settled.servers.remaining) == others + their_versions
    for draft, record in ((mine, mine.base), (merged, theirs)):
        again = merge(draft, record)
        assert again.draft.edits == draft.edits
        assert not again.conflicts
        assert not again.arrived


Three = tuple[Draft, Settings, list[McpServer]]
TOOLS = st.builds(StdioServer, name=st.just("a"), command=st.sampled_from(["one", "two", "three"]))


@st.composite
def alike(draw: st.DrawFn) -> Three:
    """Servers of one name, on the server and kept here: what is done with them here, and what has become of them."""
    stored, kept = (draw(st.lists(TOOLS, max_size=2)) for _ in range(2))
    mine = Draft(Settings(mcp_config=McpConfig.of(stored)), disabled=tuple(kept))
    for entry in mine.servers.entries:
        match draw(st.sampled_from(["keep", "remove", "edit", "move"])):
            case "remove":
                mine = mine.change_servers(Servers.remove, entry.row)
            case "edit":
                mine = mine.change_servers(Servers.edit, entry.row, draw(TOOLS).model_copy(update={"args": ("mine",)}))
            case "move":
                move = Servers.enable if entry.disabled else Servers.disable
                mine = mine.change_servers(move, entry.row)
    now: list[list[McpServer]] = [[], []]
    for number, server in enumerate((*stored, *kept)):
        what = draw(st.sampled_from(["keep", "remove", "edit", "move"]))
        there = now[(number < len(stored)) is (what == "move")]
        changed = server if what == "keep" else server.model_copy(update={"args": (what, str(number))})
        there += [] if what == "remove" else [changed]
    return mine, Settings(mcp_config=McpConfig.of(now[0])), now[1]


@given(alike())
def test_what_somebody_else_made_of_it_is_kept_or_asked_about(three: Three) -> None:
    """On the server, or in another deck of this machine: also of several with one name, of which some are gone."""
    mine, theirs, kept_now = three
    merge_of_both = merge(mine, theirs, kept_now)
    merged = merge_of_both.draft.servers
    before = counted((*listed((mine.base or Settings()).mcp_config), *mine.disabled))
    asked = counted(each.theirs for each in merge_of_both.conflicts if each.row is not None and each.theirs is not None)
    left = counted((*(entry.server for entry in merged.remaining), *merged.to_keep_here))
    assert not counted((*listed(theirs.mcp_config), *kept_now)) - before - asked - left


def is_there_once(merged: Servers, theirs: Settings) -> bool:
    """Whether each row has its own number, and each stored server its own row."""
    stored = counted(entry.was for entry in merged.entries if entry.was is not None)
    return stored == counted(listed(theirs.mcp_config)) and len({e.row for e in merged.entries}) == len(merged.entries)


@given(alike(), alike())
def test_each_server_is_there_once_however_often_the_record_has_changed(first: Three, then: Three) -> None:
    merged = merge(*first).draft
    assert is_there_once(merged.servers, first[1])
    assert is_there_once(merge(merged, *then[1:]).draft.servers, then[1])


def test_a_row_that_stands_for_two_servers_gives_its_number_to_one() -> None:
    one, edited, *new = (StdioServer(name="a", command=command) for command in ("one", "edited", "first", "second"))
    mine = Draft(Settings(), disabled=(one, one)).change_servers(Servers.enable, 0)
    mine = mine.change_servers(Servers.edit, 1, edited)
    for stored, kept in ((new[:1], [one]), (new, [])):
        theirs = Settings(mcp_config=McpConfig.of(stored))
        mine = merge(mine, theirs, kept).draft
        assert is_there_once(mine.servers, theirs)


def test_of_two_with_one_name_a_change_lands_on_no_other_once_one_is_gone() -> None:
    one, two, other = (StdioServer(name="a", command=command) for command in ("one", "two", "other"))
    disabled = Draft(Settings(mcp_config=McpConfig.of([one, two]))).change_servers(Servers.disable, 0)
    merged = merge(disabled, Settings(mcp_config=McpConfig.of([other]))).draft.servers
    assert ([entry.server for entry in merged.remaining], merged.to_keep_here) == ([other], (one,))
    mine, two_there = (two.model_copy(update={"args": (said,)}) for said in ("mine", "theirs"))
    edited = Draft(Settings(mcp_config=McpConfig.of([one, two]))).change_servers(Servers.edit, 1, mine)
    asked = merge(edited, Settings(mcp_config=McpConfig.of([two_there, other])))  # one is deleted, the other added
    assert [(each.mine, each.theirs) for each in asked.conflicts] == [(mine, None)]
    assert [entry.server for entry in asked.draft.servers.remaining] == [two_there, other, mine]


def test_what_is_kept_here_goes_along_where_another_deck_enabled_it_and_is_not_lost_to_a_new_one() -> None:
    old, new = StdioServer(name="a", command="old"), StdioServer(name="a", command="new")
    mine = Draft(Settings(), disabled=(old,)).change_servers(Servers.edit, 0, new)
    merged = merge(mine, Settings(mcp_config=McpConfig.of([old])), []).draft.servers
    assert ([(entry.server, entry.was) for entry in merged.remaining], merged.to_keep_here) == ([(new, old)], ())
    disabled = Draft(Settings(mcp_config=McpConfig.of([old]))).change_servers(Servers.disable, 0)
    merged = merge(disabled, Settings(mcp_config=McpConfig.of([new])), [old]).draft.servers
    assert counted((*(entry.server for entry in merged.remaining), *merged.to_keep_here)) == counted([old, new])
    twice = Draft(Settings(mcp_config=McpConfig.of([old])), disabled=(old,)).change_servers(Servers.disable, 0)
    merged = merge(twice.change_servers(Servers.remove, 1), Settings(mcp_config=McpConfig.of([new]))).draft.servers
    assert merged.to_keep_here == (new,), "what is deleted here stays so beside one that moves here"


def test_a_key_that_was_typed_and_cleared_is_a_conflict() -> None:
    key = Draft(Settings(llm_api_key_set=True)).set("llm_api_key", SecretStr("new"))
    (conflict,) = merge(key, Settings(llm_api_key_set=False)).conflicts
    assert (conflict.key, conflict.base, conflict.theirs) == ("llm_api_key", True, False)


def test_another_persons_record_is_known_by_its_email_or_by_having_nothing_in_common() -> None:
    mine = Settings(email="ann@example.org", language="de", git_user_name="Ann")
    assert is_another(mine, mine.model_copy(update={"email": "ben@example.org"}))
    assert not is_another(mine, mine.model_copy(update={"language": "fr", "git_user_name": "Anna"}))
    nameless = mine.model_copy(update={"email": None})
    assert not is_another(nameless, Settings(language="de", git_user_name="Ben"))
    assert all(is_another(nameless, found) for found in (Settings(language="fr", git_user_name="Ben"), None))
    assert not is_another(None, mine)
