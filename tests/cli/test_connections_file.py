"""Connections written from the deck into a file that people write too."""

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from quarterdeck import config
from quarterdeck.config import connections
from quarterdeck.config.connections import Colour, Connection
from quarterdeck.config.toml_file import ConfigError
from tests.conftest import Home

BY_HAND = """\
# my servers
[connections.work]  # the one at work
url = "https://work.example/"  # with a prefix one day
header = "session"
key_env = "WORK_KEY"

# only at home
[connections.home]
url = "http://10.0.0.7:3000"

[future]
url = "not ours"
"""
WORK = Connection("work", "https://work.example", key_env="WORK_KEY")
HOME = Connection("home", "http://10.0.0.7:3000")


@pytest.fixture
def file(home: Home) -> Path:
    home.config.mkdir(parents=True)
    path = home.config / "connections.toml"
    path.write_text(BY_HAND)
    return path


def known() -> dict[str, Connection]:
    loaded = config.load(os.environ)
    assert loaded.problems == ()
    return dict(loaded.connections)


def test_saving_what_is_there_already_changes_no_letter(file: Path) -> None:
    before = file.stat().st_mtime_ns
    connections.save(file, WORK, "work")
    assert file.read_text() == BY_HAND
    assert file.stat().st_mtime_ns == before


def test_an_edit_touches_only_its_own_lines(file: Path) -> None:
    edited = replace(WORK, url="https://new.example", read_only=True, colour=Colour.RED, key_env=None)
    connections.save(file, edited, "work")
    assert file.read_text() == BY_HAND.replace("https://work.example/", "https://new.example").replace(
        'key_env = "WORK_KEY"\n', 'read_only = true\ncolour = "red"\n'
    )
    assert known() == {"work": edited, "home": HOME}


def test_a_new_one_comes_last_with_everything_that_was_said(file: Path) -> None:
    new = Connection("a.b", "https://c.example/x", "bearer", True, "~/ca.pem", Colour.TEAL, "C_KEY")
    connections.save(file, new, None)
    assert file.read_text().startswith(BY_HAND)
    assert known() == {"work": WORK, "home": HOME, "a.b": new}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_first_one_makes_the_file(home: Home) -> None:
    connections.save(home.config / "connections.toml", HOME, None)
    assert known() == {"home": HOME}


def test_another_name_keeps_the_place_and_the_comment(file: Path) -> None:
    connections.save(file, replace(WORK, name="office"), "work")
    assert file.read_text() == BY_HAND.replace("[connections.work]", "[connections.office]")


def test_a_name_that_is_taken_is_refused(file: Path) -> None:
    for instead_of in (None, "work"):
        with pytest.raises(ConfigError, match="already"):
            connections.save(file, HOME, instead_of)
    assert file.read_text() == BY_HAND


def test_deleting_takes_the_table_and_leaves_every_comment(file: Path) -> None:
    connections.delete(file, "work")
    assert known() == {"home": HOME}
    assert "# my servers" in file.read_text()
    assert "# only at home\n[connections.home]" in file.read_text()
    connections.delete(file, "home")
    assert known() == {}
    assert file.read_text().endswith('[future]\nurl = "not ours"\n')


@pytest.mark.parametrize(
    "text",
    [
        "[connections.work\n",
        'connections.work.url = "http://a"\n',
        'connections = { work = { url = "http://a" } }\n',
        "connections = 5\n",
        "[connections]\nwork = 5\n",
        "\x00",
    ],
)
def test_a_file_that_is_not_understood_is_named_and_left_as_it_is(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match="nothing was written") as caught:
        connections.save(file, WORK, "work")
    assert str(file) in str(caught.value) or "tables" in str(caught.value)
    with pytest.raises(ConfigError):
        connections.delete(file, "work")
    assert file.read_text() == text


def test_an_entry_that_was_left_out_is_not_written_over(file: Path) -> None:
    file.write_text("[connections.work]\nurl = 5\n")
    with pytest.raises(ConfigError, match="already"):
        connections.save(file, WORK, None)
    assert config.load(os.environ).problems[0].startswith(f"{file}, line 1, connection 'work'")


def test_what_another_deck_wrote_in_the_meantime_stays(file: Path) -> None:
    connections.save(file, Connection("one", "http://one.example"), None)
    connections.save(file, Connection("two", "http://two.example"), None)
    assert list(known()) == ["work", "home", "one", "two"]


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (Connection("", "http://a"), "name"),
        (Connection("local", "http://a"), "name"),
        (Connection("two words", "http://a"), "name"),
        (Connection("a", "ftp://a"), "http://"),
        (Connection("a", "http://u:p@a"), "password"),
        (Connection("a", "http://a", ca_file="team.pem"), "whole path"),
    ],
)
def test_what_would_not_be_read_again_is_not_written(file: Path, connection: Connection, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        connections.save(file, connection, None)
    assert file.read_text() == BY_HAND
