"""The frame: it shows before anything is loaded, keeps what is typed, and can be left."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual import events
from textual.worker import WorkerFailed

from quarterdeck.config.connections import Colour, Connection
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connecting
from quarterdeck.tui.screens import settings
from tests.tui.seat import LOCAL, NARROW, Seat, connecting, local


@pytest.fixture
def gate() -> Event:
    """What loading waits for."""
    return Event()


@asynccontextmanager
async def framed(
    gate: Event, folder: Path, endpoint: Connection = LOCAL, theme: str | None = None
) -> AsyncIterator[Seat]:
    """A deck that has nothing but its frame until the gate is open, as it is in the end: no thread outlives a test."""
    load = connecting(local(folder / "data"))

    def wait(deck: Deck) -> Connecting:
        gate.wait()
        return load(deck)

    deck = Deck(endpoint, wait, crash_folder=folder, theme=theme)
    try:
        async with deck.run_test(size=NARROW) as pilot:
            yield Seat(deck, pilot)
    finally:
        gate.set()


@pytest.mark.parametrize("theme", ["quarterdeck-dark", "quarterdeck-light"])
async def test_the_frame_looks_like_the_first_screen_in_the_chosen_theme_and_is_left_at_once(
    gate: Event, theme: str, tmp_path: Path
) -> None:
    prod = Connection("prod", "http://server.example", read_only=True, colour=Colour.TEAL)
    async with framed(gate, tmp_path, prod, theme) as seat:
        await seat.sees("[1 Conversations]", "2 Sandboxes", "3 Settings", "prod", "READ-ONLY", "connecting…")
        assert "? Help" in seat.line(-1)
        assert seat.deck.screen.styles.background.hex.lower() == seat.deck.available_themes[theme].background
        seat.at_once("j", "ctrl+q")
        await seat.until(lambda: seat.deck.return_value == 0)


async def test_what_is_typed_on_the_frame_goes_to_the_screens_in_its_order(
    gate: Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "KEYS_WAIT", 30.0)
    async with framed(gate, tmp_path) as seat:
        seat.at_once("3", "slash", *"user")
        seat.paste_at_once("_name")
        await seat.sees("[1 Conversations]", "connecting…")
        for click in (events.MouseDown, events.MouseUp):
            seat.deck.post_message(click(None, seat.line(0).index("2 Sandboxes"), 0, 0, 0, 1, False, False, False))
        seat.at_once("enter")
        gate.set()
        await seat.sees("[3 Settings]", "user_name", "Author name")
        await seat.pilot.press("escape", "1")
        await seat.sees("No conversations.")


async def test_what_cannot_be_loaded_ends_the_deck_with_a_report(tmp_path: Path) -> None:
    def load(deck: Deck) -> Connecting:
        raise ImportError

    deck = Deck(LOCAL, load, crash_folder=tmp_path)
    with pytest.raises(WorkerFailed):
        async with deck.run_test(size=NARROW) as pilot:
            await Seat(deck, pilot).until(lambda: deck.return_code == 1)
    assert list((tmp_path / "crashes").iterdir())
