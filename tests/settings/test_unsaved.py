import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import unsaved
from quarterdeck.settings.changes import FieldChange, Restored, restored
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Unreadable
from quarterdeck.settings.mcp import listed
from quarterdeck.settings.mcp_server import as_data, bare, missing
from quarterdeck.settings.unsaved import MOST_RUNS, Run, UnsavedEdits
from tests.settings.strategies import marked_drafts

FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("held")})
STORED = Settings(language="de", llm_api_key_set=True, mcp_config=McpConfig(stdio_servers=(FILES,)))


NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def run_of(edited: Draft, *, minutes: int = 0, process: str = "") -> Run:
    return unsaved.to_keep(edited, NOON + timedelta(minutes=minutes), process)


def restored_on(base: Draft, edited: Draft) -> Restored:
    """The edits put on another draft, after they went through a file."""
    kept = UnsavedEdits.model_validate_json(unsaved.with_run(None, "a", run_of(edited)).model_dump_json())
    return restored(kept.runs["a"], base)


def shape(draft: Draft) -> tuple[object, ...]:
    """What a save would send, and every row as far as it can be told without secrets."""
    rows = [(row.removed, row.disabled, as_data(bare(row.server)), row.was, row.kept) for row in draft.servers.entries]
    return [bare(server) for server in listed(draft.servers.config())], sorted(rows, key=repr)


@given(marked_drafts())
def test_what_was_kept_is_the_same_draft_without_its_secrets(draft: Draft) -> None:
    loaded = Draft(draft.base, disabled=draft.disabled)
    again = restored_on(loaded, draft)
    assert not again.moved
    for key, value in draft.edits.items():
        label = draft.field_at(key).label
        if key == MCP:
            assert shape(again.draft) == shape(draft)
        elif label not in again.left_out:
            assert again.draft.edits[key] == value
        else:
            assert key not in again.draft.edits
    assert set(again.draft.edits) <= set(draft.edits)
    assert len(again.draft.past) <= 1


@given(marked_drafts(secrets=False))
def test_no_plain_edit_is_left_out(draft: Draft) -> None:
    again = restored_on(Draft(draft.base, disabled=draft.disabled), draft).draft
    assert {key: value for key, value in again.edits.items() if key != MCP} == {
        key: value for key, value in draft.edits.items() if key != MCP
    }


@given(marked_drafts())
def test_a_row_that_comes_back_unedited_is_named(draft: Draft) -> None:
    again = restored_on(Draft(draft.base, disabled=draft.disabled), draft)
    assert len(draft.servers.edited) - len(again.draft.servers.edited) <= len(again.left_out)


def test_of_two_that_only_secrets_tell_apart_the_same_one_is_removed_again() -> None:
    other = FILES.model_copy(update={"env": {"K": SecretStr("other")}})
    draft = Draft(Settings(mcp_config=McpConfig(stdio_servers=(FILES, other))))
    assert restored_on(draft, draft.remove_server(1)).draft.edits == draft.remove_server(1).edits


def test_what_cannot_be_had_back_is_named() -> None:
    server = FILES.model_copy(update={"env": {"K": SecretStr("typed"), "L": SecretStr("new")}})
    draft = Draft(STORED).set("llm_api_key", SecretStr("typed")).set("max_iterations", Unreadable("sk-typed"))
    again = restored_on(Draft(STORED), draft.edit_server(0, server).set("language", "fr"))
    assert again.left_out == ("API key", "Max iterations", "stdio files: K", "stdio files: L")
    assert set(again.draft.edits) == {"language", MCP}
    (entry,) = again.draft.servers.entries
    assert isinstance(entry.server, StdioServer)
    assert entry.server.env["K"] == SecretStr("held")
    assert list(missing(entry.server)) == ["L"]
    assert again.draft.errors


def test_a_cleared_key_is_no_secret() -> None:
    assert restored_on(Draft(STORED), Draft(STORED).unset("llm_api_key")).draft.changes == {"llm_api_key": None}


def test_what_moved_on_the_server_meanwhile_is_named_and_the_edit_is_on_top_of_it() -> None:
    draft = Draft(STORED).set("language", "fr").edit_server(0, FILES.model_copy(update={"command": "uvx"}))
    other = FILES.model_copy(update={"args": ("-y",)})
    newer = STORED.model_copy(update={"language": "es", "mcp_config": McpConfig(stdio_servers=(other,))})
    again = restored_on(Draft(newer), draft)
    assert again.moved == ("Language", "stdio files")
    assert again.draft.was("language") == "es"
    assert again.draft.value("language") == "fr"


