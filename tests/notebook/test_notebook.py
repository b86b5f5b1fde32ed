"""Pages on the disk: private, whole, never overwritten when they cannot be understood."""

import multiprocessing
from pathlib import Path
from stat import S_IMODE
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.kept_notes import KeptNotes
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.config.connections import Connection
from quarterdeck.notebook.notebook import Notebook, NotebookError

LETTERS = st.characters(codec="utf-8")
HERE, THERE = "http://127.0.0.1:3000", "https://deck.example"


def page_of(folder: Path) -> Path:
    [page] = folder.rglob("*.json")
    return page


def test_a_page_is_there_for_the_next_run_and_for_nobody_else(tmp_path: Path) -> None:
    Notebook(tmp_path).change("journal", HERE, lambda said: [said, "ä"])
    assert Notebook(tmp_path).read("journal", HERE) == [None, "ä"]
    assert Notebook(tmp_path).read("journal", THERE) is None
    assert Notebook(tmp_path).read("view", HERE) is None
    assert S_IMODE(page_of(tmp_path).stat().st_mode) == 0o600
    assert {S_IMODE(folder.stat().st_mode) for folder in tmp_path.iterdir()} == {0o700}


MEMBERS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(LETTERS)
JSON = st.recursive(MEMBERS, lambda inner: st.lists(inner) | st.dictionaries(st.text(LETTERS), inner), max_leaves=20)


@given(says=JSON)
def test_a_page_says_whatever_was_put_on_it(says: Any) -> None:
    with TemporaryDirectory() as folder:
        Notebook(Path(folder)).change("journal", HERE, lambda said: says)
        assert Notebook(Path(folder)).read("journal", HERE) == says


def test_none_takes_a_page_away(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path)
    notebook.change("draft", HERE, lambda said: {"language": "de"})
    assert notebook.change("draft", HERE, lambda said: None) is None
    assert notebook.read("draft", HERE) is None
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"says"', "[" * 100_000])
def test_a_page_that_cannot_be_understood_is_put_aside(tmp_path: Path, content: str) -> None:
    notebook = Notebook(tmp_path)
    notebook.change("journal", HERE, lambda said: "first")
    page_of(tmp_path).write_text(content)
    assert notebook.read("journal", HERE) is None
    notebook.change("journal", HERE, lambda said: "second")
    assert notebook.read("journal", HERE) == "second"
    [aside] = tmp_path.rglob("*.damaged")
    assert aside.read_text() == content


def test_a_page_open_to_others_is_not_used(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path)
    notebook.change("journal", HERE, lambda said: "mine")
    page_of(tmp_path).chmod(0o644)
    with pytest.raises(NotebookError, match="open to other users"):
        notebook.read("journal", HERE)


def test_a_change_that_fails_leaves_the_page_as_it_was(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path)
    notebook.change("journal", HERE, lambda said: "first")
    with pytest.raises(NotebookError, match="larger than"):
        notebook.change("journal", HERE, lambda said: "x" * 9_000_000)
    assert notebook.read("journal", HERE) == "first"


def _count_up(folder: Path) -> None:
    for _ in range(20):
        Notebook(folder).change("count", HERE, lambda said: (said or 0) + 1)


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    others = [multiprocessing.get_context("spawn").Process(target=_count_up, args=(tmp_path,)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert Notebook(tmp_path).read("count", HERE) == 40


async def test_the_deck_finds_its_notes_by_the_address_of_the_server(tmp_path: Path) -> None:
    def put(said: Any) -> Any:
        return "noted"

    await KeptNotes(tmp_path).change("view", Connection("work", HERE), put)
    assert await KeptNotes(tmp_path).read("view", Connection("another name", HERE)) == "noted"
    assert await KeptNotes(tmp_path).read("view", Connection("local service")) is None


async def test_a_folder_that_cannot_be_written_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "notebook").write_text("a file, not a folder")
    with pytest.raises(ServiceError) as refused:
        await KeptNotes(tmp_path / "notebook").change("view", Connection("work", HERE), lambda said: 1)
    assert refused.value.kind is ErrorKind.LOCAL
    assert "could not be written" in refused.value.words
