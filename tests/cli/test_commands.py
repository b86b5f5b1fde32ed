import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from stat import S_IMODE
from typing import Any

import pytest

from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.tui.commands import COMMANDS, Place, command_at
from tests.cli.conftest import Run
from tests.cli.serving import Program, at_an_address
from tests.client.fakes import Answer, Asked
from tests.conftest import Home
from tests.fleet.agent import ID, C, FakeAgent

FILES = {"name": "files", "command": "npx", "args": ["-y", "--token", "sentinel-1"], "env": {"PASS": "sentinel-2"}}
TOOLS = {"url": "https://me:sentinel-3@tools.example/sse?key=sentinel-4", "api_key": "sentinel-5"}
SERVERS = {"stdio_servers": [FILES], "sse_servers": [TOOLS]}


def stored(run: Run) -> Any:
    return run("settings", "show", "--json").json


def test_settings_are_changed_verified_and_kept(run: Run) -> None:
    assert "No settings" in run("settings", "show").out
    assert stored(run) is None
    changed = run("settings", "set", "language=fr", "max_iterations=30", "confirmation_mode=on")
    assert (changed.out, changed.err) == ("3 of 3 changes verified\n", "")
    odd = run("settings", "set", "max_budget_per_task=0.5")
    assert odd.err.startswith("quarterdeck: Budget per task, USD: The service's web page")
    assert run("settings", "set", "language=fr").out == "nothing to change\n"
    refused = run("settings", "set", "sandbox_grouping_strategy=FOO", status=1).err
    assert refused.count("Input should be 'NO_GROUPING'") == 1
    run("settings", "set", "language=")
    assert run("settings", "set", "language=").out == "nothing to change\n", "where nothing is stored, too"
    held = stored(run)
    assert (held["language"], held["max_iterations"], held["confirmation_mode"]) == (None, 30, True)


def test_a_wrong_value_is_one_line_and_nothing_is_stored(run: Run) -> None:
    wrong = {
        "max_iterations=-3": "1 or more",
        "confirmation_mode=maybe": "confirmation_mode: This is not on or off.",
        "no_such=1": "not a setting",
        "provider_tokens_set=x": "not a setting",
        "language": "KEY=VALUE",
        "llm_api_key=sentinel": "standard input",
        "mcp_config={}": "standard input",
    }
    for assignment, words in wrong.items():
        ended = run("settings", "set", "git_user_name=Ada", assignment, status=2)
        assert words in ended.err.splitlines()[-1]
        assert "sentinel" not in ended.err
    told = run("settings", "set", "no_such=1", "confirmation_mode=maybe", "max_iterations=x", status=2).err
    for words in ("'no_such' is not a setting", "confirmation_mode: This is", "max_iterations: This is not a whole"):
        assert told.count(words) == 1
    assert stored(run) is None


def test_secrets_come_from_standard_input_and_are_never_shown(run: Run) -> None:
    run("settings", "set", "llm_api_key=-", typed="sentinel-0\n")
    run("settings", "set", "mcp_config=-", typed=json.dumps(SERVERS))
    shown, data = run("settings", "show"), run("settings", "show", "--json")
    assert "sentinel" not in shown.out + data.out
    assert "stdio files" in shown.out
    assert "key: stored" in shown.out
    assert re.search(r"^search_api_key +not stored$", shown.out, re.MULTILINE)
    assert data.json["llm_api_key_set"] is True
    assert data.json["mcp_config"]["sse_servers"][0]["api_key_set"] is True
    assert data.json["mcp_config"]["stdio_servers"][0]["env_set"] == ["PASS"]
    wrong = ["{", '{"sse_server": []}', '{"stdio_servers": "sentinel"}', '{"sse_servers": [{"api_key": "sentinel"}]}']
    wrong += ["{}", '{"mcpServers": {"files": {"command": "uvx"}, "broken": {"env": {"PASS": "sentinel"}}}}']
    for typed in wrong:
        refused = run("settings", "set", "mcp_config=-", typed=typed, status=2).err
        assert ("mcp_config: " in refused, ": :" in refused, "sentinel" in refused) == (True, False, False)
    twice = json.dumps({"sse_servers": ["https://a.example/sse"] * 2})
    refused = run("settings", "set", "mcp_config=-", typed=twice, status=2).err
    assert refused.count("SSE https://a.example/sse: Another server has this address") == 1
    for key in ("llm_api_key", "mcp_config", "language"):  # what is empty clears nothing
        ended = run("settings", "set", f"{key}=-", typed="\n", status=2)
        assert (ended.out, f"{key}= clears it." in ended.err) == ("", True)
    assert stored(run) == data.json
    run("settings", "set", "mcp_config=-", typed=json.dumps({"mcpServers": {"files": {"command": "uvx"}}}))
    held = stored(run)["mcp_config"]
    assert (held["sse_servers"], [server["command"] for server in held["stdio_servers"]]) == ([], ["uvx"])


