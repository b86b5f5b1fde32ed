"""Settings as a file: written without secrets, read as edits, and never written over unasked."""

import json
import stat
from pathlib import Path

import pytest

from tests.tui_settings.conftest import FULL, FormSeat


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def export_to(seat: FormSeat, path: Path) -> None:
    await seat.choose("Export", sees=("Export the settings", "settings-local-service.toml"))
    await seat.retype(path.name, "enter")


async def import_from(seat: FormSeat, path: Path) -> None:
    await seat.choose("Import", sees="Import settings")
    await seat.type(path.name, "enter")


async def test_what_is_exported_comes_back_as_edits(seat: FormSeat, tmp_path: Path) -> None:
    path = tmp_path / "kept.toml"
    before = await seat.stored()
    await export_to(seat, path)
    await seat.sees("Written to", "without secrets")
    assert "sentinel" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await seat.client.settings.store(before, {"language": "it", "git_user_name": "Grace"})
    await seat.go_to("git_user_name", "ctrl+r", sees="Grace")
    await seat.go_to("llm_model")
    await import_from(seat, path)
    await seat.sees("kept.toml is read.", "2 edited")
    assert seat.form.row.id in ("language", "git_user_name")
    assert seat.posts == 1
    await seat.press("ctrl+z", sees="As stored")
    await seat.press("ctrl+y")
    await seat.save_verified(2)
    assert await seat.stored() == before


async def test_a_file_that_is_there_goes_only_after_a_yes(seat: FormSeat, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("mine")
    await export_to(seat, path)
    await seat.sees("Write over the file?", "mine.json is there already.")
    assert "go on" not in seat.text
    await seat.press("enter", sees=("Export the settings", "mine.json"))
    await seat.press("escape", "escape")
    assert path.read_text() == "mine"
    await export_to(seat, path)
    await seat.sees("Write over the file?")
    await seat.press("y", sees="Written to")
    await seat.choose("Export", sees="Export the settings")
    await seat.retype("no-such-folder/x.toml", "enter", until=lambda: "No such file or directory." in seat.unwrapped)
    assert json.loads(path.read_text())["settings"]["llm_model"] == FULL["llm_model"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_of_a_file_cannot_be_taken_over_is_said_and_left_alone(seat: FormSeat, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_bytes(b"language = ")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "folder").mkdir()
    wrong = {"broken.toml": "This is not TOML", "bytes.toml": "not text in UTF-8", "gone.toml": "is not there"}
    for name, sentence in (wrong | {"folder": "not a regular file"}).items():
        await import_from(seat, tmp_path / name)
        await seat.sees("Import settings", sentence)
        await seat.press("escape", "escape")
    await seat.sees("As stored")
    path = tmp_path / "odd.toml"
    path.write_text('[settings]\nlanguage = "fr"\nmax_iterations = "many"\nshoe_size = 44\n')
    await import_from(seat, path)
    await seat.sees("Read from odd.toml", "Left alone: max_iterations: This is not a whole", "Left alone: shoe_size")
    await seat.press("escape", sees="1 edited")
    assert seat.form.draft.changes == {"language": "fr"}
