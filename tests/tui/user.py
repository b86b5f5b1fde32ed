"""Somebody at the deck: presses keys, waits for what should come, reads what the terminal would show."""

import asyncio
import os
import re
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import SecretStr
from textual import events
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.transport import Access
from quarterdeck.config.connections import Connection
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import find_folders
from quarterdeck.fleet.bulk import RowState
from quarterdeck.fleet.session import Session
from quarterdeck.local.service import LocalService
from quarterdeck.tui.app import Deck
from quarterdeck.tui.connecting import Connecting
from quarterdeck.tui.connections import Connect, Connections
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.lists.screen import ListScreen
from quarterdeck.tui.widgets.table import Table
from tests.client.fakes import FAST, FakeServer
from tests.servers import Mode, open_server

LOCAL = Connection("local service")
NARROW, WIDE = (80, 24), (120, 36)
PATIENCE = 45.0  # seconds until something awaited counts as never coming
HELD = 0.5  # seconds after which a key that was not answered is one that a test holds, or that ended the deck
Words = str | Sequence[str]  # what the screen has to show, all at once
Until = Callable[[], object]


class User:
    """A person at a deck that runs: presses its keys and sees its screen."""

    def __init__(self, deck: Deck, pilot: Pilot[int]) -> None:
        self.deck, self.pilot = deck, pilot

    async def press(self, *keys: str, sees: Words = (), until: Until = lambda: True, lacks: Words = ()) -> None:
        """Press keys, each once the deck has taken in the one before, let it paint, and wait for what should come."""
        with self.deck._context():
            for key in keys:
                self.at_once(key)
                await self._taken()
        await self.pause()
        await self.sees(*_each(sees))
        await self.until(until)
        await self.sees(lacks=lacks)

    async def _taken(self) -> None:
        looked_at = asyncio.Event()
        if self.deck.call_later(looked_at.set):
            with suppress(TimeoutError):
                await asyncio.wait_for(looked_at.wait(), HELD)
        await self.deck.input_handled()

    async def pause(self) -> None:
        """Wait until the deck has taken everything in, and paint it.

        Textual paints for the app of the context, and in a test that is the one opened last. A screen painted as
        another app's before it was first shown would keep a timer of that context, and never be painted at all.
        """
        with self.deck._context():
            await self._taken()
            await self.pilot.pause()

    async def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Hold the mouse button from one place of the screen to another; a place is a column and a line."""
        with self.deck._context():
            await self.pilot.mouse_down(offset=start)
            await self.pilot.hover(offset=end)
            await self.pilot.mouse_up(offset=end)

    async def click(self, words: str, *, sees: Words = (), until: Until = lambda: True) -> None:
        y = self.text.splitlines().index(self.line_of(words))
        with self.deck._context():
            await self.pilot.click(offset=(self.line(y).index(words) + 1, y))
        await self.press(sees=sees, until=until)

    async def retype(self, words: str, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        """Type text in place of what stands in a field, then press keys."""
        await self.press("ctrl+u", "end", "ctrl+u", *words, *keys, sees=sees, until=until)

    async def go_to(self, row: str, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        self.list_screen.table.move_to(row)
        await self.press(*keys, sees=sees, until=until)

    async def reread(self, *, sees: Words = (), until: Until = lambda: True) -> None:
        """Let the deck read everything again, which leaves the order of its lists alone, as `ctrl+r` does not."""
        self.session.refresh()
        await self.press(sees=sees, until=until)

    async def resize(self, width: int, height: int, *, sees: Words = (), until: Until = lambda: True) -> None:
        await self.pilot.resize_terminal(width, height)
        await self.press(sees=sees, until=until)

    def later(self, **time: float) -> None:
        before = self.deck.clock
        self.deck.clock = lambda: before() + timedelta(**time)

    async def burst(self, *keys: str, sees: Words = (), until: Until = lambda: True) -> None:
        """Press keys that come all at once, and wait for what should come."""
        self.at_once(*keys)
        await self.press(sees=sees, until=until)

    async def paste(self, words: str, *keys: str, sees: Words = ()) -> None:
        self.paste_at_once(words)
        await self.press(*keys, sees=sees)

    def at_once(self, *keys: str) -> None:
        """Press keys, and wait for nothing: the deck has seen nothing of the one before when the next is there."""
        for key in keys:
            self.deck.post_message(key_event(key))

    def paste_at_once(self, words: str) -> None:
        """Paste, as a terminal tells of it, right behind what was pressed."""
        self.deck.post_message(events.Paste(words))

    async def until(self, true: Until) -> None:
        """Wait until something holds; fails with the screen when it never does."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, f"never came; the screen says:\n{self.text}"
            await self.pause()

    async def sees(self, *words: str, lacks: Words = ()) -> None:
        """Wait until these words are on the screen, all at once; what it `lacks` may not be there then."""
        await self.until(lambda: all(word in self.text for word in words))
        assert not [each for each in _each(lacks) if each in self.text]

    @property
    def text(self) -> str:
        strips = self.deck.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    @property
    def unwrapped(self) -> str:
        """The screen as one line, without the frame and the scroll bar of a dialog."""
        return " ".join(re.sub(r"[\u2580-\u259f]", " ", self.text).split())

    def line(self, number: int) -> str:
        """One line of the screen, negative from the bottom."""
        return self.text.splitlines()[number]

    def line_of(self, words: str) -> str:
        return next(line for line in self.text.splitlines() if words in line)

    @property
    def session(self) -> Session:
        assert self.deck.session is not None
        return self.deck.session

    @property
    def list_screen(self) -> ListScreen[Any]:
        screen = self.deck.screen
        assert isinstance(screen, ListScreen)
        return screen

    @property
    def table(self) -> Table[Any]:
        return self.list_screen.table

    @property
    def rows(self) -> dict[str, Any]:
        return self.list_screen.rows

    @property
    def states(self) -> dict[str, RowState]:
        """What became of each row of the command for several."""
        assert self.session.job is not None
        return {row.id: row.state for row in self.session.job.rows.values()}