def fill(run: Run) -> None:
    files, tools = FILES | {"args": ["-y"]}, TOOLS | {"url": "https://tools.example/sse"}
    servers = {"stdio_servers": [files], "sse_servers": [tools]}
    run("settings", "set", "language=fr", "max_iterations=30", "mcp_config=-", typed=json.dumps(servers))


def test_an_export_is_private_and_without_secrets_and_brings_the_settings_back(run: Run, tmp_path: Path) -> None:
    fill(run)
    before = stored(run)
    for name, read in (("mine.toml", tomllib.loads), ("mine.json", json.loads)):
        file = tmp_path / name
        run("settings", "export", str(file))
        text = file.read_text()
        assert "sentinel" not in text
        assert (read(text)["settings"]["language"], S_IMODE(file.stat().st_mode)) == ("fr", 0o600)
        assert "is there already" in run("settings", "export", str(file), status=2).err
        assert file.read_text() == text
        run("settings", "set", "language=de", "max_iterations=")
        assert (run("settings", "import", str(file)).out, stored(run)) == ("2 of 2 changes verified\n", before)
    for standard in ((), ("-",)):
        assert tomllib.loads(run("settings", "export", *standard).out)["settings"]["max_iterations"] == 30
    assert run("settings", "export", "--json").json["settings"]["max_iterations"] == 30
    other = tmp_path / "mine.yaml"
    assert "is not named .toml or .json." in run("settings", "export", str(other), status=2).err
    assert not other.exists()


def test_there_is_nothing_to_export_or_to_undo_before_the_first_save(run: Run, home: Home) -> None:
    assert "nothing to export" in run("settings", "export", status=1).err
    assert "nothing to undo" in run("settings", "undo", status=1).err
    old = home.state / "notebook" / "journal" / "some.json"  # what an earlier form of the journal holds
    old.parent.mkdir(parents=True)
    old.write_text("[]")
    assert str(home.state / "notebook") in run("settings", "undo", status=1).err
    assert old.read_text() == "[]"
    fill(run)
    [journal] = (home.state / "state" / "journal").iterdir()
    journal.write_text("damaged")
    told = f"A state file was damaged and is put aside: {journal.with_suffix('.damaged')}.\n"
    assert run("settings", "set", "language=de").err == f"quarterdeck: {told}"
    journal.write_text("damaged")
    ended = run("settings", "undo", status=1).err
    assert (ended.count(".damaged"), ended.count(".1.damaged")) == (2, 1)


def test_an_import_where_secrets_are_missing_names_them_and_takes_them_from_the_file(run: Run, tmp_path: Path) -> None:
    fill(run)
    file = tmp_path / "mine.json"
    run("settings", "export", str(file))
    run("settings", "set", "mcp_config=")
    refused = run("settings", "undo", status=2)
    assert ("Undo save" in refused.err, "${" in refused.err) == (True, False)
    refused = run("settings", "import", str(file), status=2)
    assert "SSE https://tools.example/sse: to be typed: key" in refused.err
    assert "secrets are missing of SSE https://tools.example/sse (key); stdio files (PASS)." in refused.err
    file.write_text(re.sub(r"\$\{\w+\}", "typed", file.read_text()))
    run("settings", "import", str(file))
    config = stored(run)["mcp_config"]
    assert [server["env_set"] for server in config["stdio_servers"]] == [["PASS"]]
    assert [server["api_key_set"] for server in config["sse_servers"]] == [True]


