"""One-shot commands on the local service: what they print, change and refuse, and their exit status."""

import json
import signal
import sys

import pytest

from tests.cli.conftest import Run
from tests.cli.serving import Program
from tests.conftest import Home

SERVERS = {
    "stdio_servers": [
        {"name": "files", "command": "npx", "args": ["-y", "--token", "sentinel-1"], "env": {"PASS": "sentinel-2"}}
    ],
    "sse_servers": [{"url": "https://me:sentinel-3@tools.example/sse?key=sentinel-4", "api_key": "sentinel-5"}],
}


def test_settings_are_changed_verified_and_kept(run: Run) -> None:
    assert "No settings" in run("settings", "show").out
    assert run("settings", "show", "--json").json is None
    changed = run("settings", "set", "language=fr", "max_iterations=30", "confirmation_mode=on")
    assert (changed.out, changed.err) == ("3 of 3 changes verified\n", "")
    odd = run("settings", "set", "max_budget_per_task=0.5")
    assert odd.err.startswith("quarterdeck: max_budget_per_task: The service's web page")
    run("settings", "set", "language=")
    stored = run("settings", "show", "--json").json
    assert stored["language"] is None
    assert stored["max_iterations"] == 30
    assert stored["confirmation_mode"] is True


def test_changing_a_setting_to_what_it_is_sends_nothing(run: Run) -> None:
    run("settings", "set", "language=fr")
    assert "stored already" in run("settings", "set", "language=fr").out


WRONG = {
    "max_iterations=-3": "1 or more",
    "max_budget_per_task=much": "not a number",
    "confirmation_mode=maybe": "on or off",
    "llm_base_url=localhost": "https://",
    "no_such=1": "not a setting",
    "provider_tokens_set=x": "not a setting",
    "language": "KEY=VALUE",
    "llm_api_key=sentinel": "standard input",
    "mcp_config={}": "standard input",
}


def test_a_wrong_value_is_one_line_and_nothing_is_stored(run: Run) -> None:
    for assignment, words in WRONG.items():
        ended = run("settings", "set", "git_user_name=Ada", assignment, status=2)
        assert words in ended.err.splitlines()[-1]
        assert "sentinel" not in ended.err
    assert run("settings", "show", "--json").json is None


def test_nothing_is_asked_where_nobody_can_answer(run: Run) -> None:
    for command in (("set", "llm_api_key=-"), ("import", "-")):
        assert "Standard input" in run("settings", *command, status=2).err


def test_secrets_come_from_standard_input_and_are_never_shown(run: Run) -> None:
    run("settings", "set", "llm_api_key=-", typed="sentinel-0\n")
    run("settings", "set", "mcp_config=-", typed=json.dumps(SERVERS))
    shown, data = run("settings", "show"), run("settings", "show", "--json")
    assert "sentinel" not in shown.out + data.out
    assert "stdio files" in shown.out
    assert "key: stored" in shown.out
    assert data.json["llm_api_key_set"] is True
    assert data.json["mcp_config"]["sse_servers"][0]["api_key_set"] is True
    assert data.json["mcp_config"]["stdio_servers"][0]["env_set"] == ["PASS"]


def test_an_empty_standard_input_clears_nothing(run: Run) -> None:
    run("settings", "set", "llm_api_key=-", typed="sentinel-0\n")
    run("settings", "set", "mcp_config=-", typed=json.dumps(SERVERS))
    for key in ("llm_api_key", "mcp_config", "language"):
        ended = run("settings", "set", f"{key}=-", typed="\n", status=2)
        assert ended.out == ""
        assert f"{key}= clears it." in ended.err
    shown = run("settings", "show", "--json").json
    assert shown["llm_api_key_set"] is True
    assert shown["mcp_config"]["sse_servers"]


def test_a_list_of_servers_takes_the_place_of_the_old_one(run: Run) -> None:
    run("settings", "set", "mcp_config=-", typed=json.dumps(SERVERS))
    one = {"stdio_servers": [{"name": "files", "command": "uvx"}]}
    run("settings", "set", "mcp_config=-", typed=json.dumps(one))
    stored = run("settings", "show", "--json").json["mcp_config"]
    assert stored["sse_servers"] == []
    assert [server["command"] for server in stored["stdio_servers"]] == ["uvx"]


def test_servers_that_mean_nothing_are_refused_without_being_quoted(run: Run) -> None:
    for typed in ("{", '{"sse_servers": [{"api_key": "sentinel"}]}', '{"stdio_servers": "sentinel"}'):
        ended = run("settings", "set", "mcp_config=-", typed=typed, status=2)
        assert "mcp_config" in ended.err
        assert "sentinel" not in ended.err