def _each(words: Words) -> Sequence[str]:
    return (words,) if isinstance(words, str) else words


def key_event(key: str) -> events.Key:
    """What a terminal tells of a key, which is named as Textual names it or by its character."""
    if len(key) == 1:
        return events.Key(_character_to_key(key), key)
    try:
        return events.Key(key, unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(key, key))))
    except KeyError:
        return events.Key(key, None)


def local(folder: Path, store: Mode = "merge") -> Connect:
    @asynccontextmanager
    async def connect(endpoint: Connection, key: SecretStr | None = None) -> AsyncIterator[Client]:
        service = await open_server(folder, store)
        try:
            async with served_by(service)(endpoint, key) as client:
                yield client
        finally:
            await service.aclose()

    return connect


def served_by(service: LocalService) -> Connect:
    def connect(endpoint: Connection, key: SecretStr | None = None) -> Client:
        access = Access(read_only=endpoint.read_only, app=service.app)
        return Client(endpoint.url or IN_PROCESS, key=service.key, access=access)

    return connect


def answering(server: FakeServer | None) -> Connect:
    def connect(endpoint: Connection, key: SecretStr | None = None) -> Client:
        access = Access(read_only=endpoint.read_only, transport=server, limits=FAST)
        return Client(endpoint.url or IN_PROCESS, key=key, access=access)

    return connect


@asynccontextmanager
async def seated_at(deck: Deck, size: tuple[int, int] = NARROW) -> AsyncIterator[User]:
    """A deck with somebody at it; in the end it writes its notes, as it does for a person before the prompt is back."""
    async with deck.run_test(size=size) as pilot:
        await deck.loaded.wait()
        yield User(deck, pilot)
        deck.workers.cancel_all()  # as a deck that is left does before it takes its screens apart
        await _ended(deck)  # Before Textual's own end: to cancel them a second time would interrupt what they finish.
    await _ended(deck)


async def _ended(deck: Deck) -> None:
    await asyncio.gather(*(worker.wait() for worker in list(deck.workers)), return_exceptions=True)


@asynccontextmanager
async def at_deck(
    connect: Connect,
    endpoint: Connection = LOCAL,
    *,
    size: tuple[int, int] = NARROW,
    state: KeptState | None = None,
    sees: Words = (),
) -> AsyncIterator[User]:
    """A deck of its own with somebody at it, once it shows what is to be seen."""
    deck = Deck(endpoint, connecting(connect, state), crash_folder=find_folders(os.environ).state)
    async with seated_at(deck, size) as user:
        await user.sees(*_each(sees))
        yield user


def connecting(
    connect: Connect, state: KeptState | None = None, keys: Keys | None = None, *, read_only: bool = False
) -> Callable[[Deck], Connecting]:
    """What a deck loads behind its frame: only how it connects differs from test to test."""
    folders = find_folders(os.environ)
    state, keys = state or KeptState(folders.kept / uuid4().hex), keys or Keys(folders.keys, os.environ)

    def load(deck: Deck) -> Connecting:
        deck.connections = Connections(deck.endpoint, connect, folders.connections, keys, read_only=read_only)
        deck.state = state
        return Connecting(deck, folders.preferences)

    return load
