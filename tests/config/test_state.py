import json
import multiprocessing
from functools import partial
from pathlib import Path
from stat import S_IMODE
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from quarterdeck.config.files import ConfigError
from quarterdeck.config.state import StateFiles

HERE, THERE = "http://127.0.0.1:3000", "https://deck.example"


class Journal(BaseModel):
    model_config = ConfigDict(frozen=True)
    kind: ClassVar[str] = "journal"
    version: Literal[1] = 1
    saves: Any = None


class View(Journal):
    kind: ClassVar[str] = "view"


def keep(folder: Path, saves: Any) -> None:
    StateFiles(folder).change(Journal, HERE, lambda kept: Journal(saves=saves))


def kept_in(folder: Path) -> Any:
    kept = StateFiles(folder).read(Journal, HERE)
    return kept and kept.saves


def file_of(folder: Path) -> Path:
    [file] = folder.rglob("*.json")
    return file


def test_it_is_there_for_the_next_run_and_for_nobody_else_until_it_is_deleted(tmp_path: Path) -> None:
    keep(tmp_path / "state", "ä")
    assert kept_in(tmp_path / "state") == "ä"
    files = StateFiles(tmp_path / "state")
    assert files.read(Journal, THERE) is files.read(View, HERE) is None
    assert S_IMODE(file_of(tmp_path).stat().st_mode) == 0o600
    folders = [tmp_path / "state", *(tmp_path / "state").iterdir()]
    assert {S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    assert json.loads(file_of(tmp_path).read_text()) == {"version": 1, "saves": "ä"}
    written = file_of(tmp_path).stat().st_ino
    keep(tmp_path / "state", "ä")
    assert file_of(tmp_path).stat().st_ino == written, "what did not change is not written"
    assert files.change(Journal, HERE, lambda kept: None) is None
    assert kept_in(tmp_path / "state") is None
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"saves"', "[" * 100_000, '{"saves": "\\q"}'])
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
        StateFiles(folder).change(Journal, HERE, lambda kept: Journal(saves=(kept.saves if kept else 0) + 1))


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    others = [multiprocessing.get_context("spawn").Process(target=_count_up, args=(tmp_path,)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert kept_in(tmp_path) == 40
