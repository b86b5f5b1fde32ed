import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpConfig, McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import LOAD_ONLY, Settings
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.form_fields import CANONICAL
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_checks import problems, server_problems
from quarterdeck.settings.merge import merge
from tests.settings.strategies import EDITS, RECORDS, Edits, edited, errors


def problem_of(key: str, typed: str) -> Problem | None:
    field = CANONICAL.by_key[key]
    value = SecretStr(typed) if field.secret else field.reads(typed)
    return next((problem for problem in Draft(Settings()).set(key, value).problems if problem.key == key), None)


BAD: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("max_budget_per_task", "0 or more", ("-1",)),
    ("max_budget_per_task", "not a number", ("NaN", "1e999", "five")),
    ("max_iterations", "1 or more", ("0",)),
    ("max_iterations", "not a whole number", ("1.5", "999999999999999999999999999999", "many")),
    ("remote_runtime_resource_factor", "1 or more", ("0",)),
    ("llm_base_url", "Begin the address with", ("a.example", "ftp://a.example")),
    ("llm_base_url", "names no host", ("https://",)),
    ("llm_base_url", "not a web address", ("https://a:port/x", "https://[::1/x")),
    ("llm_base_url", "no spaces", ("https://a b.c",)),
    ("llm_model", "no spaces", ("openai/gpt 5",)),
    ("llm_model", "mask", ("********",)),
    ("llm_api_key", "mask", ("**********", "••••••", "<hidden>")),
    ("llm_api_key", "Bearer", ("Bearer sk-1",)),
    ("llm_api_key", "quotation", ('"sk-1"',)),
    ("llm_api_key", "a space", ("sk-1\nsk-2", "sk-1 sk-2")),
    ("llm_api_key", "Nothing is typed", ("   ",)),
    ("git_user_name", "The characters", ("Ada $(reboot)", 'Ada "the" L', "Ada `x`")),
    ("git_user_name", "control character", ("Ada\x1b[2J",)),
    ("git_user_email", "The characters", ("ada\\@example.com",)),
    ("sandbox_base_container_image", "not an image name", ("Not An Image",)),
)
ODD = ["max_iterations=20000", "max_budget_per_task=0.5", "llm_model=gpt-5", "llm_base_url=http://localhost:4000"]
ODD += ["search_api_key=other-key", "language=eo", "agent=MyAgent", "remote_runtime_resource_factor=3"]
ODD += ["git_user_email=nobody", "email=nobody", "sandbox_base_container_image=python"]
GOOD = ["max_budget_per_task=2,50", "max_budget_per_task=$5", "max_budget_per_task=0", "max_iterations=1_000"]
GOOD += ["llm_model=anthropic/claude-sonnet-4-5", "llm_base_url=https://gateway.example.com/v1", "language=zh-CN"]
GOOD += ["llm_api_key=sk-ant-api03-x", "search_api_key=tvly-x", "git_user_name=Ada O'Hara"]
GOOD += ["sandbox_base_container_image=ghcr.io:443/acme/base_image:1.2"]
EACH: list[tuple[str, str, bool | None, str]] = [(key, typed, True, words) for key, words, bad in BAD for typed in bad]
for stops, group in ((False, ODD), (None, GOOD)):
    EACH += [(key, typed, stops, "") for key, _, typed in (each.partition("=") for each in group)]


@pytest.mark.parametrize(("key", "typed", "stops", "words"), EACH)
def test_bad_input_stops_the_save_with_one_sentence(key: str, typed: str, stops: bool | None, words: str) -> None:
    """What is only odd warns, and what is good passes without a word."""
    problem = problem_of(key, typed)
    assert (None if problem is None else problem.stops) is stops
    if problem is not None:
        assert words in problem.words
        assert problem.words.endswith((".", "?"))
        assert "\n" not in problem.words


def of(*servers: McpServer) -> list[tuple[int | None, str, bool]]:
    rows = Servers()
    for server in servers:
        rows = rows.add(server)
    return [(problem.row, problem.member, problem.stops) for problem in problems(rows)]


STDIO = StdioServer(name="files", command="npx")

BAD_SERVERS: list[tuple[McpServer, str]] = [(SseServer(url=bad), "url") for bad in ("a.example", "ftp://a.example", "")]
BAD_SERVERS += [(STDIO.model_copy(update={"command": bad}), "command") for bad in ("npx -y x", "")]
BAD_SERVERS += [(STDIO.model_copy(update={"name": bad}), "name") for bad in ("my files", "")]
ENVS = {"A-B": SecretStr("x")}, {"A": SecretStr("****")}
BAD_SERVERS += [(STDIO.model_copy(update={"env": bad}), "env") for bad in ENVS]
BAD_SERVERS += [(ShttpServer(url="https://a.example", timeout=seconds), "timeout") for seconds in (0, 3601)]
BAD_SERVERS += [(SseServer(url="https://a.example", api_key=SecretStr("<redacted>")), "api_key")]


@pytest.mark.parametrize(("server", "member"), BAD_SERVERS)
def test_a_bad_server_stops_the_save_at_its_member(server: McpServer, member: str) -> None:
    assert of(server) == [(0, member, True)]
    assert not any(mask in problem.words for problem in server_problems(server) for mask in ("****", "<redacted>"))


def test_equal_names_stop_and_equal_addresses_of_two_types_warn() -> None:
    assert of(STDIO, STDIO) == [(0, "name", True), (1, "name", True)]
    address = "https://tools.example.com/x"
    assert of(SseServer(url=address), ShttpServer(url=address)) == [(0, "url", False), (1, "url", False)]


def test_what_is_behind_a_mask_has_to_be_typed_again_and_is_named_without_it() -> None:
    headers = {"X-Key": SecretStr(MASK), "X-Other": SecretStr("typed")}
    (found,) = server_problems(SseServer.model_validate({"url": "https://a.example/sse", "headers": headers}))
    assert found == Problem("The value of a header is hidden; type it again.", member="headers")
    (found,) = server_problems(STDIO.model_copy(update={"env": {"TOKEN": SecretStr("<hidden>")}}))
    assert "hidden" not in found.words
    assert "TOKEN" in found.words


def test_every_documented_field_has_an_entry() -> None:
    documented = set(Settings.model_fields) - LOAD_ONLY - {"leaves"}
    assert {entry.key for entry in CATALOGUE if not entry.extra} == documented
    assert len(documented) == 25


def test_what_was_stored_badly_before_only_warns_and_empty_text_counts_as_not_set() -> None:
    doubles = McpConfig(stdio_servers=(STDIO, STDIO))
    stored = Settings(max_iterations=-5, llm_base_url="", git_user_email="", mcp_config=doubles)
    assert not errors(Draft(stored))
    assert sorted(problem.key for problem in Draft(stored).problems) == ["max_iterations", MCP, MCP]
    assert errors(Draft(stored).set("max_iterations", -6))


def test_unknown_members_of_the_list_of_servers_are_carried() -> None:
    stored, newer = (Settings(mcp_config=McpConfig.model_validate({"mode": mode})) for mode in ("x", "new"))
    draft = Draft(stored).change_servers(Servers.add, STDIO)
    assert draft.changes["mcp_config"].model_extra == {"mode": "x"}
    added = merge(draft, newer).draft.changes["mcp_config"]
    assert (added.model_extra, added.stdio_servers) == ({"mode": "new"}, (STDIO,))


@given(RECORDS, EDITS, st.data())
def test_edits_change_nothing_else_and_are_undone_and_redone(base: Settings, edits: Edits, data: st.DataObject) -> None:
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
