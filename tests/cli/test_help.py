"""References that are printed from what the deck itself goes by."""

import pytest

from quarterdeck.fleet.conversations import DECK_GRAMMAR
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.tui.commands import COMMANDS, Place, command_at
from tests.cli.conftest import Run


def reference(run: Run, topic: str) -> dict[str, str]:
    """What stands under each title of a reference, in one line each; it can be read at 80 columns."""
    printed = run("help", topic)
    assert printed.err == ""
    assert all(len(line) <= 80 and line.isprintable() for line in printed.out.splitlines())
    titled = (block.split("\n", 1) for block in printed.out.split("\n\n") if "\n" in block)
    return {title: " ".join(words.split()) for title, words in titled}


def test_every_key_is_named_where_it_works_with_what_it_does(run: Run) -> None:
    read = list(reference(run, "keys").values())
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
    for title, grammar in (("Sandboxes", SANDBOX_GRAMMAR), ("Conversations", DECK_GRAMMAR)):
        for name, token in grammar.tokens.items():
            assert f"{grammar.beginnings[name]} {token.help}" in read[title]
    assert "quiet> How long nothing has happened in it, while it is up. Also: idle. cost>" in read["Sandboxes"]
    assert "slow Its start takes longer than it should. Only in the deck." in read["Sandboxes"]


def test_help_alone_is_the_usage_and_says_what_references_there_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    alone = run("help")
    assert alone.out == run("--help").out
    words = " ".join(alone.out.split())
    assert "help keys, help settings, help filters" in words
    assert "QUARTERDECK_API_KEY" in words
    assert max(map(len, alone.out.splitlines())) <= 80
    run("help", "colours", status=2)
