"""What the settings look like on a server of each generation."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot

from quarterdeck.tui.app import Deck
from tests.servers import Mode
from tests.tui.scenes import NOW
from tests.tui.seat import LOCAL, NARROW, WIDE, Seat, connecting, local


class Compare(Protocol):
    def __call__(
        self, app: Deck, *, terminal_size: tuple[int, int], run_before: Callable[[Pilot[int]], Awaitable[None]]
    ) -> bool: ...


async def settled(pilot: Pilot[int]) -> None:
    assert isinstance(pilot.app, Deck)
    seat = Seat(pilot.app, pilot)
    await seat.until(lambda: seat.deck.session and seat.session.server.kind)
    await seat.press("3", sees=("Nothing stored yet", "Max iterations"))
    await seat.press("down", "enter")
    await seat.type("sentinel", "escape", sees="1 edited")


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
@pytest.mark.parametrize("store", ["replace", "nested"])
def test_settings(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], store: Mode) -> None:
    deck = Deck(LOCAL, connecting(local(tmp_path / "data", store)), crash_folder=tmp_path, clock=lambda: NOW)
    assert snap_compare(deck, terminal_size=size, run_before=settled)
