import json
import multiprocessing
import os
import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from quarterdeck.config import edit, files
from quarterdeck.config.connections import Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import Preferences, find_folders, load
from quarterdeck.config.state import StateFiles
from tests.conftest import Home


def test_folders_follow_the_xdg_variables_and_ignore_relative_ones(home: Home) -> None:
    found = find_folders({"HOME": str(home.root), "XDG_DATA_HOME": "relative", "XDG_STATE_HOME": "/var/state"})
    assert (found.config, found.data) == (home.root / ".config/quarterdeck", home.root / ".local/share/quarterdeck")
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
def test_an_unusable_connection_is_named_and_the_others_are_used(home: Home, entry: str, named: str) -> None:
    names = "".join(f'[connections.{name}]\nurl = "http://a"\n' for name in ("local", '"two words"', "good"))
    file, loaded = home.write("connections.toml", f"{names}[connections.bad]\n{entry}\n"), load(os.environ)
    assert (list(loaded.connections), set(loaded.left_out)) == (["good"], {"local", "two words", "bad"})
    local, words, problem = loaded.problems
    assert ("'local'" in local, "a name is 1 to 64" in words, "secret" in problem) == (True, True, False)
    assert all(part in problem for part in (str(file), "'bad'", named, "; it is left out"))


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
def test_a_wrong_member_is_named_and_the_rest_is_used_and_kept(home: Home, entry: str, named: str) -> None:
    text = f'last_used = "x"\n[connections.work]\nurl = " http://a/ "\n{entry}\n'
    file, loaded = home.write("connections.toml", text), load(os.environ)
    above, problem = loaded.problems
    assert above == f"{file}: 'last_used' is not known; known are tables like [connections.work]; the rest is used"
    assert all(part in problem for part in (f"{file}, line 2, connection 'work': ", named))
    assert "sentinel" not in problem
    work = Connection("work", "http://a", read_only="read-only" in named, kept=True)
    assert (loaded.connections, loaded.left_out) == ({"work": work}, {})
    edit.save_connection(file, work, work)
    assert file.read_text() == text
    edit.save_connection(file, replace(work, name="office", url="http://b"), work)
    assert file.read_text() == text.replace(".work", ".office").replace(" http://a/ ", "http://b")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"\x00\xff\xfe", "line 1"),
        (b"a = 1\n\xe4\n", "line 2"),
        (b'[connections.work]\nurl = "http://x"\nbroken broken\n', "line 3"),
        *((garbage, "") for garbage in (b"\x00", b"[" * 100_000, b"a" * (files.LARGEST + 1))),
        (b"[connections.work\n", "line 1"),
        *((b"connections = 5\nlast = 1\n", ""), (b"[connections]\nwork = 5\n", ""), (b"[[connections]]\n", "")),
    ],
)
def test_garbage_is_named_with_its_line_and_left_as_it_is(home: Home, content: bytes, line: str) -> None:
    file = home.write("connections.toml", "")
    file.write_bytes(content)
    loaded = load(os.environ)
    [problem] = loaded.problems
    assert all(part in problem for part in (str(file), line))
    with pytest.raises(ConfigError, match="nothing was written") as caught:
        edit.save_connection(file, WORK, WORK)
    assert str(file) in str(caught.value) or "tables" in str(caught.value)
    with pytest.raises(ConfigError):
        edit.delete_table(file, "connections", "work")
    assert (loaded.connections, file.read_bytes()) == ({}, content)


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="to root no folder is closed")
def test_folders_that_nobody_here_may_look_into_are_named(tmp_path: Path) -> None:
    folders, user = find_folders({"HOME": str(tmp_path / "closed" / "home")}), os.geteuid()
    (tmp_path / "closed").mkdir(mode=0)
    os.setresuid(user or 65_534, user or 65_534, user)
    try:
        assert (len(folders.unusable), folders.left_behind) == (2, [])
    finally:
        os.setresuid(user, user, user)


def test_things_that_are_no_files_are_named_without_waiting_for_them(home: Home) -> None:
    file = home.write("connections.toml", "")
    file.unlink()
    file.symlink_to("/proc/self/mem")
    assert "could not be read: Input/output error" in load(os.environ).problems[0]
    file.unlink()
    os.mkfifo(file)
    assert "not a regular file" in load(os.environ).problems[0]
    file.unlink()
    file.symlink_to("nowhere")
    assert "link" in load(os.environ).problems[0]


def test_wrong_types_of_preferences_are_left_out(home: Home) -> None:
    home.write("preferences.toml", 'theme = 5\nlast_connection = "work"\n')
    loaded = load(os.environ)
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


