"""Decks on services of their own; whatever runs in their sandboxes is killed afterwards."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from quarterdeck.fleet import watch
from quarterdeck.tui.glyphs import in_ascii
from quarterdeck.tui.kept_state import KeptState
from tests.local.conftest import folder as folder
from tests.tui.fake_fleet import FakeFleet
from tests.tui.user import User, at_deck, local

Decks = Callable[..., AbstractAsyncContextManager[User]]


@pytest.fixture(autouse=True)
def _readings_follow_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two readings that are asked for lie less than the usual second apart."""
    monkeypatch.setattr(watch, "REFRESH", 0.05)
    monkeypatch.setattr(watch, "IN_TRANSITION", 0.2)


@pytest.fixture
def deck(folder: Path) -> Decks:
    """Opens decks on one embedded service, one after the other or side by side."""
    return partial(at_deck, local(folder))


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    fleet.talk("c1", fleet.add("box"), "Fix login")
    return fleet


@pytest.fixture
def state(tmp_path: Path) -> KeptState:
    return KeptState(tmp_path / "state")


@pytest.fixture
def no_colour(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment that wants no colour, as a program finds it when it starts."""
    monkeypatch.setenv("NO_COLOR", "1")
    in_ascii.cache_clear()
    yield
    in_ascii.cache_clear()