def test_a_file_that_is_none_is_one_line_and_nothing_changes(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    for content, words in (
        ("a = what\n", "This is neither JSON nor TOML: look at line 1"),
        *(("{", "JSON"), ("[other]\n", "no settings in this file")),
        *((f'{{"settings": {{"x": {text}}}}}', "too deep, or") for text in (f"{'[' * 900}{']' * 900}", "9" * 5_000)),
        (
            '[settings]\nmax_iterations = "ten"\nnope = 1\nlanguage = "fr"\n[mcp.mcpServers.odd]\ncommand = 5\n',
            "max_iterations: This is not a whole number. "
            "MCP servers: odd: its command is missing or not of the right kind. Nothing was changed. Take",
        ),
    ):
        file.write_text(content)
        told = run("settings", "import", str(file), status=2).err
        assert words in told
    lacks = "this server does not have it, or lets nobody change it.\n"
    assert f"quarterdeck: Left alone: nope: {lacks}" in told
    file.write_text('[settings]\nlanguage = "fr"\nnope = 1\n"a.b.c" = 1\n"a.d" = 2\n"a.b.e" = 3\n')
    told = run("settings", "import", str(file), "--dry-run").err
    assert told == "".join(f"quarterdeck: Left alone: {names}: {lacks}" for names in ("nope", "a.b: c, e", "a: d"))
    run("settings", "import", str(tmp_path / "none.toml"), status=2)
    assert stored(run) is None


def test_a_plan_sends_nothing_and_a_save_is_undone(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fill(run)
    before, planned = stored(run), run("settings", "set", "language=de", "max_iterations=", "--dry-run").out
    assert ("Language: fr · French -> de · German" in planned, "Nothing was sent." in planned) == (True, True)
    data = run("settings", "set", "language=de", "--dry-run", "--json").json
    assert [change["what"] for change in data["changes"]] == ["Language"]
    data = run("settings", "set", "language=fr", "--dry-run", "--json").json
    assert (data, stored(run)) == ({"changes": [], "losses": [], "warnings": []}, before)
    run("settings", "set", "language=de", "max_iterations=60")
    assert run("settings", "undo").out.splitlines() == [
        "set: Max iterations: 60 -> 30 (Stored only: this local service runs no agent.)",
        "set: Language: de · German -> fr · French",
        "2 of 2 changes verified",
    ]
    assert (stored(run)["language"], stored(run)["max_iterations"]) == ("fr", 30)
    assert run("settings", "undo", "--json").json["verified"] == 2
    assert (stored(run)["language"], stored(run)["max_iterations"]) == ("de", 60)
    with monkeypatch.context() as another_machine:
        another_machine.setenv("XDG_STATE_HOME", str(tmp_path))
        run("settings", "set", "language=it")
    assert run("settings", "undo").err == "quarterdeck: Changed again since, and left alone: Language.\n"
    assert (stored(run)["language"], stored(run)["max_iterations"]) == ("it", 30)


def test_a_save_that_could_not_be_noted_says_that_it_cannot_be_undone(run: Run, home: Home) -> None:
    home.state.mkdir(parents=True)
    (home.state / "state").write_text("a file where a folder should be")
    saved = run("settings", "set", "language=de", status=1)
    assert saved.out == "1 of 1 changes verified\n"
    assert saved.err.startswith("quarterdeck: This save cannot be undone: ")
    assert stored(run)["language"] == "de"


def test_specs_show_no_environment_and_one_that_is_unknown_starts_nothing(run: Run) -> None:
    ended = run("sandboxes", "start", "no-such-spec", status=1)
    assert "There is no spec 'no-such-spec'. List them with: quarterdeck sandboxes specs." in ended.err
    assert run("sandboxes", "list", "--json").json == []
    specs = run("sandboxes", "specs", "--json").json
    assert {"files", "shell"} <= {spec["id"] for spec in specs}
    assert all("initial_env" not in spec for spec in specs)


def test_a_conversation_is_created_and_listed(run: Run) -> None:
    created = run("conversations", "create", "--title", "Red \x1b[31m title", "--message", "-", typed="hello")
    assert "quarterdeck: 1/7 beginning.\n" in created.err
    listed = run("conversations", "list")
    assert created.out.strip() in listed.out
    assert listed.out.endswith("  Red ␛[31m title\n")
    [conversation] = run("conversations", "list", "--json").json
    assert (conversation["id"], "session_api_key" in conversation) == (created.out.strip(), False)
    assert run("conversations", "create", "--sandbox", "nobody", status=1).out == ""


def test_a_read_only_connection_changes_nothing(run: Run) -> None:
    for command in ("settings set language=fr", "sandboxes start", "sandboxes delete nope", "conversations create"):
        assert "read-only" in run("--read-only", *command.split(), status=1).err
    plan = run("--read-only", "sandboxes", "pause", "nope", "--dry-run", status=1)
    assert "read-only: without --dry-run nothing is done either." in plan.err
    assert run("sandboxes", "list", "--json").json == run("conversations", "list", "--json").json == []
    assert stored(run) is None


def test_a_server_that_does_not_answer_is_one_line(run: Run) -> None:
    for more in ((), ("--watch",)):
        ended = run("sandboxes", "list", *more, "--url", "http://127.0.0.1:9", status=1)
        assert (ended.out, ended.err.count("\n"), "127.0.0.1:9" in ended.err) == ("", 1, True)


def test_a_broken_configuration_is_told_and_does_not_stop_the_command(run: Run, home: Home) -> None:
    home.write("connections.toml", "nonsense")
    assert "connections.toml" in run("sandboxes", "list").err
    examined = run("doctor")
    assert ("careful  configuration  " in examined.out, examined.err) == (True, "")


def test_a_reader_that_leaves_is_no_error() -> None:
    showing = Program("settings", "show")
    showing.out.close()
    assert showing.ended() == (128 + signal.SIGPIPE, "")


def in_shell(words: str) -> subprocess.CompletedProcess[str]:
    command = f"exec {sys.executable} -m quarterdeck {words}"
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("help keys >/dev/full", 1, "No space left"),
        ("help keys >&-", 1, "output is closed"),
        ("settings import - 0>/dev/null", 2, "input cannot be read"),
    ],
)
def test_a_stream_that_takes_or_gives_nothing_is_one_line(home: Home, words: str, status: int, said: str) -> None:
    ended = in_shell(words)
    assert (ended.returncode, said in ended.stderr, ended.stderr.count("\n")) == (status, True, 1)


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_what_standard_error_does_not_take_ends_nothing_and_is_not_put_out(home: Home, where: str) -> None:
    home.write("connections.toml", "nonsense")
    assert json.loads(in_shell(f"connections list --json {where}").stdout)[0]["name"] == "local"


