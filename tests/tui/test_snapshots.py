"""A few pictures: what the screens look like with one of everything on them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from quarterdeck.config.connections import Connection
from quarterdeck.tui.app import Deck
from tests.servers import Mode
from tests.tui.scenes import NOW, fleet
from tests.tui.seat import LOCAL, NARROW, WIDE, Seat, answering, connecting, local


class Compare(Protocol):
    def __call__(
        self, app: Deck, *, terminal_size: tuple[int, int], run_before: Callable[[Pilot[int]], Awaitable[None]]
    ) -> bool: ...


def seat_of(pilot: Pilot[int]) -> Seat:
    assert isinstance(pilot.app, Deck)
    return Seat(pilot.app, pilot)


def pressing(*keys: str, sees: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def press(pilot: Pilot[int]) -> None:
        seat = seat_of(pilot)
        await seat.sees("1.8.1", "Needs you")
        await seat.press(*keys, sees=sees)

    return press


def deck_of_fleet(folder: Path, theme: str = "quarterdeck-dark") -> Deck:
    load = connecting(answering(fleet()))
    return Deck(Connection("prod", "http://server.example"), load, crash_folder=folder, theme=theme, clock=lambda: NOW)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
@pytest.mark.parametrize("theme", ["quarterdeck-dark", "quarterdeck-light"])
def test_sandboxes(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    keys = pressing("2", "down", sees="HIBERNATING")
    assert snap_compare(deck_of_fleet(tmp_path, theme), terminal_size=size, run_before=keys)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
def test_conversations(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert snap_compare(deck_of_fleet(tmp_path), terminal_size=size, run_before=pressing("space", sees="3/7 preparing"))


def test_help(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(
        deck_of_fleet(tmp_path), terminal_size=NARROW, run_before=pressing("question_mark", sees="Keys: conversations")
    )


async def settled(pilot: Pilot[int]) -> None:
    seat = seat_of(pilot)
    await seat.until(lambda: seat.deck.session and seat.session.server.kind)
    await seat.press("3", sees=("Nothing stored yet", "Max iterations"))
    await seat.press("down", "enter")
    await seat.type("sentinel", "escape", sees="1 edited")


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
@pytest.mark.parametrize("store", ["replace", "nested"])
def test_settings(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], store: Mode) -> None:
    deck = Deck(LOCAL, connecting(local(tmp_path / "data", store)), crash_folder=tmp_path, clock=lambda: NOW)
    assert snap_compare(deck, terminal_size=size, run_before=settled)
