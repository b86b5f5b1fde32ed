"""A deck with a file of connections and a keyring of its own, two servers to connect to, and somebody at it."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from quarterdeck.cli.connect import connect
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.keys import Keys, SystemKeyring
from quarterdeck.config.load import load
from quarterdeck.tui.app import Deck
from quarterdeck.tui.kept_state import KeptState
from tests.cli.serving import answering, keeping
from tests.conftest import Home
from tests.keyrings import Good
from tests.tui.seat import NARROW, Seat, Words, connecting, seated_at

KEY, OTHER_KEY = "sentinel-key-one", "sentinel-key-two"
NOBODY = "http://127.0.0.1:9"


@dataclass
class Desk:
    """What somebody has before they open the deck."""

    home: Home
    one: str
    two: str
    """The addresses of two servers."""
    keyring: Good = field(default_factory=Good)
    environ: dict[str, str] = field(default_factory=dict)
    patience: float = 3.0

    @property
    def file(self) -> Path:
        return self.home.config / "connections.toml"

    def write(self, text: str) -> None:
        self.home.write("connections.toml", text)

    @asynccontextmanager
    async def sit(
        self, connection: Connection = LOCAL, *, read_only: bool = False, size: tuple[int, int] = NARROW
    ) -> AsyncIterator[Seat]:
        """Open the deck on a connection, or on the local service; `read_only` is what --read-only says."""
        loaded = load(os.environ)
        folders = loaded.folders
        keys = Keys(folders.keys, self.environ, SystemKeyring(lambda: self.keyring, self.patience))
        deck = Deck(
            replace(connection, read_only=connection.read_only or read_only),
            connecting(partial(connect, folders.data, keys), KeptState(folders.kept), keys, read_only=read_only),
            notices=[f"{problem}." for problem in loaded.problems],
            theme="quarterdeck-dark",
            crash_folder=self.home.state,
        )
        async with seated_at(deck, size) as seat:
            yield seat

    @property
    def remembered(self) -> str | None:
        """The last connection, as the next run will find it."""
        return load(os.environ).preferences.last_connection

    def connection(self, name: str) -> Connection:
        """The connection that `--connection NAME` means."""
        return load(os.environ).connections[name]


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of two servers with a key each."""
    folder = tmp_path_factory.mktemp("data")
    with answering(keeping(folder / "one", KEY)) as first, answering(keeping(folder / "two", OTHER_KEY)) as second:
        yield first, second


@pytest.fixture
def desk(home: Home, urls: tuple[str, str]) -> Desk:
    """Two connections: `one` has its key in the environment, `two` has none yet."""
    desk = Desk(home, *urls, environ={"ONE_KEY": KEY})
    desk.write(
        f'[connections.one]\nurl = "{desk.one}"\nkey_env = "ONE_KEY"\ncolour = "teal"\n\n'
        f'# careful with this one\n[connections.two]\nurl = "{desk.two}"\nread_only = true\n'
    )
    return desk


async def at_list(seat: Seat, *keys: str, sees: Words = ()) -> None:
    """Open the list of connections and press keys in it."""
    await seat.press("c", sees=("Connections", "local service", "one", "two"))
    await seat.press(*keys, sees=sees)
