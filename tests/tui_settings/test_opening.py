"""The settings are imported when they are first asked for, and nobody is kept waiting or loses a key by it."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.worker import WorkerFailed

from quarterdeck.tui.commands import Place
from quarterdeck.tui.screens import settings_opening
from quarterdeck.tui.screens.settings import SettingsScreen
from quarterdeck.tui.screens.settings_opening import SettingsOpening
from tests.tui.seat import local, seated
from tests.tui_settings.form import FormSeat

GATE = Event()
HELD = "held_import"
WORDS = "Opening the settings…"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where decks are whose settings are imported once the gate is open."""
    GATE.clear()
    (tmp_path / f"{HELD}.py").write_text(f"from {__name__} import GATE\nGATE.wait()\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, HELD, raising=False)
    monkeypatch.setattr(settings_opening, "SETTINGS", (HELD, *settings_opening.SETTINGS))
    return tmp_path


@asynccontextmanager
async def opening(folder: Path) -> AsyncIterator[FormSeat]:
    """Sits at a deck that is importing the settings."""
    async with seated(local(folder / "data"), crashes=folder) as seat:
        try:
            await seat.sees("No conversations.")
            seat.at_once("3")
            await seat.sees("[3 Settings]", WORDS, "? Help")
            await seat.until(lambda: HELD in sys.modules)
            yield FormSeat(seat.deck, seat.pilot)
        finally:
            GATE.set()


async def test_keys_typed_while_the_settings_are_imported_do_nothing(folder: Path) -> None:
    async with opening(folder) as seat:
        seat.at_once("enter", *"du", "enter")
        await seat.sees(WORDS, "the settings are not loaded")
        GATE.set()
        await seat.until(lambda: isinstance(seat.deck.screen, SettingsScreen))
        await seat.sees("Nothing stored yet")
        assert not [screen for screen in seat.deck.deck_screens() if isinstance(screen, SettingsOpening)]


async def test_quitting_does_not_wait_for_the_settings(folder: Path) -> None:
    async with opening(folder) as seat:
        seat.at_once("enter", "ctrl+q")
        await seat.until(lambda: seat.deck.return_value == 0)


async def test_what_comes_between_stays_until_the_person_goes_back(folder: Path) -> None:
    async with opening(folder) as seat:
        seat.deck.ask_for_connection()
        await seat.sees("Connections", "local service")
        GATE.set()
        await seat.press("down", "up")
        await seat.sees("Connections")
        await seat.press("escape")
        await seat.sees("[3 Settings]", "Model")


async def test_who_left_meanwhile_finds_the_settings_later(folder: Path) -> None:
    async with opening(folder) as seat:
        seat.deck.show(Place.CONVERSATIONS)
        await seat.sees("No conversations.")
        GATE.set()
        await seat.press("2", "1")
        await seat.sees("No conversations.")
        await seat.press("3")
        await seat.sees("[3 Settings]", "Model")


async def test_settings_that_cannot_be_imported_end_the_deck(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_opening, "SETTINGS", ("quarterdeck.no_such_module",))
    with pytest.raises(WorkerFailed, match="no_such_module"):
        await visit(folder)
    assert list((folder / "crashes").iterdir())


async def visit(folder: Path) -> None:
    """Ask for settings that never come."""
    async with seated(local(folder / "data"), crashes=folder) as seat:
        await seat.sees("No conversations.")
        seat.at_once("3")
        await seat.until(lambda: seat.deck.return_code == 1)
