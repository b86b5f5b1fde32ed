"""Settings as a file, plans that send nothing, and taking a save back, as scripts do it."""

import json
import re
import tomllib
from pathlib import Path
from stat import S_IMODE
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.conftest import Home

FILES = {"name": "files", "command": "npx", "args": ["-y"], "env": {"PASS": "sentinel-variable"}}
TOOLS = {"url": "https://tools.example/sse", "api_key": "sentinel-key"}


def stored(run: Run) -> dict[str, Any]:
    return dict(run("settings", "show", "--json").json)


def fill(run: Run) -> None:
    servers = json.dumps({"stdio_servers": [FILES], "sse_servers": [TOOLS]})
    run("settings", "set", "language=fr", "max_iterations=30", "mcp_config=-", typed=servers)


def test_an_export_is_private_and_without_secrets_and_brings_the_settings_back(run: Run, tmp_path: Path) -> None:
    fill(run)
    before = stored(run)
    for name, read in (("mine.toml", tomllib.loads), ("mine.json", json.loads)):
        file = tmp_path / name
        run("settings", "export", str(file))
        text = file.read_text()
        assert "sentinel" not in text
        assert read(text)["settings"]["language"] == "fr"
        assert S_IMODE(file.stat().st_mode) == 0o600
        assert "is there already" in run("settings", "export", str(file), status=2).err
        assert file.read_text() == text
        run("settings", "set", "language=de", "max_iterations=")
        assert run("settings", "import", str(file)).out == "2 of 2 changes verified\n"
        assert stored(run) == before
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
    assert str(journal.with_suffix(".damaged")) in run("settings", "undo", status=1).err


def test_an_import_where_secrets_are_missing_names_them_and_takes_them_from_the_file(run: Run, tmp_path: Path) -> None:
    fill(run)
    file = tmp_path / "mine.json"
    run("settings", "export", str(file))
    run("settings", "set", "mcp_config=")
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
        ("a = what\n", "line 1"),
        ("{", "JSON"),
        ("[other]\n", "no settings in this file"),
        (
            '[settings]\nmax_iterations = "ten"\nnope = 1\nlanguage = "fr"\n[mcp.mcpServers.odd]\ncommand = 5\n',
            "max_iterations: This is not a whole number. "
            "MCP servers: odd: its command is missing or not of the right kind. "
            "nope: this server does not have it, or lets nobody change it. Nothing was changed.\n",
        ),
    ):
        file.write_text(content)
        assert words in run("settings", "import", str(file), status=2).err
    file.write_text('[settings]\nlanguage = "fr"\nnope = 1\n')
    told = run("settings", "import", str(file), "--dry-run").err
    assert told == "quarterdeck: Left alone: nope: this server does not have it, or lets nobody change it.\n"
    run("settings", "import", str(tmp_path / "none.toml"), status=2)
    assert run("settings", "show", "--json").json is None


def test_a_plan_sends_nothing_and_a_save_is_taken_back_and_brought_back(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(run)
    before = stored(run)
    planned = run("settings", "set", "language=de", "max_iterations=", "--dry-run").out
    assert ("Language: fr · French -> de · German" in planned, "Nothing was sent." in planned) == (True, True)
    data = run("settings", "set", "language=de", "--dry-run", "--json").json
    assert [change["what"] for change in data["changes"]] == ["Language"]
    assert stored(run) == before
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
    assert run("settings", "undo").err == "quarterdeck: Language: changed again since, and left alone.\n"
    assert (stored(run)["language"], stored(run)["max_iterations"]) == ("it", 30)


def test_a_save_that_could_not_be_noted_says_that_it_cannot_be_undone(run: Run, home: Home) -> None:
    home.state.mkdir(parents=True)
    (home.state / "state").write_text("a file where a folder should be")
    saved = run("settings", "set", "language=de", status=1)
    assert saved.out == "1 of 1 changes verified\n"
    assert saved.err.startswith("quarterdeck: This save cannot be undone: ")
    assert stored(run)["language"] == "de"
