from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, StdioServer
from quarterdeck.client.models.settings import LOAD_ONLY, Settings
from quarterdeck.settings.catalogue import BY_KEY, CATALOGUE, described
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Unreadable
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import name_of
from tests.settings.strategies import EDITS, RECORDS, edited

STORED = Settings(language="de", max_iterations=50, llm_api_key_set=True, search_api_key_set=False)


def test_every_documented_field_has_an_entry() -> None:
    documented = set(Settings.model_fields) - LOAD_ONLY - {"leaves"}
    assert {entry.key for entry in CATALOGUE if not entry.extra} == documented
    assert len(documented) == 25


def test_a_reference_says_what_each_field_takes_and_which_servers_have_it() -> None:
    page = {entry.key: entry for entry in described()}
    assert list(page) == list(BY_KEY)
    assert all(
        entry.label and entry.section and entry.help and entry.takes and entry.servers for entry in page.values()
    )
    assert page["security_analyzer"].takes == "llm, none, invariant; when not set: llm"
    assert page["max_budget_per_task"].takes == "a number; when not set: no limit"
    assert (page["enable_solvability_analysis"].takes, page["enable_solvability_analysis"].servers) == (
        "on or off",
        "flat",
    )
    assert page["condenser_max_size"].servers == "flat and nested, not in all releases"


def test_changes_hold_only_what_was_edited_and_the_stored_value_is_no_edit() -> None:
    draft = Draft(STORED).set("git_user_name", "Ada").unset("max_iterations")
    assert draft.changes == {"git_user_name": "Ada", "max_iterations": None}
    assert not Draft(STORED).set("language", "fr").set("language", "de").edited
    assert not Draft(STORED).set("enable_sound_notifications", False).edited


def test_nothing_stored_starts_from_a_fresh_record() -> None:
    draft = Draft(None)
    assert draft.value("enable_default_condenser") is True
    assert draft.value("language") is None
    assert draft.stored("llm_api_key") is False
    assert draft.set("language", "en").changes == {"language": "en"}


def test_a_secret_is_kept_replaced_or_cleared() -> None:
    draft = Draft(STORED)
    assert "llm_api_key" not in draft.changes
    assert draft.set("llm_api_key", SecretStr("new")).changes == {"llm_api_key": SecretStr("new")}
    cleared = draft.unset("llm_api_key")
    assert cleared.changes == {"llm_api_key": None}
    assert not cleared.revert("llm_api_key").edited
    assert not Draft(STORED).unset("search_api_key").edited
    assert Draft(STORED).unset("sandbox_api_key").edited, "nobody tells whether it is stored"


def test_a_number_that_cannot_be_read_is_kept_and_stops_the_save() -> None:
    draft = Draft(STORED).set("max_iterations", BY_KEY["max_iterations"].reads("many"))
    assert draft.value("max_iterations") == Unreadable("many")
    assert [problem.key for problem in draft.errors] == ["max_iterations"]


def test_what_was_stored_badly_before_only_warns_and_empty_text_counts_as_not_set() -> None:
    stored = Settings(max_iterations=-5, llm_base_url="", git_user_email="")
    assert not Draft(stored).errors
    assert [problem.key for problem in Draft(stored).problems] == ["max_iterations"]
    assert Draft(stored).set("max_iterations", -6).errors


def test_server_rows_are_edited_removed_and_restored() -> None:
    first, second = StdioServer(name="one", command="npx"), StdioServer(name="two", command="uvx")
    draft = Draft(Settings(mcp_config=McpConfig(stdio_servers=(first, second))))
    removed = draft.change_servers(Servers.remove, 0)
    assert removed.changes["mcp_config"].stdio_servers == (second,)
    assert not removed.change_servers(Servers.restore, 0).edited
    renamed = draft.change_servers(Servers.edit, 1, second.model_copy(update={"name": "zwei"}))
    assert [server.name for server in renamed.changes["mcp_config"].stdio_servers] == ["one", "zwei"]
    added = draft.change_servers(Servers.add, StdioServer(name="three", command="npx"), after=0)
    assert [name_of(entry.server) for entry in added.servers.entries] == ["one", "three", "two"]
    assert not added.change_servers(Servers.remove, 2).edited


def test_unknown_members_of_servers_and_of_the_list_are_carried() -> None:
    config = McpConfig.model_validate({"stdio_servers": [{"name": "one", "command": "npx", "cwd": "/w"}], "mode": "x"})
    draft = Draft(Settings(mcp_config=config))
    server = draft.servers.entries[0].server
    sent = draft.change_servers(Servers.edit, 0, server.model_copy(update={"command": "uvx"})).changes["mcp_config"]
    assert sent.model_dump()["mode"] == "x"
    assert sent.stdio_servers[0].model_dump()["cwd"] == "/w"


@given(RECORDS, EDITS, st.data())
def test_edits_change_no_other_field_and_are_undone_and_redone(
    base: Settings, edits: list[tuple[str, object]], data: st.DataObject
) -> None:
    draft = edited(Draft(base), edits)
    touched = dict(edits)
    assert set(draft.changes) <= set(touched)
    assert all(draft.value(key) == value for key, value in touched.items())
    untouched = data.draw(st.sampled_from([key for key in BY_KEY if key not in touched]))
    assert draft.value(untouched) == Draft(base).value(untouched)
    undone = draft
    while undone.past:
        undone = undone.undo()
    assert not undone.edited
    while undone.future:
        undone = undone.redo()
    assert undone.edits == draft.edits
