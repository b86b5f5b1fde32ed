import json
import os
import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarterdeck.config import edit
from quarterdeck.config.connections import Colour, Connection
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import load
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
    edit.save_connection(file, WORK, "work")
    assert (file.read_text(), file.stat().st_mtime_ns) == (BY_HAND, before)
    edited = replace(WORK, name="new", url="https://new.example", read_only=True, colour=Colour.RED, key_env=None)
    edit.save_connection(file, edited, "work")
    changed = BY_HAND.replace("connections.work]", "connections.new]").replace("work.example/", "new.example")
    assert file.read_text() == changed.replace('key_env = "WORK_KEY"\n', 'read_only = true\ncolour = "red"\n')
    new = Connection("a.b", "https://c.example/x", "bearer", True, "~/ca.pem", Colour.TEAL, "C_KEY", kept=True)
    before_new = file.read_text()
    edit.save_connection(file, new, None)
    assert file.read_text().startswith(before_new)
    assert known() == {"new": edited, "home": HOME, "a.b": new}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_that_write_at_once_lose_nothing_of_each_other(file: Path) -> None:
    new = [replace(HOME, name=f"new{number}") for number in range(8)]
    with ThreadPoolExecutor() as pool:
        tuple(pool.map(lambda each: edit.save_connection(file, each, None), new))
    assert known() == {"work": WORK, "home": HOME} | {each.name: each for each in new}


@pytest.mark.parametrize(
    "text", ["[connections.work\n", "connections = 5\n", "[connections]\nwork = 5\n", "[[connections]]\n", "\x00"]
)
def test_a_file_that_is_not_understood_is_named_and_left_as_it_is(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match="nothing was written") as caught:
        edit.save_connection(file, WORK, "work")
    assert str(file) in str(caught.value) or "tables" in str(caught.value)
    with pytest.raises(ConfigError):
        edit.delete_table(file, "connections", "work")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("connection", "words"),
    [(HOME, "already"), (Connection("local", "http://a"), "name"), (Connection("a", "http://u:p@a"), "password")],
)
def test_what_would_not_be_read_again_is_not_written(file: Path, connection: Connection, words: str) -> None:
    for instead_of in (None, "work"):
        with pytest.raises(ConfigError, match=words):
            edit.save_connection(file, connection, instead_of)
    assert file.read_text() == BY_HAND


NAMES = st.sampled_from(["url", "header", "key_env", "colour"])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n", exclude_categories=["Cc", "Cs"]), max_size=12)
GAPS = st.lists(st.just("") | WORDS.map("# {}".format), max_size=3)
TEXT = "'''\n[connections.work]\nurl = 'no'\n'''"
ODD = ["5", '"a # b"  # said', TEXT, '[\n  ["a"], # deep\n  ["connections"],\n]', "{ x = 1 }"]
VALUES = WORDS.map(partial(json.dumps, ensure_ascii=False)) | st.sampled_from(ODD)
MEMBERS = st.lists(st.tuples(GAPS, NAMES, VALUES), unique_by=lambda member: member[1])
CHANGES = st.dictionaries(NAMES, st.booleans() | WORDS, min_size=1)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[str]]:
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


def kept_in_order(lines: list[str], text: str) -> bool:
    left = iter(text.split("\n"))
    return all(line in left for line in lines)


@settings(max_examples=60)
@given(files(), CHANGES)
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
    assert tomllib.loads(without) == wanted
    assert list(filter(None, without.split("\n"))) == list(filter(None, rest))
    wanted["connections"]["work"] = work | changes
    assert tomllib.loads(edited) == wanted
    others = [line for line in text.split("\n") if line.startswith(("#", "[other", "[connections.p"))]
    assert kept_in_order(others, edited)
    assert with_another.startswith(edited)
    assert tomllib.loads(with_another)["connections"]["new"] == changes
