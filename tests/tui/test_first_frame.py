"""The frame: it shows before anything is loaded, keeps what is typed, and can be left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


class Gate:
    """Holds the loading of a deck up until it is opened."""

    def __init__(self) -> None:
        self._open = Event()

    def behind(self, load: Callable[[Deck], Connecting]) -> Callable[[Deck], Connecting]:
        def wait(deck: Deck) -> Connecting:
            self._open.wait()
            return load(deck)

        return wait

    def open(self) -> None:
        self._open.set()


@contextmanager
def gate() -> Iterator[Gate]:
    """A gate that is open in the end, so that no thread outlives a test."""
    gate = Gate()
    try:
        yield gate
    finally:
        gate.open()


async def test_the_frame_looks_like_the_first_screen_without_its_rows(tmp_path: Path) -> None:
    prod = Connection("prod", "http://server.example", read_only=True, colour=Colour.TEAL)
    with gate() as closed:
        deck = Deck(prod, closed.behind(connecting(local(tmp_path))), crash_folder=tmp_path)
        async with deck.run_test(size=NARROW) as pilot:
            seat = Seat(deck, pilot)
            await seat.sees("[1 Conversations]", "2 Sandboxes", "3 Settings", "prod", "READ-ONLY", "connecting…")
            assert "? Help" in seat.line(-1)


@pytest.mark.parametrize("theme", ["quarterdeck-dark", "quarterdeck-light"])
async def test_the_frame_is_in_the_chosen_theme(theme: str, tmp_path: Path) -> None:
    with gate() as closed:
        deck = Deck(LOCAL, closed.behind(connecting(local(tmp_path))), crash_folder=tmp_path, theme=theme)
        async with deck.run_test(size=NARROW):
            assert deck.screen.styles.background.hex.lower() == deck.current_theme.background


async def test_what_is_typed_on_the_frame_goes_to_the_screens_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "KEYS_WAIT", 30.0)
    with gate() as closed:
        deck = Deck(LOCAL, closed.behind(connecting(local(tmp_path / "data"))), crash_folder=tmp_path)
        async with deck.run_test(size=NARROW) as pilot:
            seat = Seat(deck, pilot)
            seat.at_once("3", "slash", *"user")
            seat.paste_at_once("_name")
            await seat.sees("[1 Conversations]", "connecting…")
            for click in (events.MouseDown, events.MouseUp):
                deck.post_message(click(None, seat.line(0).index("2 Sandboxes"), 0, 0, 0, 1, False, False, False))
            seat.at_once("enter")
            closed.open()
            await seat.sees("[3 Settings]", "user_name", "Author name")
            await pilot.press("escape", "1")
            await seat.sees("No conversations.")


async def test_the_frame_is_left_at_once(tmp_path: Path) -> None:
    with gate() as closed:
        deck = Deck(LOCAL, closed.behind(connecting(local(tmp_path))), crash_folder=tmp_path)
        async with deck.run_test(size=NARROW) as pilot:
            seat = Seat(deck, pilot)
            seat.at_once("j", "ctrl+q")
            await seat.until(lambda: deck.return_value == 0)


async def test_what_cannot_be_loaded_ends_the_deck_with_a_report(tmp_path: Path) -> None:
    def load(deck: Deck) -> Connecting:
        raise ImportError

    deck = Deck(LOCAL, load, crash_folder=tmp_path)
    with pytest.raises(WorkerFailed):
        async with deck.run_test(size=NARROW) as pilot:
            await Seat(deck, pilot).until(lambda: deck.return_code == 1)
    assert list((tmp_path / "crashes").iterdir())