def test_a_sandbox_is_started_paused_and_resumed(run: Run) -> None:
    started = run("sandboxes", "start", "--json")
    sandbox_id = started.json["id"]
    assert run("sandboxes", "pause", sandbox_id).out == f"{sandbox_id} PAUSED\n"
    assert [each["status"] for each in run("sandboxes", "list", "--json").json] == ["PAUSED"]
    run("sandboxes", "resume", sandbox_id)
    listed = run("sandboxes", "list", "--json")
    assert [each["status"] for each in listed.json] != ["PAUSED"]
    assert "session_api_key" not in listed.out


def test_an_unknown_spec_starts_nothing(run: Run) -> None:
    ended = run("sandboxes", "start", "no-such-spec", status=1)
    assert "There is no spec no-such-spec. List them with: quarterdeck sandboxes specs." in ended.err
    assert run("sandboxes", "list", "--json").json == []


def test_specs_show_their_ids_and_no_environment(run: Run) -> None:
    specs = run("sandboxes", "specs", "--json").json
    assert {"files", "shell"} <= {spec["id"] for spec in specs}
    assert all("initial_env" not in spec for spec in specs)


def test_a_conversation_is_created_and_listed(run: Run) -> None:
    created = run("conversations", "create", "--title", "Red \x1b[31m title", "--message", "-", typed="hello")
    assert "quarterdeck: 1/7 beginning.\n" in created.err
    listed = run("conversations", "list")
    assert created.out.strip() in listed.out
    assert "Red ␛[31m title" in listed.out
    [conversation] = run("conversations", "list", "--json").json
    assert conversation["id"] == created.out.strip()
    assert "session_api_key" not in conversation


def test_a_conversation_that_cannot_be_started_is_a_failure(run: Run) -> None:
    assert run("conversations", "create", "--sandbox", "nobody", status=1).out == ""


def test_a_read_only_connection_changes_nothing(run: Run) -> None:
    for command in (("settings", "set", "language=fr"), ("sandboxes", "start"), ("conversations", "create")):
        assert "read-only" in run("--read-only", *command, status=1).err
    assert run("sandboxes", "list", "--json").json == []
    assert run("conversations", "list", "--json").json == []
    assert run("settings", "show", "--json").json is None


def test_a_server_that_does_not_answer_is_one_line(run: Run) -> None:
    ended = run("sandboxes", "list", "--url", "http://127.0.0.1:9", status=1)
    assert (ended.out, len(ended.err.splitlines())) == ("", 1)
    assert "127.0.0.1:9" in ended.err


def test_a_broken_configuration_is_told_and_does_not_stop_the_command(run: Run, home: Home) -> None:
    home.write("connections.toml", "nonsense")
    assert "connections.toml" in run("sandboxes", "list").err
    assert "connections.toml" in run("doctor", status=1).out


def test_a_reader_that_leaves_is_no_error() -> None:
    showing = Program("settings", "show")
    showing.out.close()
    assert showing.ended() == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize(
    "words",
    [
        "--nonsense",
        "sandboxes",
        "sandboxes pause",
        "serve --port 99999",
        "--url http://127.0.0.1:1 serve --port 0",
        "serve --port 0 --simulate -3",
        "serve --port 0 --simulate 4 --churn 101",
        "serve --port 0 --churn 5",
        "serve --port 0 --faults",
    ],
)
def test_wrong_usage_is_status_two(run: Run, words: str) -> None:
    assert run(*words.split(), status=2).err.count("\n") == 1


def test_the_deck_needs_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__stdin__", None)
    assert "terminal" in run(status=2).err


SENTINEL = "sentinel-key-5c"


@pytest.mark.parametrize(
    "words",
    [
        ("--key", SENTINEL),
        (f"--key={SENTINEL}",),
        ("settings", "show", "--api-key", SENTINEL),
        ("settings", "show", f"--token={SENTINEL}"),
        ("--auth", SENTINEL),
        ("settings", "--auth", SENTINEL, "show"),
        ("doctor", "--auth", SENTINEL),
        ("sandboxes", "pause", "a", "--auth", SENTINEL),
        ("settings", "show", "-k", SENTINEL),
        ("settings", "show", SENTINEL),
    ],
)
def test_what_may_be_a_key_is_refused_and_not_repeated(run: Run, words: tuple[str, ...]) -> None:
    ended = run(*words, status=2)
    assert SENTINEL not in ended.out + ended.err


def test_who_types_a_key_is_told_where_keys_belong(run: Run) -> None:
    assert "never an argument" in run("--key", SENTINEL, "doctor", status=2).err


def test_an_id_may_begin_with_a_dash(run: Run) -> None:
    assert "-dash: " in run("sandboxes", "pause", "one", "-dash", status=1).err
    run("sandboxes", "list", "-dash", status=2)


@pytest.mark.parametrize(
    "words",
    [
        ("--url", "http://a", "connections", "list"),
        ("--connection", "work", "help", "keys"),
        ("--read-only", "serve"),
    ],
)
def test_a_command_that_asks_no_server_takes_none(run: Run, words: tuple[str, ...]) -> None:
    ended = run(*words, status=2)
    assert ended.out == ""
    assert "takes no --url, --connection or --read-only" in ended.err
