"""The part of the deck that its screens know: the connection they share, the clock, and moving between screens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual import work
from textual.message import Message
from textual.reactive import var
from textual.signal import Signal

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.news import About, News
from quarterdeck.tui import text
from quarterdeck.tui.commands import Place
from quarterdeck.tui.connections import Connections
from quarterdeck.tui.kept_state import RunState
from quarterdeck.tui.keys_in_order import KeysInOrder
from quarterdeck.tui.releases import Releases
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.client.client import Client
    from quarterdeck.config.connections import Connection
    from quarterdeck.fleet.session import Session
    from quarterdeck.tui.kept_state import RunState


class Reading(NamedTuple):
    """Where somebody reads a conversation: an entry and a line of it, None at the end, and what is unfolded."""

    place: tuple[str, int] | None = None
    unfolded: frozenset[str] = frozenset()


Connect = Callable[["Connection", "SecretStr | None"], AbstractAsyncContextManager["Client"]]
"""Opens a client for a connection; a key of None means the one its configuration names."""
OTHER_SCREENS = (
    "quarterdeck.tui.dialogs.connections",
    "quarterdeck.tui.screens.sandboxes",
)
"""What is imported in a thread once the first records are there, so that no key waits for it later: little."""
OPENING = "opening"
"""Mode of the screen that stands for the settings while they are imported.

A mode of its own: Textual replaces no screen that a mode began with, and paints on behind one that lies over it.
"""
SHOWN_AFTER = 0.5
"""Seconds that the first rows have to reach the screen, with nothing else in their way."""


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class ConnectedApp(KeysInOrder):
    """An app that follows one endpoint at a time; `connect` opens a client for it after the first frame."""

    edits: var[int] = var(0)
    """Unsaved edits in the settings."""

    class ConnectionAsked(Message):
        """Somebody should choose a connection, or give another key."""

    class Said(Message, bubble=False):
        """A sentence for whichever screen is shown, also below a dialog."""

        def __init__(self, words: Shown) -> None:
            super().__init__()
            self.words = words

    def __init__(
        self,
        endpoint: Connection,
        connect: Connect,
        *,
        crash_folder: Path,
        connections: Connections | None = None,
        state: RunState | None = None,
        notices: Sequence[str] = (),
        quiet: bool = False,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__()
        self.endpoint = endpoint
        self.connections = connections or Connections()
        self.state = state or RunState()
        """What outlives a run."""
        self.notices = notices
        """Sentences to show once there is a screen."""
        self.quiet = quiet
        """Whether nobody wants to be called by a bell or a notice."""
        self.releases = Releases(self.state)
        self.clock = clock
        self.crash_folder = crash_folder
        self.session: Session | None = None
        self.trouble: ServiceError | None = None
        """Why there is no session, when opening it failed."""
        self.wanted: str | None = None
        """The id a list should move to as soon as it has it."""
        self.readings: dict[str, Reading] = {}
        """Of conversations that were opened, by id."""
        self.session_news: Signal[News] = Signal(self, "session")
        self._connect = connect
        self._key_refused = False
        self._other_screens_asked = False
        self._has_settings = False

    @property
    def client(self) -> Client | None:
        """The open client, or None while there is none."""
        return self.session.client if self.session is not None else None

    def on_ready(self) -> None:
        """The first frame is on the screen: now the heavy work may begin."""
        self.open_session(self.endpoint)

    @work(exclusive=True, group="session")
    async def open_session(self, endpoint: Connection) -> None:
        """Follow an endpoint until another one is opened; the old one is closed first."""
        endpoint = self.connections.opened_as(endpoint)
        from quarterdeck.fleet.session import Session

        self.endpoint, self.session, self.trouble = endpoint, None, None
        self._key_refused = False
        self.session_news.publish(News(About.SERVER, moved=True))
        try:
            async with self.client_of(endpoint) as client:
                self.session = Session(client, self._publish, self.clock, self.state, endpoint.about)
                self.run_worker(self.connections.opened(endpoint), group="opened")
                await self.session.run()
        except ServiceError as error:
            self.session, self.trouble = None, error
            self.session_news.publish(News(About.SERVER, moved=True))

    def client_of(self, endpoint: Connection, key: SecretStr | None = None) -> AbstractAsyncContextManager[Client]:
        """Open a client with that key, else with the one typed in this run, else with the one that is kept."""
        return self._connect(endpoint, key or self.connections.typed_key(endpoint))

    def _publish(self, news: News) -> None:
        release = self.session.release if self.session is not None else ""
        if release and release != self.releases.at(self.endpoint):
            self.run_worker(self.releases.saw(self.endpoint, release), group="release")
        if news.wanted is not None:
            self.wanted = news.wanted
        self.session_news.publish(news)
        if news.everywhere:
            self._say_everywhere(news)
        if not self._other_screens_asked:
            self._other_screens_asked = True
            self.set_timer(SHOWN_AFTER, self._import_other_screens)
        if self.session is not None and self.session.key_refused and not self._key_refused:
            self._key_refused = True
            self.ask_for_connection()

    def _say_everywhere(self, news: News) -> None:
        """Say it on the screen, also below a dialog, and call the person where that is asked for."""
        words = text.line(news.words)
        self.say_on_top(words)
        if news.call and not self.quiet:
            self.call_person(words)

    def say_on_top(self, words: Shown) -> None:
        """Say it where the person looks: in the dialog that is open, and on the screen below."""
        for screen in self.screen_stack:
            screen.post_message(self.Said(words))

    def call_person(self, words: Shown) -> None:
        """Ring, and have the terminal show a notice where it can."""
        from quarterdeck.tui.notice import notice

        self.bell()
        if self._driver is not None and not self.is_headless:
            self._driver.write(notice(words, os.environ))

    @work(group="other screens")
    async def _import_other_screens(self) -> None:
        for name in OTHER_SCREENS:
            await asyncio.to_thread(import_module, name)

    def ask_for_connection(self) -> None:
        """Have the person choose a connection, or give another key."""
        self.post_message(self.ConnectionAsked())

    def action_refresh(self) -> None:
        """Read everything again now."""
        if self.session is not None:
            self.session.refresh(asked=True)

    def on_app_blur(self) -> None:
        """The terminal lost the focus: read less often."""
        if self.session is not None:
            self.session.rest(hidden=True)

    def on_app_focus(self) -> None:
        """The terminal has the focus again."""
        if self.session is not None:
            self.session.rest(hidden=False)

    @property
    def place(self) -> Place:
        """Where the person is."""
        return Place.SETTINGS if self.current_mode == OPENING else Place(self.current_mode)

    def show(self, place: Place) -> None:
        """Show a screen; for the settings the one that opens them, until they are imported."""
        mode = OPENING if place is Place.SETTINGS and not self._has_settings else place
        if place is Place.CONVERSATION:
            mode = Place.CONVERSATIONS  # it lies above the list
        if mode != self.current_mode:
            self.switch_mode(mode)

    def settings_imported(self) -> None:
        """Show the settings in place of the screen that opened them."""
        self._has_settings = True
        self.switch_mode(Place.SETTINGS)
        self.remove_mode(OPENING)
