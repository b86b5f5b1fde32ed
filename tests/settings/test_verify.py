from hypothesis import assume, given

from quarterdeck.client.models.mcp import McpConfig, ShttpServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp import Servers, without_duplicates
from quarterdeck.settings.verify import ADDED_AGAIN, verify
from tests.settings.strategies import errors, marked_drafts, saved

BASE = Settings(language="de", git_user_name="Ada", llm_api_key_set=False)
FILES = StdioServer(name="files", command="npx")
TOOLS = ShttpServer(url="https://a.example/mcp")


@given(marked_drafts())
def test_what_a_server_stored_as_it_was_asked_is_verified(draft: Draft) -> None:
    assume(not errors(draft))
    for hidden in (False, True):
        seen = verify(draft, saved(draft).base, hidden=hidden)
        assert (seen.stored, seen.good, seen.returned) == (True, seen.readable, ())


def test_a_field_that_nobody_here_touched_is_named_too_and_empty_text_counts_as_not_set() -> None:
    found = BASE.model_copy(update={"language": "fr", "git_user_name": None})
    (difference,) = verify(Draft(BASE).set("language", "fr"), found).differences
    assert (difference.key, difference.asked) == ("git_user_name", False)
    assert verify(Draft(BASE).unset("git_user_name"), BASE.model_copy(update={"git_user_name": ""})).stored


def test_servers_are_verified_one_by_one() -> None:
    base = BASE.model_copy(update={"mcp_config": McpConfig(stdio_servers=(FILES,), shttp_servers=(TOOLS,))})
    draft = (
        Draft(base)
        .change_servers(Servers.remove, 0)
        .change_servers(Servers.edit, 1, FILES.model_copy(update={"command": "uvx"}))
    )
    assert verify(draft, base).good == 0
    (back,) = verify(Draft(base).change_servers(Servers.remove, 1), base).differences
    assert (back.found, back.note) == ("there", ADDED_AGAIN)
    assert {difference.found for difference in verify(draft, base).differences} == {"there", "different"}
    done = base.model_copy(update={"mcp_config": draft.changes["mcp_config"]})
    assert (verify(draft, done).good, verify(draft, done).stored) == (2, True)


def test_a_removed_copy_that_the_server_adds_itself_is_told_and_is_no_failure() -> None:
    twice = Settings(mcp_config=McpConfig(stdio_servers=(FILES, FILES)))
    seen = verify(
        Draft(twice).change_servers(without_duplicates).set("language", "fr"),
        twice.model_copy(update={"language": "fr"}),
    )
    assert (seen.stored, seen.readable, seen.good, seen.returned) == (True, 1, 1, ("stdio files",))
    gone = verify(
        Draft(twice).change_servers(without_duplicates), Settings(mcp_config=McpConfig(stdio_servers=(FILES,)))
    )
    assert (gone.readable, gone.good, gone.returned) == (1, 1, ())
