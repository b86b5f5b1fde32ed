import json
from datetime import timedelta
from typing import Any

from hypothesis import given

from quarterdeck.client.models.mcp import McpConfig, McpServer, SseServer, StdioServer, listed
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.changes import FieldChange, KeptChanges, Restored, restored
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Unreadable
from quarterdeck.settings.kept import MOST_RUNS, Journal, UnsavedEdits
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import as_data, bare, members
from tests.settings.strategies import FILES, NOON, PLAIN_FIELDS, counted, marked_drafts, saved

PLAIN, ADDED = StdioServer(name="plain", command="uvx"), SseServer(url="https://a.example/sse")
BOTH, NOTHING = McpConfig(stdio_servers=(FILES, PLAIN)), Journal()
STORED = Settings(language="de", llm_api_key_set=True, search_api_key_set=False, mcp_config=BOTH)


def with_run(kept: UnsavedEdits, name: str, edited: Draft, minutes: int = 0) -> UnsavedEdits:
    return kept.with_run(name, edited, NOON + timedelta(minutes=minutes), process="")


def restored_on(base: Draft, edited: Draft) -> Restored:
    """The edits put on another draft, after they went through a file."""
    kept = UnsavedEdits.model_validate_json(with_run(UnsavedEdits(), "a", edited).model_dump_json())
    return restored(kept.runs["a"], base)


def unedited(draft: Draft) -> Draft:
    return Draft(draft.base, disabled=draft.disabled)


def noted(meant: Draft, found: Settings | None, before: Journal = NOTHING) -> Journal:
    """A journal with a save, after it went through a file."""
    when = NOON + timedelta(minutes=len(before.saves))
    return Journal.model_validate_json(before.with_save(meant, found, when).model_dump_json())


def undone(journal: Journal, now: Draft) -> Restored:
    last = journal.last_save(now)
    return Restored(now) if last is None else last[1]


def undo_of(meant: Draft) -> Restored:
    after = saved(meant)
    return undone(noted(meant, after.base), after)


def written(server: McpServer | None) -> str:
    """A server as a text to sort by; the order of its variables means nothing."""
    return "" if server is None else json.dumps(as_data(server), sort_keys=True)


def shape(draft: Draft) -> tuple[object, ...]:
    """What a save would send, and every row as far as it can be known without secrets."""
    rows = [
        (row.removed, row.disabled, written(bare(row.server)), written(row.was), written(row.kept))
        for row in draft.servers.entries
    ]
    return counted(map(bare, listed(draft.servers.config()))), sorted(rows)


@given(marked_drafts())
def test_what_was_kept_is_the_same_draft_without_its_secrets(draft: Draft) -> None:
    again = restored_on(unedited(draft), draft)
    assert not again.moved
    for key, value in draft.edits.items():
        label = draft.field_at(key).label
        if key == MCP:
            assert shape(again.draft) == shape(draft)
        elif label not in again.left_out:
            assert again.draft.edits[key] == value
        else:
            assert key not in again.draft.edits
            assert key not in PLAIN_FIELDS
    assert set(again.draft.edits) <= set(draft.edits)
    assert len(again.draft.past) <= 1
    assert len(draft.servers.edited) - len(again.draft.servers.edited) <= len(again.left_out)


def test_of_two_servers_that_differ_by_a_secret_alone_the_right_one_goes() -> None:
    first, second = (SseServer(url=f"https://a.example/mcp?token={token}") for token in ("one", "two"))
    draft = Draft(Settings(mcp_config=McpConfig.of((first, second))))
    assert listed(restored_on(draft, draft.change_servers(Servers.remove, 1)).draft.servers.config()) == (first,)
    added = Draft(Settings(mcp_config=McpConfig.of((first,)))).change_servers(Servers.add, second)
    assert listed(undo_of(added).draft.servers.config()) == (first,)


def test_what_moved_on_the_server_meanwhile_is_named_and_the_edit_is_on_top_of_it() -> None:
    uvx = FILES.model_copy(update={"command": "uvx"})
    draft = Draft(STORED).set("language", "fr").change_servers(Servers.edit, 0, uvx)
    other = FILES.model_copy(update={"args": ("-y",)})
    newer = STORED.model_copy(update={"language": "es", "mcp_config": McpConfig(stdio_servers=(other, PLAIN))})
    again = restored_on(Draft(newer), draft)
    assert again.moved == ("Language", "stdio files")
    assert (again.draft.was("language"), again.draft.value("language")) == ("es", "fr")
    gone = Draft(STORED.model_copy(update={"mcp_config": McpConfig()}))
    assert [entry.was for entry in restored_on(gone, draft).draft.servers.entries] == [None]
    assert not restored_on(gone, Draft(STORED).change_servers(Servers.remove, 0)).draft.edited


def test_a_note_cannot_bring_a_value_of_another_kind() -> None:
    fields = {"language": FieldChange(new=5), "enable_sound_notifications": FieldChange(), MCP: FieldChange(new=1)}
    assert not restored(KeptChanges(fields=fields, servers=()), Draft(STORED)).draft.edited
    unread = Draft(STORED).set("max_iterations", Unreadable("sk-typed"))
    assert restored_on(Draft(STORED), unread).left_out == ("Max iterations",)