@pytest.mark.parametrize("file", ["quarterdeck/connections.toml", "arguments", "settings"])
def test_an_interrupt_is_no_crash_however_early_it_comes(home: Home, file: str) -> None:
    program = f"""
import signal, sys
def interrupt(event, arguments):
    if event == "open" and {file!r} in str(arguments[0]):
        signal.raise_signal(signal.SIGINT)
from quarterdeck.cli.main import main
sys.addaudithook(interrupt)
sys.exit(main(["settings", "show"]))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("words", "at", "said"),
    [
        ("doctor", "GET /api/v1/app-conversations/search", ""),
        ("conversations create", "POST /api/v1/app-conversations", "The server may go on and create it."),
        ("sandboxes start", "POST /api/v1/sandboxes", "The server may go on and start one."),
        (f"conversations send {ID} hello", f"POST {C}/events", f"not known. `quarterdeck conversations show {ID}`"),
        (f"conversations show {ID}", f"GET {C}/events/search e0", ""),
    ],
)
@pytest.mark.parametrize(("number", "ends"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interrupt_leaves_nothing_but_what_goes_on(words: str, at: str, said: str, number: int, ends: int) -> None:
    programs, agent = list[Program](), FakeAgent()
    agent.says_words(range(101))

    def answer(asked: Asked) -> Answer | Exception:
        if f"{asked.method} {asked.path} {asked.page_id or ''}".rstrip() != at:
            return agent(asked)
        programs[0].process.send_signal(number)
        programs[0].process.wait(20)
        return ConnectionError()

    with at_an_address(answer) as agent.host:
        programs.append(Program(*words.split(), "--url", agent.host))
        status, err = programs[0].ended()
    assert (status, said in err, err.count("\n")) == (ends, True, 1 if said else 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--nonsense", "`quarterdeck --help`"),
        ("sandbox list", "there is no sandbox here (choose from"),
        ("settings shows", "there is no shows here (choose from"),
        ("sandboxes", "`quarterdeck sandboxes --help`"),
        ("sandboxes pause", "No sandbox is named"),
        ("sandboxes pause ", "argument ID: it is empty"),
        ("conversations create --sandbox ", "argument --sandbox: it is empty"),
        ("settings set llm_api_key=-", "Standard input"),
        ("serve --port 99999", "65535"),
        ("--url http://a connections list", "takes no --url, --connection or --read-only"),
        ("help --url x", "help takes no --url, --connection or --read-only"),
        ("--connection work help keys", "takes no --url, --connection or --read-only"),
        ("--url http://a sandboxes --connection work list", "--connection: not allowed with argument --url"),
        ("--read-only serve", "takes no --url, --connection or --read-only"),
        ("--quiet doctor", "--quiet and --no-mouse are options of the deck, not of a command"),
        ("--no-mouse settings show", "--quiet and --no-mouse are options of the deck, not of a command"),
        ("serve --port 0 --simulate 0", "a whole number from 1"),
        ("serve --port 0 --simulate 4 --churn 101", "a number from 0"),
        ("serve --port 0 --churn 5", "Give --simulate"),
        ("serve --port 0 --faults", "Give --simulate"),
        ("conversations create --nope", "`quarterdeck conversations create --help`"),
    ],
)
def test_wrong_usage_is_status_two_and_nothing_is_asked(run: Run, words: str, said: str) -> None:
    ended = run(*words.split(" "), status=2)
    assert (said in ended.err, ended.err.count("\n"), ended.out) == (True, 1, "")


def test_the_deck_needs_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__stdin__", None)
    assert "terminal" in run(status=2).err


SENTINEL = "sentinel-key-5c"
NAMED_SO = ("--key {}", "--key={} doctor", "settings show --api-key {}", "settings show --token={}")
NOT_NAMED_SO = ("--auth {}", "settings --auth {} show", "doctor --auth {}", "sandboxes pause a --auth {}")


@pytest.mark.parametrize("words", [*NAMED_SO, *NOT_NAMED_SO, "settings show -k {}", "settings show {}"])
def test_what_may_be_a_key_is_refused_and_not_repeated(run: Run, words: str) -> None:
    ended = run(*words.format(SENTINEL).split(), status=2)
    assert SENTINEL not in ended.out + ended.err
    assert ("a key is never an argument" in ended.err) is (words in NAMED_SO)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "\x1b[31m"])
def test_a_key_that_cannot_be_sent_is_refused_unseen(run: Run, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", key)
    for command in ("sandboxes list --url http://127.0.0.1:9", "serve --port 0"):
        ended = run(*command.split(), status=1)
        assert ("QUARTERDECK_API_KEY" in ended.err, "cannot be sent" in ended.err) == (True, True)
        assert key not in ended.out + ended.err


def reference(run: Run, topic: str, columns: int = 80) -> dict[str, str]:
    """What stands under each title of a reference, in one line each; it can be read at so many columns."""
    printed = run("help", topic)
    assert printed.err == ""
    assert all(len(line) <= columns and line.isprintable() for line in printed.out.splitlines())
    titled = (block.split("\n", 1) for block in printed.out.split("\n\n") if "\n" in block)
    return {title: " ".join(words.split()) for title, words in titled}


def test_every_key_is_named_where_it_works_with_what_it_does(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list(reference(run, "keys").values())
    for columns in (60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert list(reference(run, "keys", min(columns, 80)).values())[1:] == read[1:]
    for place in Place:
        own = [f"{command.help}." for command in COMMANDS[place]]
        assert any(all(words in block for words in own) for block in read), place
    assert any("p Pause the sandbox, or all marked. r Resume the sandbox" in block for block in read)
    assert any(": Rename: Give the LLM profile another name." in block for block in read)


def test_every_setting_is_named_with_what_it_takes_and_who_has_it(run: Run) -> None:
    read = reference(run, "settings")
    for entry in CATALOGUE:
        assert f"{entry.key} {entry.label}. {entry.help} Takes: " in read[entry.group]
    assert "Takes: a number; when not set: no limit. Servers: flat and nested." in read["Agent"]
    add, copy, delete = (command_at(Place.SETTINGS, name).key for name in ("add", "copy_server", "delete"))
    assert f"{add} adds one, enter edits, {copy} copies, {delete} deletes." in read["MCP servers"]


def test_every_token_of_a_filter_is_explained(run: Run) -> None:
    read = reference(run, "filters")
    for title, grammar in (("Sandboxes", SANDBOX_GRAMMAR), ("Conversations", CONVERSATION_GRAMMAR)):
        for name, token in grammar.tokens.items():
            assert f"{grammar.beginnings[name]} {token.help}" in read[title]
    assert "quiet> How long nothing has happened in it, while it is up. Also: idle. cost>" in read["Sandboxes"]
    assert "slow Its start takes longer than it should. Only in the deck." in read["Sandboxes"]


def test_help_alone_is_the_usage_and_says_what_references_there_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    alone = run("help")
    assert alone.out == run("--help").out
    words = " ".join(alone.out.split())
    assert all(each in words for each in ("help keys, help settings, help filters", "QUARTERDECK_API_KEY"))
    assert max(map(len, alone.out.splitlines())) <= 80
    run("help", "colours", status=2)