def test_an_edited_server_that_is_gone_is_added_and_a_removed_one_is_forgotten() -> None:
    draft = Draft(STORED).edit_server(0, FILES.model_copy(update={"command": "uvx"}))
    gone = Draft(STORED.model_copy(update={"mcp_config": McpConfig()}))
    assert [entry.was for entry in restored_on(gone, draft).draft.servers.entries] == [None]
    assert not restored_on(gone, Draft(STORED).remove_server(0)).draft.edited


def test_a_note_cannot_bring_a_value_of_another_kind() -> None:
    fields = {"language": FieldChange(new=5), "enable_sound_notifications": FieldChange(), MCP: FieldChange(new=1)}
    kept = run_of(Draft(STORED)).model_copy(update={"fields": fields})
    assert not restored(kept, Draft(STORED)).draft.edited


def test_added_servers_come_back_where_they_stood() -> None:
    draft = Draft(STORED).add_server(SseServer(url="https://a.example/sse"), after=0).add_server(FILES, after=0)
    assert shape(restored_on(Draft(STORED), draft).draft) == shape(draft)


def test_a_living_deck_keeps_its_edits_for_itself_and_those_of_an_ended_one_are_offered_newest_first() -> None:
    edited = Draft(STORED).set("language", "fr")
    kept = unsaved.with_run(None, "a", run_of(edited, process="one"))
    kept = unsaved.with_run(kept, "b", run_of(edited, minutes=5, process="two"))
    kept = unsaved.with_run(kept, "c", run_of(edited, minutes=3, process="three"))
    assert names(kept, "two") == ["c", "a"]
    assert names(unsaved.ended(kept, "b"), "two") == ["b", "c", "a"]


def test_a_run_has_one_entry_and_the_last_one_takes_the_file_away() -> None:
    kept = unsaved.with_run(None, "a", run_of(Draft(STORED).set("language", "fr")))
    kept = unsaved.with_run(kept, "a", run_of(Draft(STORED).set("language", "es")))
    assert [each.fields["language"].new for _, each in unsaved.left_behind(kept, lambda _: False)] == ["es"]
    assert unsaved.without_run(kept, "other") == kept
    assert unsaved.without_run(kept, "a") is None
    assert unsaved.ended(None, "a") is None


def test_only_the_newest_are_kept() -> None:
    kept = None
    for minute in range(MOST_RUNS + 5):
        kept = unsaved.with_run(kept, f"run-{minute}", run_of(Draft(STORED).set("language", "fr"), minutes=minute))
    assert names(kept) == [f"run-{minute}" for minute in range(MOST_RUNS + 4, 4, -1)]


def names(kept: UnsavedEdits | None, *alive: str) -> list[str]:
    return [name for name, _ in unsaved.left_behind(kept, lambda process: process in alive)]


def test_edits_in_the_first_version_of_the_file_are_restored() -> None:
    def plain(name: str, command: str) -> dict[str, object]:
        return {"transport": "stdio", "server": {"name": name, "command": command}}

    held = {"before": plain("plain", "uvx"), "here": False, "parked": False, "typed": [], "place": 0, "nth": 0}
    field = {"value": None, "was": None, "secret": False, "hidden": False}
    run = {
        "at": "2026-03-01T12:00:00Z",
        "edits": 6,
        "process": "",
        "fields": {
            "language": field | {"value": "fr", "was": "de"},
            "llm_base_url": field | {"hidden": True},
            "llm_api_key": field | {"secret": True},
            "search_api_key": field | {"secret": True, "hidden": True},
        },
        "servers": [
            held | {"server": plain("plain", "npx"), "removed": False},
            held | {"server": plain("gone", "uvx"), "before": plain("gone", "uvx"), "removed": True},
            held | {"server": plain("new", "uvx"), "before": None, "here": True, "parked": True, "removed": False},
        ],
    }
    kept = UnsavedEdits.model_validate_json(json.dumps({"version": 1, "runs": {"a": run}}))
    servers = tuple(StdioServer(name=name, command="uvx") for name in ("gone", "plain"))
    stored = Settings(language="de", llm_api_key_set=True, mcp_config=McpConfig(stdio_servers=servers))
    again = restored(kept.runs["a"], Draft(stored))
    assert again.left_out == ("Base URL", "Search API key")
    assert not again.moved
    config = McpConfig(stdio_servers=(StdioServer(name="plain", command="npx"),))
    assert again.draft.changes == {"language": "fr", "llm_api_key": None, "mcp_config": config}
    assert again.draft.to_keep_here == (StdioServer(name="new", command="uvx"),)
    assert unsaved.with_run(kept, "b", run_of(Draft(stored))).version == 2