def test_edits_in_the_first_version_of_the_file_are_restored() -> None:
    def plain(name: str, command: str) -> Any:
        return {"transport": "stdio", "server": {"name": name, "command": command}}

    held = {"before": plain("plain", "uvx"), "here": False, "parked": False, "typed": [], "place": 0, "nth": 0}
    field: dict[str, Any] = {"value": None, "was": None, "secret": False, "hidden": False}
    fields = {"language": field | {"value": "fr", "was": "de"}, "llm_base_url": field | {"hidden": True}}
    fields |= {"llm_api_key": field | {"secret": True}, "search_api_key": field | {"secret": True, "hidden": True}}
    edited = held | {"server": plain("plain", "npx"), "removed": False}
    gone = held | {"server": plain("gone", "uvx"), "before": plain("gone", "uvx"), "removed": True}
    new = held | {"server": plain("new", "uvx"), "before": None, "here": True, "parked": True, "removed": False}
    run = {"at": "2026-03-01T12:00:00Z", "edits": 6, "process": "", "fields": fields, "servers": [edited, gone, new]}
    kept = UnsavedEdits.model_validate_json(json.dumps({"version": 1, "runs": {"a": run}}))
    servers = tuple(StdioServer(name=name, command="uvx") for name in ("gone", "plain"))
    stored = STORED.model_copy(update={"mcp_config": McpConfig(stdio_servers=servers)})
    again = restored(kept.runs["a"], Draft(stored))
    assert (again.left_out, again.moved) == (("Base URL", "Search API key"), ())
    config = McpConfig(stdio_servers=(StdioServer(name="plain", command="npx"),))
    assert again.draft.changes == {"language": "fr", "llm_api_key": None, "mcp_config": config}
    assert again.draft.servers.to_keep_here == (StdioServer(name="new", command="uvx"),)
    assert with_run(kept, "b", Draft(stored)).version == 2


def test_of_the_runs_that_ended_the_newest_are_kept_and_offered_first() -> None:
    kept = UnsavedEdits()
    for minute in (*range(1, MOST_RUNS + 5), 0):
        kept = with_run(kept, f"run-{minute}", Draft(STORED).set("language", "fr"), minutes=minute)
    names = [name for name, _ in kept.left_behind(lambda process: False)]
    assert names == [f"run-{minute}" for minute in range(MOST_RUNS + 4, 4, -1)]


def all_of(draft: Draft) -> tuple[Any, ...]:
    """All of what is stored and kept here, without secrets."""
    record, entries = draft.base or Settings(), draft.servers.entries
    return (
        {key: getattr(record, key) or None for key in PLAIN_FIELDS if key != "enable_sound_notifications"},
        record.enable_sound_notifications,
        counted(tuple(bare(entry.was) for entry in entries if entry.was is not None)),
        counted(tuple(bare(entry.kept) for entry in entries if entry.was is None and entry.kept is not None)),
    )


@given(marked_drafts(secrets=False))
def test_undoing_a_save_and_undoing_that_brings_everything_but_secrets_which_are_named(draft: Draft) -> None:
    before, after, undo = unedited(draft), saved(draft), undo_of(draft)
    assert not undo.moved
    assert all_of(saved(undo.draft)) == all_of(before)
    held = {json.dumps(members(entry.was), sort_keys=True) for entry in before.servers.entries if entry.was is not None}
    back = {json.dumps(members(entry.server), sort_keys=True) for entry in undo.draft.servers.edited if entry.stays}
    assert len(undo.left_out) >= len(back - held)
    again = undo_of(undo.draft)
    assert not again.moved
    assert all_of(saved(again.draft)) == all_of(after)


def test_what_was_changed_again_since_or_never_arrived_is_left_alone() -> None:
    npx = PLAIN.model_copy(update={"command": "npx"})
    meant = Draft(STORED).set("language", "fr").change_servers(Servers.edit, 1, npx)
    after = saved(meant).base
    assert after is not None
    newer = after.model_copy(update={"language": "es", "mcp_config": McpConfig(stdio_servers=(FILES,))})
    undo = undone(noted(meant, after), Draft(newer))
    assert (undo.moved, undo.draft.edited) == (("Language", "stdio plain"), False)
    never = Draft(STORED).set("language", "fr").change_servers(Servers.remove, 1).change_servers(Servers.add, ADDED)
    assert noted(never, STORED).last_save(Draft(STORED)) is None
    assert undone(noted(never, STORED, noted(meant, after)), Draft(after)).draft.changes["language"] == "de"


def test_what_could_not_be_read_back_is_undone_if_it_is_there_else_the_save_before_it() -> None:
    meant = Draft(STORED).set("language", "fr").change_servers(Servers.remove, 1)
    assert undone(noted(meant, None), saved(meant)).draft.changes["language"] == "de"
    assert noted(meant, None).last_save(Draft(STORED)) is None
    added = Draft(STORED).change_servers(Servers.add, ADDED)
    assert undone(noted(added, None), saved(added)).draft.edited
    assert noted(added, None).last_save(Draft(STORED)) is None
    earlier = Draft(STORED).set("language", "it")
    after = saved(earlier)
    journal = noted(after.set("language", "fr"), None, noted(earlier, after.base))
    assert undone(journal, after).draft.changes["language"] == "de"
    told = {"llm_model": "a/b", "llm_base_url": "https://a.example/v1"}
    other = Settings(leaves={"agent_settings.llm.model": "a/b"}, **told)
    went = other.model_copy(update={"llm_model": "c/d", "llm_base_url": None})  # the address goes with the provider
    assert undone(noted(Draft(other).set("llm_model", "c/d"), None), Draft(went)).draft.changes == told
