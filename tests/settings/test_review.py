from pydantic import SecretStr

from quarterdeck.client.flat import KNOWN_BY
from quarterdeck.client.models.mcp import McpConfig, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.server import FieldRules, Generation, KeyState, Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.settings import rules_of
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import fields_on
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp import EntryState, Servers
from quarterdeck.settings.review import Line, problems, review, until_when

MERGING = Server(Generation.FLAT, KeyState.ACCEPTED, merges=True)
NESTED = Server(Generation.NESTED, KeyState.ACCEPTED, merges=True)
REPLACING = Server(
    Generation.FLAT,
    KeyState.ACCEPTED,
    fields={
        "max_budget_per_task": FieldRules(in_effect=False),
        "llm_model": FieldRules(clearable=False),
    },
)
STORED = Settings(
    llm_model="openai/gpt-5",
    llm_api_key_set=True,
    mcp_config=McpConfig(
        sse_servers=(SseServer(url="https://u:pass@a.example/sse?key=private", api_key=SecretStr("secret-a")),),
        stdio_servers=(
            StdioServer(name="files", command="npx", args=("--token", "secret-b"), env={"K": SecretStr("secret-c")}),
        ),
    ),
)


def test_each_change_is_a_line_from_old_to_new() -> None:
    draft = Draft(STORED).set("llm_model", "a/b").set("confirmation_mode", True).set("max_budget_per_task", 5.0)
    assert review(draft, MERGING).lines == (
        Line("set", "Model", "openai/gpt-5", "a/b"),
        Line("set", "Budget per task, USD", "not set", "5"),
        Line("set", "Ask before actions", "not set", "on"),
    )


def test_secrets_are_named_but_never_shown() -> None:
    draft = Draft(STORED).set("llm_api_key", SecretStr("secret-d"))
    files = draft.servers.entries[1].server
    draft = draft.change_servers(
        Servers.edit, 1, files.model_copy(update={"env": {"K": SecretStr("secret-e"), "L": SecretStr("x")}})
    )
    draft = draft.change_servers(Servers.edit, 0, draft.servers.entries[0].server.model_copy(update={"api_key": None}))
    draft = draft.change_servers(Servers.add, ShttpServer(url="https://b.example/mcp?token=secret-f", timeout=30))
    lines = review(draft, MERGING).lines
    text = repr(lines)
    assert "secret" not in text
    assert "pass" not in text
    assert "private" not in text
    assert lines[0] == Line("set", "API key", "stored", "new value")
    assert (lines[1].act, lines[1].new) == (EntryState.EDITED, "key removed")
    assert (lines[2].act, lines[2].new) == (EntryState.EDITED, "K new value, L added")
    assert (lines[3].act, lines[3].new) == (EntryState.ADDED, "time-out 30 s")


def test_what_a_replacing_server_loses_is_named_until_it_is_typed_again() -> None:
    draft = Draft(STORED).set("language", "de")
    known = Draft(STORED.model_copy(update=dict.fromkeys(KNOWN_BY))).set("language", "de")
    assert [loss.key for loss in review(known, REPLACING).losses] == ["sandbox_api_key"]
    assert not review(known.set("sandbox_api_key", SecretStr("again")), REPLACING).losses
    assert [loss.key for loss in review(draft, REPLACING).losses] == [
        "sandbox_api_key",
        "llm_api_key",
        "search_api_key",
        "secrets_store",
    ]
    assert not review(draft, MERGING).losses


def test_what_a_server_of_the_nested_generation_loses_is_named() -> None:
    """The address of another provider, and MCP servers whose secrets are not told and not typed again."""
    stored = STORED.model_copy(update={"llm_base_url": "https://u:pass@own.example/v1"})
    (loss,) = review(Draft(stored).set("llm_model", "anthropic/x"), NESTED).losses
    assert loss.words.startswith(f"Base URL: https://{MASK}@own.example/v1 goes with the old model's provider.")
    assert not review(Draft(stored).set("llm_model", "openai/x"), NESTED).losses
    told = McpConfig(stdio_servers=(StdioServer(name="a", command="npx"), StdioServer(name="b", command="uvx")))
    servers = Draft(Settings(mcp_config=told)).change_servers(Servers.add, ShttpServer(url="https://b.example/mcp"))
    (loss,) = review(servers, NESTED).losses
    assert loss.words.startswith("MCP servers a, b: their keys and hidden values, if they have any,")
    assert "MCP server b: its key" in review(servers.change_servers(Servers.remove, 0), NESTED).losses[0].words


def test_what_the_server_cannot_clear_is_an_error() -> None:
    draft = Draft(STORED).unset("llm_model")
    assert [problem.key for problem in problems(draft, REPLACING) if problem.stops] == ["llm_model"]
    assert not problems(draft, MERGING)


def test_only_warnings_about_edited_things_are_repeated() -> None:
    draft = Draft(Settings(max_iterations=-5)).set("llm_model", "plain")
    assert [problem.key for problem in review(draft, MERGING).warnings] == ["llm_model"]


FLAT = Server(Generation.FLAT, KeyState.ACCEPTED, fields=rules_of(Generation.FLAT, merges=False))
LOCAL = Server(Generation.FLAT, KeyState.ACCEPTED, local=True, fields=rules_of(Generation.FLAT, merges=True))


def test_running_conversations_keep_the_old_values_of_what_they_go_by() -> None:
    draft = Draft(Settings(language="en"), fields=fields_on(FLAT, (), "openhands"))
    model = draft.set("llm_model", "a/b").set("language", "fr")
    assert until_when(model, FLAT, 0) == "new conversations only"
    assert until_when(model, FLAT, 1) == "new conversations only; 1 running keeps the old values"
    assert until_when(model, FLAT, 3) == "new conversations only; 3 running keep the old values"
    assert until_when(model, LOCAL, 3) == ""
    for key, value in (("language", "fr"), ("max_budget_per_task", 5.0), ("user_consents_to_analytics", True)):
        assert until_when(draft.set(key, value), FLAT, 3) == ""
