"""The first frame: right at once, and made without any work that is done over again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.config.connections import Connection
from quarterdeck.tui import app
from quarterdeck.tui.app import Deck


@asynccontextmanager
async def never(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
    async with asyncio.timeout(60):
        await asyncio.Event().wait()
    yield Client(endpoint.url or IN_PROCESS)


class WatchedDeck(Deck):
    """Remembers what it showed first, and how often its styles were parsed all over before that."""

    CSS_PATH = [Path(app.__file__).parent / name for name in ("quarterdeck.tcss", "screens/listing.tcss")]

    restyled = 0
    first_with_side: bool | None = None
    restyled_at_first: int | None = None

    def refresh_css(self, animate: bool = True) -> None:
        self.restyled += 1
        super().refresh_css(animate)

    def post_display_hook(self) -> None:
        if self.first_with_side is None:
            self.first_with_side = bool(self.screen.query_one("#side").display)
            self.restyled_at_first = self.restyled


@pytest.mark.parametrize(("width", "with_side"), [(80, False), (140, True)])
async def test_the_first_frame_has_the_side_pane_only_where_there_is_room(
    width: int, with_side: bool, tmp_path: Path
) -> None:
    deck = WatchedDeck(Connection("prod", "http://server.example"), never, crash_folder=tmp_path)
    async with deck.run_test(size=(width, 24)):
        assert deck.first_with_side is with_side


@pytest.mark.parametrize("theme", ["quarterdeck-dark", "quarterdeck-light"])
async def test_the_first_frame_is_styled_once_in_the_chosen_theme(theme: str, tmp_path: Path) -> None:
    deck = WatchedDeck(Connection("prod", "http://server.example"), never, crash_folder=tmp_path, theme=theme)
    async with deck.run_test(size=(80, 24)):
        assert deck.restyled_at_first == 0
        assert deck.screen.styles.background.hex.lower() == deck.current_theme.background


async def test_the_first_screen_is_the_one_that_its_key_comes_back_to(tmp_path: Path) -> None:
    deck = WatchedDeck(Connection("prod", "http://server.example"), never, crash_folder=tmp_path)
    async with deck.run_test(size=(80, 24)) as pilot:
        first = deck.screen
        await pilot.press("2")
        await pilot.pause()
        assert deck.screen is not first
        await pilot.press("1")
        await pilot.pause()
        assert deck.screen is first
