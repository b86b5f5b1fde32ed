from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.mcp import McpConfig
from quarterdeck.client.models.settings import LOAD_ONLY, Settings
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import CANONICAL
from quarterdeck.settings.mcp import Servers
from tests.settings.strategies import EDITS, RECORDS, edited, errors

STORED = Settings(language="de", max_iterations=50, llm_api_key_set=True, search_api_key_set=False)


def test_every_documented_field_has_an_entry() -> None:
    documented = set(Settings.model_fields) - LOAD_ONLY - {"leaves"}
    assert {entry.key for entry in CATALOGUE if not entry.extra} == documented
    assert len(documented) == 25


def test_changes_hold_only_what_was_edited_and_the_stored_value_is_no_edit() -> None:
    draft = Draft(STORED).set("git_user_name", "Ada").unset("max_iterations")
    assert draft.changes == {"git_user_name": "Ada", "max_iterations": None}
    assert not Draft(STORED).set("language", "fr").set("language", "de").edited
    assert not Draft(STORED).set("enable_sound_notifications", False).edited


def test_what_was_stored_badly_before_only_warns_and_empty_text_counts_as_not_set() -> None:
    stored = Settings(max_iterations=-5, llm_base_url="", git_user_email="")
    assert not errors(Draft(stored))
    assert [problem.key for problem in Draft(stored).problems] == ["max_iterations"]
    assert errors(Draft(stored).set("max_iterations", -6))


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
    untouched = data.draw(st.sampled_from([key for key in CANONICAL.by_key if key not in touched]))
    assert draft.value(untouched) == Draft(base).value(untouched)
    undone = draft
    while undone.past:
        undone = undone.undo()
    assert not undone.edited
    while undone.future:
        undone = undone.redo()
    assert undone.edits == draft.edits