def test_a_write_that_fails_half_way_keeps_the_old_file(home: Home) -> None:
    path = home.root / "kept.toml"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "new" * 10_000 + "\ud800")
    assert (path.read_text(), sorted(each.name for each in home.root.iterdir())) == ("old", ["kept.toml"])


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
WORK = Connection("work", "https://work.example", key_env="WORK_KEY", kept=True)
HOME = Connection("home", "http://10.0.0.7:3000", kept=True)


@pytest.fixture
def file(home: Home) -> Path:
    return home.write("connections.toml", BY_HAND)


def known() -> dict[str, Connection]:
    loaded = load(os.environ)
    [problem] = loaded.problems
    assert "'future' is not known" in problem
    return dict(loaded.connections)


def test_an_edit_touches_only_its_own_lines_and_a_new_one_comes_last(file: Path) -> None:
    before = file.stat().st_mtime_ns
    edit.save_connection(file, WORK, WORK)
    assert (file.read_text(), file.stat().st_mtime_ns) == (BY_HAND, before)
    edited = replace(WORK, name="new", url="https://new.example", read_only=True, colour="red", key_env=None)
    file.write_text(by_hand := BY_HAND.replace('"session"', '"bearer"'))  # meanwhile
    edit.save_connection(file, edited, WORK)
    changed = by_hand.replace("connections.work]", "connections.new]").replace("work.example/", "new.example")
    assert file.read_text() == changed.replace('key_env = "WORK_KEY"\n', 'read_only = true\ncolour = "red"\n')
    new = Connection("a.b", "https://c.example/x", "bearer", True, "~/ca.pem", "teal", "C_KEY", kept=True)
    before_new = file.read_text()
    edit.save_connection(file, new, None)
    assert file.read_text().startswith(before_new)
    there = {"new": replace(edited, header="bearer"), "home": HOME, "a.b": new}
    assert (known(), stat.S_IMODE(file.stat().st_mode)) == (there, 0o600)


def test_two_that_write_at_once_lose_nothing_of_each_other(file: Path) -> None:
    new = [replace(HOME, name=f"new{number}") for number in range(8)]
    with ThreadPoolExecutor() as pool:
        tuple(pool.map(lambda each: edit.save_connection(file, each, None), new))
    assert known() == {"work": WORK, "home": HOME} | {each.name: each for each in new}


@pytest.mark.parametrize(
    ("connection", "words"),
    [(HOME, "already"), (Connection("local", "http://a"), "name"), (Connection("a", "http://u:p@a"), "password")],
)
def test_what_would_not_be_read_again_is_not_written(file: Path, connection: Connection, words: str) -> None:
    for old in (None, WORK):
        with pytest.raises(ConfigError, match=words):
            edit.save_connection(file, connection, old)
    assert file.read_text() == BY_HAND


NAMES = st.sampled_from(["url", "header", "key_env", "colour"])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n", exclude_categories=["Cc", "Cs"]), max_size=12)
GAPS = st.lists(st.just("") | WORDS.map("# {}".format), max_size=3)
TEXT = "'''\n[connections.work]\nurl = 'no'\n'''"
ODD = ["5", '"a # b"  # said', TEXT, '[\n  ["a"], # deep\n  ["connections"],\n]', "{ x = 1 }"]
VALUES = WORDS.map(partial(json.dumps, ensure_ascii=False)) | st.sampled_from(ODD)
MEMBERS = st.lists(st.tuples(GAPS, NAMES, VALUES), unique_by=lambda member: member[1])


