from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import Identity, identities
from quarterdeck.settings.merge import Side, is_another, merge, settle
from tests.settings.strategies import ANY_SERVER, CONFIGS, EDITS, PLAIN_FIELDS, RECORDS

Edits = list[tuple[str, object]]


def edited(draft: Draft, edits: Edits) -> Draft:
    for key, value in edits:
        draft = draft.set(key, value)
    return draft


def by_identity(servers: Servers) -> dict[Identity, McpServer]:
    left = [entry.server for entry in servers.left]
    return dict(zip(identities(left), left, strict=True))


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


@given(RECORDS, EDITS)
def test_nothing_is_lost_when_nobody_else_changed_anything(base: Settings, edits: Edits) -> None:
    mine = edited(Draft(base), edits)
    merged = merge(mine, base)
    assert merged.draft.edits == mine.edits
    assert not merged.conflicts
    assert not merged.arrived


@given(RECORDS, EDITS, RECORDS)
def test_taking_theirs_everywhere_leaves_only_single_sided_edits(
    base: Settings, edits: Edits, theirs: Settings
) -> None:
    merged = merge(edited(Draft(base), edits), theirs)
    draft = merged.draft
    for conflict in merged.conflicts:
        draft = settle(draft, conflict, Side.THEIRS)
        assert draft.value(conflict.key) == getattr(theirs, conflict.key)
    assert set(draft.changes) == set(merged.draft.changes) - {conflict.key for conflict in merged.conflicts}


@st.composite
def server_edits(draw: st.DrawFn) -> tuple[Draft, Settings]:
    """A draft with edits of its MCP list, and a newer record of the server."""
    draft = Draft(Settings(mcp_config=draw(CONFIGS)))
    for entry in draft.servers.entries:
        match draw(st.sampled_from(["keep", "remove", "edit"])):
            case "remove":
                draft = draft.remove_server(entry.row)
            case "edit":
                draft = draft.edit_server(entry.row, changed(entry.server, draw(st.sampled_from("pq"))))
    if draw(st.booleans()):
        taken = by_identity(draft.stored_servers)
        draft = draft.add_server(draw(ANY_SERVER.filter(lambda server: identities([server])[0] not in taken)))
    return draft, Settings(mcp_config=draw(CONFIGS))


def changed(server: McpServer, letter: str) -> McpServer:
    if isinstance(server, StdioServer):
        return server.model_copy(update={"command": letter})
    return server.model_copy(update={"api_key": SecretStr(letter)})


@given(server_edits())
def test_every_server_of_either_side_is_kept_unless_a_side_removed_it(sides: tuple[Draft, Settings]) -> None:
    mine, theirs = sides
    merged = merge(mine, theirs)
    contested = {conflict.row for conflict in merged.conflicts}
    base = by_identity(mine.stored_servers)
    there = by_identity(Servers.of(theirs.mcp_config))
    here = {entry.origin: entry for entry in mine.servers.entries if entry.origin is not None}
    result = by_identity(merged.draft.servers)
    removed_rows = {entry.row for entry in merged.draft.servers.entries if entry.removed}
    for identity, was in base.items():
        entry, other = here[identity], there.get(identity)
        own = None if entry.removed else entry.server
        expected = other if own == was else own
        assert result.get(identity) == expected
        is_contested = own != was and other != was and own != other
        assert (entry.row in contested) == is_contested
        assert not (entry.removed and other is not None) or entry.row in removed_rows
    for identity in there.keys() - base.keys():
        assert identity in result
    for entry in mine.servers.entries:
        if entry.was is None:
            assert entry.server in result.values()


@given(server_edits())
def test_rows_have_ids_of_their_own_after_a_merge(sides: tuple[Draft, Settings]) -> None:
    mine, theirs = sides
    rows = [entry.row for entry in merge(mine, theirs).draft.servers.entries]
    assert len(rows) == len(set(rows))


@given(server_edits())
def test_merging_again_with_the_same_record_changes_nothing(sides: tuple[Draft, Settings]) -> None:
    mine, theirs = sides
    once = merge(mine, theirs).draft
    again = merge(once, theirs)
    assert again.draft.edits == once.edits
    assert not again.conflicts


def test_undo_still_works_after_a_merge() -> None:
    base = Settings(mcp_config=McpConfig(stdio_servers=(StdioServer(name="one", command="npx"),)))
    mine = Draft(base).set("language", "de").remove_server(0)
    theirs = base.model_copy(update={"agent": "LocAgent"})
    undone = merge(mine, theirs).draft.undo()
    assert undone.value("language") == "de"
    assert undone.value("agent") == "LocAgent"
    assert [entry.removed for entry in undone.servers.entries] == [False]


def test_a_server_both_sides_added_with_different_keys_is_a_conflict() -> None:
    mine = Draft(Settings()).add_server(SseServer(url="https://a.example/x", api_key=SecretStr("mine")))
    theirs = SseServer(url="https://a.example/x", api_key=SecretStr("theirs"))
    merged = merge(mine, Settings(mcp_config=McpConfig(sse_servers=(theirs,))))
    (conflict,) = merged.conflicts
    assert conflict.base is None
    assert settle(merged.draft, conflict, Side.THEIRS).servers.config().sse_servers == (theirs,)


def test_a_key_someone_else_cleared_while_it_was_replaced_here_is_a_conflict() -> None:
    mine = Draft(Settings(llm_api_key_set=True)).set("llm_api_key", SecretStr("new"))
    (conflict,) = merge(mine, Settings(llm_api_key_set=False)).conflicts
    assert (conflict.key, conflict.base, conflict.theirs) == ("llm_api_key", True, False)


def test_a_first_save_by_someone_else_is_merged_too() -> None:
    merged = merge(Draft(None).set("language", "de"), Settings(agent="LocAgent"))
    assert merged.draft.changes == {"language": "de"}
    assert merged.draft.value("agent") == "LocAgent"


def test_another_persons_record_is_told_by_its_email_or_by_having_nothing_in_common() -> None:
    mine = Settings(email="ann@example.org", language="de", git_user_name="Ann")
    assert is_another(mine, mine.model_copy(update={"email": "ben@example.org"}))
    assert not is_another(mine, mine.model_copy(update={"language": "fr", "git_user_name": "Anna"}))
    untold = mine.model_copy(update={"email": None})
    assert not is_another(untold, Settings(language="de", git_user_name="Ben"))
    assert is_another(untold, Settings(language="fr", git_user_name="Ben"))
    assert is_another(untold, None)
    assert not is_another(None, mine)
