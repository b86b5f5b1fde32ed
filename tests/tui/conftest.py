"""Decks on services of their own; whatever runs in their sandboxes is killed afterwards."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.local.conftest import folder
from tests.tui.seat import Seat, local, seated

__all__ = ["folder"]


@pytest.fixture
def sit(folder: Path) -> Callable[..., AbstractAsyncContextManager[Seat]]:
    """Opens decks on one embedded service, one after the other or side by side."""
    return partial(seated, local(folder))
