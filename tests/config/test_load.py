import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from quarterdeck.config import edit, files
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import Config, Preferences, find_folders, load
from tests.conftest import Home


def loaded_now() -> Config:
    return load(os.environ)


@pytest.fixture
def connections(home: Home) -> Path:
    home.config.mkdir(parents=True)
    return home.config / "connections.toml"


def test_folders_follow_the_xdg_variables_and_ignore_relative_ones(home: Home) -> None:
    environ = {"HOME": str(home.root), "XDG_DATA_HOME": "relative", "XDG_STATE_HOME": "/var/state"}
    found = find_folders(environ)
    assert found.config == home.root / ".config/quarterdeck"
    assert found.data == home.root / ".local/share/quarterdeck"
    assert found.state == Path("/var/state/quarterdeck")


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ("url = 5", "url"),
        ('url = "ftp://host"', "http"),
        ('url = "http://user:secret@host"', "password"),
        ('url = "http://host/?token=x"', "query"),
        *((f'url = "{url}"', "URL") for url in ("http://host:99999", "http://[::1")),
        *((f'url = "{url}"', "a host") for url in ("", "host:3000", "http://")),
        ('url = "http://a b"', "a blank"),
        ('url = "http://h\\u001b[2J"', "invisible"),
        ('url = "https://host"\nca_file = "team.pem"', "whole path"),
        ('url = "https://host"\nca-file = "/team.pem"', "'ca-file' is not known"),
    ],
)
def test_an_unusable_connection_is_named_and_the_others_are_used(connections: Path, entry: str, named: str) -> None:
    names = "".join(f'[connections.{name}]\nurl = "http://a"\n' for name in ("local", '"two words"', "good"))
    connections.write_text(f"{names}[connections.bad]\n{entry}\n")
    loaded = loaded_now()
    assert (list(loaded.connections), set(loaded.left_out)) == (["good"], {"local", "two words", "bad"})
    local, words, problem = loaded.problems
    assert ("'local'" in local, "a name has letters" in words) == (True, True)
    assert all(part in problem for part in (str(connections), "'bad'", named, "; it is left out"))
    assert "secret" not in problem


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        *((f"header = {header}", "header") for header in ('"cookie"', '["session"]')),
        ('key_env = "not a name"', "key_env"),
        ('colour = "purple"', "colour is one of red"),
        ('key = "sentinel-key"', "'key' is not known"),
        ('name = "Work"', "'name' is not known"),
        *((f"{entry} = true\nread_only = false", "opened read-only") for entry in ("read-only", "ReadOnly")),
        ('read_only = "yes"', "opened read-only"),
    ],
)
def test_a_wrong_member_is_named_and_the_rest_is_used_and_kept(connections: Path, entry: str, named: str) -> None:
    text = f'last_used = "x"\n[connections.work]\nurl = " http://a/ "\n{entry}\n'
    connections.write_text(text)
    loaded = loaded_now()
    above, problem = loaded.problems
    tables = "'last_used' is not known; known are tables like [connections.work]; the rest is used"
    assert above == f"{connections}: {tables}"
    assert all(part in problem for part in (f"{connections}, line 2, connection 'work': ", named))
    assert "sentinel" not in problem
    protected = "read-only" in named
    work = Connection("work", "http://a", read_only=protected, kept=True)
    assert (loaded.connections, loaded.left_out) == ({"work": work}, {})
    edit.save_connection(connections, work, "work")
    assert connections.read_text() == text
    edit.save_connection(connections, replace(work, name="office", url="http://b"), "work")
    assert connections.read_text() == text.replace(".work", ".office").replace(" http://a/ ", "http://b")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\x00\xff\xfe", "line 1"),
        (b"a = 1\n\xe4\n", "line 2"),
        (b'[connections.work]\nurl = "http://x"\nbroken broken\n', "line 3"),
        *((garbage, "") for garbage in (b"[" * 100_000, b"a" * (files.LARGEST + 1))),
    ],
)
def test_garbage_is_named_with_its_line_and_left_as_it_is(connections: Path, content: bytes, line: str) -> None:
    connections.write_bytes(content)
    loaded = loaded_now()
    [problem] = loaded.problems
    assert all(part in problem for part in (str(connections), line))
    assert (loaded.connections, connections.read_bytes()) == ({}, content)


def test_things_that_are_no_files_are_named_without_waiting_for_them(connections: Path) -> None:
    os.mkfifo(connections)
    assert "not a regular file" in loaded_now().problems[0]
    connections.unlink()
    connections.mkdir()
    assert "regular file" in loaded_now().problems[0]
    connections.rmdir()
    connections.symlink_to("nowhere")
    assert "link" in loaded_now().problems[0]


def test_wrong_types_of_preferences_are_left_out(home: Home) -> None:
    home.write("preferences.toml", 'theme = 5\nlast_connection = "work"\n')
    loaded = loaded_now()
    assert loaded.preferences == Preferences(last_connection="work")
    assert "theme" in loaded.problems[0]


def test_remembering_makes_a_private_file_or_follows_a_link(home: Home) -> None:
    path = home.config / "preferences.toml"
    edit.remember(path, {"theme": "night"})
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, home.config)] == [0o600, 0o700]
    assert [each.name for each in home.config.iterdir()] == ["preferences.toml"]
    kept = path.rename(home.root / "dotfiles.toml")
    path.symlink_to(kept)
    edit.remember(path, {"theme": "day"})
    assert path.is_symlink()
    assert kept.read_text() == 'theme = "day"\n'


def test_a_folder_that_cannot_be_written_is_named(home: Home) -> None:
    home.root.joinpath("config").write_text("a file where a folder should be")
    with pytest.raises(ConfigError, match="could not be"):
        edit.remember(home.config / "preferences.toml", {"theme": "night"})


def test_a_write_that_fails_half_way_keeps_the_old_file(home: Home) -> None:
    path = home.root / "kept.toml"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "new" * 10_000 + "\ud800")
    assert path.read_text() == "old"
    assert sorted(each.name for each in home.root.iterdir()) == ["kept.toml"]