@st.composite
def some_files(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A file with the table of `work` among others and comments everywhere, and every line outside that table."""
    text, rest = draw(GAPS), list[str]()
    rest += text
    for header in draw(st.permutations(["[connections.work]", "[connections.play]", '[connections."a.b"]', "[other]"])):
        table = [draw(st.sampled_from([header, f"  {header}   # mine"]))]
        for gap, name, value in draw(MEMBERS):
            table += [*gap, *f"{name} = {value}".split("\n")]
        after = draw(GAPS)
        text += [*table, *after]
        rest += after if "work" in header else [*table, *after]
    return "\n".join([*text, ""]), rest


@settings(max_examples=60)
@given(some_files(), st.dictionaries(NAMES, st.booleans() | WORDS, min_size=1))
def test_members_change_tables_go_and_others_stay(file: tuple[str, list[str]], changes: dict[str, str | bool]) -> None:
    text, rest = file
    with TemporaryDirectory() as folder:
        path = Path(folder) / "some.toml"
        path.touch(mode=0o600)
        path.write_text(text, newline="")
        edit.set_table(path, "connections", "work", changes)
        edited = path.read_text()
        edit.set_table(path, "connections", "new", changes)
        with_another = path.read_text()
        path.write_text(text, newline="")
        edit.delete_table(path, "connections", "work", private=True)
        without = path.read_text()
    wanted = tomllib.loads(text)
    work = wanted["connections"].pop("work")
    assert (tomllib.loads(without), list(filter(None, without.split("\n")))) == (wanted, list(filter(None, rest)))
    wanted["connections"]["work"] = work | changes
    assert tomllib.loads(edited) == wanted
    others = [line for line in text.split("\n") if line.startswith(("#", "[other", "[connections.p"))]
    left = iter(edited.split("\n"))
    assert all(line in left for line in others), "they stand in their order"
    assert with_another.startswith(edited)
    assert tomllib.loads(with_another)["connections"]["new"] == changes


# What is kept from one run to the next

HERE, THERE = "http://127.0.0.1:3000", "https://deck.example"


class Journal(BaseModel):
    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "journal"
    version: Literal[1] = 1
    saves: Any = None


def keep(folder: Path, saves: Any) -> None:
    StateFiles(folder).change(Journal, HERE, lambda kept: Journal(saves=saves))


def kept_in(folder: Path) -> Any:
    return StateFiles(folder).read(Journal, HERE).saves


def file_of(folder: Path) -> Path:
    [file] = folder.rglob("*.json")
    return file


def test_it_is_there_for_the_next_run_and_for_nobody_else_until_it_is_deleted(tmp_path: Path) -> None:
    class View(Journal):
        kind: ClassVar[str] = "view"

    keep(tmp_path / "state", "ä")
    assert kept_in(tmp_path / "state") == "ä"
    files = StateFiles(tmp_path / "state")
    assert (files.read(Journal, THERE), files.read(View, HERE)) == (Journal(), View())
    assert stat.S_IMODE(file_of(tmp_path).stat().st_mode) == 0o600
    folders = [tmp_path / "state", *(tmp_path / "state").iterdir()]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    assert json.loads(file_of(tmp_path).read_text()) == {"version": 1, "saves": "ä"}
    written = file_of(tmp_path).stat().st_ino
    keep(tmp_path / "state", "ä")
    with pytest.raises(ConfigError, match="half a character"):
        keep(tmp_path / "state", "\ud800")
    assert file_of(tmp_path).stat().st_ino == written, "what did not change is not written, nor what cannot be"
    assert files.change(Journal, HERE, lambda kept: Journal()) == Journal()
    assert (kept_in(tmp_path / "state"), list(tmp_path.rglob("*.json"))) == (None, [])


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"saves"', "[" * 100_000, '{"saves": "\\q"}'])
def test_a_damaged_file_is_put_aside_and_never_overwritten(tmp_path: Path, content: str) -> None:
    for _ in range(2):
        keep(tmp_path, "first")
        file_of(tmp_path).write_text(content)
        assert kept_in(tmp_path) is None
    keep(tmp_path, "second")
    assert kept_in(tmp_path) == "second"
    assert [aside.read_text() for aside in tmp_path.rglob("*.damaged")] == [content, content]


def test_a_file_of_another_version_is_left_alone(tmp_path: Path) -> None:
    keep(tmp_path, "mine")
    later = '{"version": 2, "entries": ["one"]}'
    file_of(tmp_path).write_text(later)
    for use in (kept_in, partial(keep, saves="mine")):
        with pytest.raises(ConfigError, match="another version"):
            use(tmp_path)
    assert file_of(tmp_path).read_text() == later


def test_a_file_or_folder_that_cannot_be_used_is_named_in_words_and_left_as_it_is(tmp_path: Path) -> None:
    keep(tmp_path, "first")
    with pytest.raises(ConfigError, match="larger than"):
        keep(tmp_path, "x" * 9_000_000)
    assert kept_in(tmp_path) == "first"
    file_of(tmp_path).chmod(0o644)
    with pytest.raises(ConfigError, match="open to other users"):
        kept_in(tmp_path)
    (tmp_path / "state").write_text("a file, not a folder")
    with pytest.raises(ConfigError, match="could not be written"):
        keep(tmp_path / "state", "mine")


def _count_up(folder: Path) -> None:
    for _ in range(20):
        StateFiles(folder).change(Journal, HERE, lambda kept: Journal(saves=(kept.saves or 0) + 1))


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    others = [multiprocessing.get_context("spawn").Process(target=_count_up, args=(tmp_path,)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert kept_in(tmp_path) == 40
