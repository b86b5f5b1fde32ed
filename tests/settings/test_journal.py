import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import journal
from quarterdeck.settings.changes import Restored
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.journal import Journal, Saved
from quarterdeck.settings.mcp_server import bare, members
from tests.settings.strategies import PLAIN_FIELDS, marked_drafts, saved

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
FILES = StdioServer(name="files", command="npx", env={"K": SecretStr("held")})
PLAIN = StdioServer(name="plain", command="uvx")
STORED = Settings(
    language="de",
    llm_api_key_set=True,
    search_api_key_set=False,
    mcp_config=McpConfig(stdio_servers=(FILES, PLAIN)),
)


def noted(meant: Draft, found: Settings | None) -> Saved:
    book = journal.with_save(None, journal.saved_of(meant, found, NOON, "1.6.0"))
    last = journal.last(Journal.model_validate_json(book.model_dump_json()))
    assert last is not None
    return last


def undo_of(meant: Draft) -> Restored:
    after = saved(meant)
    return journal.undone(noted(meant, after.base), after)


def counted(servers: tuple[McpServer, ...]) -> Counter[str]:
    return Counter(json.dumps(members(bare(server)), sort_keys=True) for server in servers)


def told(draft: Draft) -> tuple[Any, ...]:
    """All of what is stored and kept here, without secrets."""
    record = draft.base or Settings()
    entries = draft.servers.entries
    return (
        {key: getattr(record, key) or None for key in PLAIN_FIELDS if key != "enable_sound_notifications"},
        record.enable_sound_notifications,
        counted(tuple(entry.was for entry in entries if entry.was is not None)),
        counted(tuple(entry.kept for entry in entries if entry.was is None and entry.kept is not None)),
    )


def unfolded(draft: Draft) -> Draft:
    """The draft as the server and this machine have it: rows that are both count once."""
    return Draft(draft.base, disabled=draft.disabled)


@given(marked_drafts(secrets=False))
def test_undoing_a_save_and_undoing_that_brings_everything_but_secrets(draft: Draft) -> None:
    before, after = unfolded(draft), saved(draft)
    undo = undo_of(draft)
    assert not undo.moved
    assert told(saved(undo.draft)) == told(before)
    again = undo_of(undo.draft)
    assert not again.moved
    assert told(saved(again.draft)) == told(after)


@given(marked_drafts())
def test_an_undo_names_every_secret_that_it_cannot_bring(draft: Draft) -> None:
    undo, before = undo_of(draft), unfolded(draft)
    assert not undo.moved
    was = {json.dumps(members(entry.was), sort_keys=True) for entry in before.servers.entries if entry.was is not None}
    back = [entry.server for entry in undo.draft.servers.edited if entry.stays]
    lost = [server for server in back if json.dumps(members(server), sort_keys=True) not in was]
    assert len(undo.left_out) >= len(lost)


def test_fields_go_back_to_what_they_were() -> None:
    undo = undo_of(Draft(STORED).set("language", "fr").set("git_user_name", "Ada"))
    assert undo.draft.changes == {"language": "de", "git_user_name": None}
    assert not undo.left_out


def test_what_was_changed_again_since_is_left_alone() -> None:
    meant = Draft(STORED).set("language", "fr").edit_server(1, PLAIN.model_copy(update={"command": "npx"}))
    after = saved(meant).base
    assert after is not None
    newer = after.model_copy(update={"language": "es", "mcp_config": McpConfig(stdio_servers=(FILES,))})
    undo = journal.undone(noted(meant, after), Draft(newer))
    assert undo.moved == ("Language", "stdio plain")
    assert not undo.draft.edited


def test_what_never_arrived_is_not_undone() -> None:
    meant = Draft(STORED).set("language", "fr").remove_server(1).add_server(SseServer(url="https://a.example/sse"))
    assert not journal.undone(noted(meant, STORED), Draft(STORED)).draft.edited


def test_what_could_not_be_read_back_is_undone_if_it_is_there() -> None:
    meant = Draft(STORED).set("language", "fr").remove_server(1)
    saved_note = noted(meant, None)
    assert journal.undone(saved_note, saved(meant)).draft.changes["language"] == "de"
    assert journal.undone(saved_note, Draft(STORED)).moved == ("Language",)


def test_a_replaced_key_cannot_be_brought_back_and_a_first_one_can_be_cleared() -> None:
    undo = undo_of(Draft(STORED).set("llm_api_key", SecretStr("x")).set("search_api_key", SecretStr("y")))
    assert undo.left_out == ("API key",)
    assert undo.draft.changes == {"search_api_key": None}


def test_a_deleted_server_comes_back_and_its_secret_has_to_be_typed() -> None:
    undo = undo_of(Draft(STORED).remove_server(0).remove_server(1))
    assert undo.left_out == ("stdio files: K",)
    assert [entry.server.name for entry in undo.draft.servers.edited if isinstance(entry.server, StdioServer)] == [
        "files",
        "plain",
    ]
    assert {problem.row for problem in undo.draft.errors} == {undo.draft.servers.edited[0].row}


def test_an_edited_server_goes_back_with_the_secret_it_has_now() -> None:
    undo = undo_of(Draft(STORED).edit_server(0, FILES.model_copy(update={"command": "uvx"})))
    assert not undo.left_out
    assert undo.draft.changes["mcp_config"].stdio_servers[0] == FILES


def test_disabling_is_undone_with_the_secrets_that_were_kept_here() -> None:
    undo = undo_of(Draft(STORED).disable_server(0))
    assert not undo.left_out
    assert undo.draft.changes["mcp_config"].stdio_servers == (FILES, PLAIN)
    assert undo.draft.to_keep_here == ()


def test_disabling_without_secrets_is_undone_without_them() -> None:
    assert undo_of(Draft(STORED).disable_server(0, with_secrets=False)).left_out == ("stdio files: K",)


def test_the_lines_say_what_was_changed() -> None:
    meant = Draft(STORED).set("language", "fr").set("llm_api_key", SecretStr("x")).disable_server(1)
    last = noted(meant, None)
    assert last.when == NOON
    assert last.release == "1.6.0"
    assert last.lines == (
        "API key: set stored → new value",
        "stdio plain: disabled uvx → kept on this machine",
        "Language: set de · German → fr · French",
    )


def test_a_journal_is_bounded_by_number_and_by_size_and_keeps_the_last() -> None:
    book: Journal | None = None
    for number in range(60):
        book = journal.with_save(book, journal.saved_of(Draft(STORED).set("agent", str(number)), None, NOON, "1.6.0"))
    assert book is not None
    assert len(book.saves) == journal.MOST_SAVES
    last = journal.last(book)
    assert last is not None
    assert last.lines == ("Agent: set not set → 59",)
    large = journal.saved_of(Draft(STORED).set("agent", "x" * 300_000), None, NOON, "1.6.0")
    assert journal.with_save(book, large).saves == (large,)
    small = large.model_copy(update={"fields": {}})
    assert len(journal.with_save(book, small).model_dump_json()) < journal.MOST_BYTES


def test_deleted_and_disabled_servers_come_back_to_their_places() -> None:
    third, fourth = (PLAIN.model_copy(update={"name": name}) for name in ("third", "fourth"))
    before = Settings(mcp_config=McpConfig(stdio_servers=(PLAIN, FILES, third, fourth)))
    undo = undo_of(Draft(before).remove_server(0).disable_server(1).remove_server(2))
    names = [server.name for server in undo.draft.servers.config().stdio_servers]
    assert names == [PLAIN.name, FILES.name, "third", "fourth"]
