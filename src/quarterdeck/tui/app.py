"""The deck itself: which screens there are, the connection they share, and leaving."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import SystemCommand
from textual.binding import Binding
from textual.reactive import var
from textual.screen import Screen
from textual.signal import Signal

from quarterdeck.service.errors import ServiceError
from quarterdeck.tui.commands import Place, commands_at
from quarterdeck.tui.crash import CrashSafe
from quarterdeck.tui.text import Shown
from quarterdeck.tui.theme import THEMES, variable_defaults

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.service.client import ServiceClient
    from quarterdeck.service.endpoint import Endpoint
    from quarterdeck.tui.news import News
    from quarterdeck.tui.screens.base import DeckScreen
    from quarterdeck.tui.session import Connect, Session


def _conversations() -> Screen[None]:
    from quarterdeck.tui.screens.conversations import ConversationsScreen

    return ConversationsScreen()


def _sandboxes() -> Screen[None]:
    from quarterdeck.tui.screens.sandboxes import SandboxesScreen

    return SandboxesScreen()


def _settings() -> Screen[None]:
    from quarterdeck.tui.screens.settings import SettingsScreen

    return SettingsScreen()


HEAVY = (
    "quarterdeck.tui.session",
    "quarterdeck.tui.screens.sandboxes",
    "quarterdeck.tui.screens.settings",
)
"""What is imported after the first frame, in a thread, so that no key waits for it."""


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class Deck(CrashSafe):
    """The deck on one endpoint; `connect` opens a client for it after the first frame."""

    TITLE = "Quarterdeck"
    CSS_PATH = "quarterdeck.tcss"
    BINDINGS = [Binding("ctrl+q", "leave", "Quit", show=False, priority=True)]
    MODES = {
        Place.CONVERSATIONS: _conversations,
        Place.SANDBOXES: _sandboxes,
        Place.SETTINGS: _settings,
    }
    DEFAULT_MODE = Place.CONVERSATIONS

    edits: var[int] = var(0)
    """Unsaved edits in the settings."""

    def __init__(
        self,
        endpoint: Endpoint,
        connect: Connect,
        *,
        theme: str = "quarterdeck-dark",
        clock: Callable[[], datetime] = utc_now,
        on_theme: Callable[[str], None] | None = None,
        crash_folder: Path,
    ) -> None:
        super().__init__()
        for own in THEMES:
            self.register_theme(own)
        self.set_reactive(Deck.theme, theme)
        self.endpoint = endpoint
        self.clock = clock
        self.crash_folder = crash_folder
        self.session: Session | None = None
        self.trouble: ServiceError | None = None
        """Why there is no session, when opening it failed."""
        self.wanted: str | None = None
        """The id a list should move to as soon as it has it."""
        self.session_news: Signal[News] = Signal(self, "session")
        self._connect = connect
        self._on_theme = on_theme
        self._asked_for_key = False

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The deck's own colours, for themes that do not name them."""
        return variable_defaults(self.current_theme)

    @property
    def client(self) -> ServiceClient | None:
        """The open client, or None while there is none."""
        return self.session.client if self.session is not None else None

    # The connection

    def on_ready(self) -> None:
        """The first frame is on the screen: now the heavy work may begin."""
        self.call_after_refresh(self.open_session, self.endpoint)

    @work(exclusive=True, group="session")
    async def open_session(self, endpoint: Endpoint, key: SecretStr | None = None) -> None:
        """Follow an endpoint until another one is opened; the old one is closed first."""
        await asyncio.to_thread(_import_all, HEAVY)
        from quarterdeck.tui.news import About, News
        from quarterdeck.tui.session import Session

        self.endpoint, self.session, self.trouble = endpoint, None, None
        self._asked_for_key = False
        self.session_news.publish(News(About.SERVER, moved=True))
        try:
            async with self._connect(endpoint, key) as client:
                self.session = Session(client, self._on_news, self.clock)
                await self.session.run()
        except ServiceError as error:
            self.session, self.trouble = None, error
            self.session_news.publish(News(About.SERVER, moved=True))

    def _on_news(self, news: News) -> None:
        self.session_news.publish(news)
        if self.session is not None and self.session.key_refused and not self._asked_for_key:
            self._asked_for_key = True
            self.action_connect()

    def watch_edits(self) -> None:
        """Show the number of edits in the header."""
        for screen in self.deck_screens():
            screen.refresh_frame()

    def on_app_blur(self) -> None:
        """The terminal lost the focus: read less often."""
        if self.session is not None:
            self.session.rest(hidden=True)

    def on_app_focus(self) -> None:
        """The terminal has the focus again."""
        if self.session is not None:
            self.session.rest(hidden=False)

    # Moving between screens

    def deck_screens(self) -> list[DeckScreen]:
        """The screens that exist so far."""
        from quarterdeck.tui.screens.base import DeckScreen

        stacks = self._screen_stacks.values()
        return [screen for stack in stacks for screen in stack if isinstance(screen, DeckScreen) and screen.is_mounted]

    def show(self, place: Place) -> None:
        """Show a screen."""
        if place != self.current_mode:
            self.switch_mode(place)

    def action_conversations(self) -> None:
        """Show the conversations."""
        self.show(Place.CONVERSATIONS)

    def action_sandboxes(self) -> None:
        """Show the sandboxes."""
        self.show(Place.SANDBOXES)

    def action_settings(self) -> None:
        """Show the settings."""
        self.show(Place.SETTINGS)

    # What works everywhere

    @work(exclusive=True, group="dialog")
    async def action_connect(self) -> None:
        """Choose another server or enter a key, then open it."""
        from quarterdeck.tui.dialogs.connection import ConnectionDialog

        chosen = await self.push_screen_wait(ConnectionDialog(self.endpoint, self._why_connect()))
        if chosen is None or not await self._may_leave():
            return
        self.open_session(chosen.endpoint, chosen.key)

    def _why_connect(self) -> str:
        if self.session is not None and self.session.key_refused:
            return "The server refused the key."
        error = self.trouble or (self.session.trouble if self.session is not None else None)
        return f"{error.words} {error.advice}" if error is not None else ""

    def action_read_again(self) -> None:
        """Read everything again now."""
        if self.session is not None:
            self.session.refresh()

    def action_request_log(self) -> None:
        """Show the requests made so far."""
        from quarterdeck.tui.dialogs.detail import DetailDialog
        from quarterdeck.tui.lists.request_log import log_lines

        client = self.client
        log = partial(log_lines, lambda: client.log if client is not None else ())
        self.push_screen(DetailDialog(Shown("Requests, newest first"), log))

    def action_help(self) -> None:
        """Show the keys that work here."""
        from quarterdeck.tui.dialogs.help import HelpDialog

        self.push_screen(HelpDialog(Place(self.current_mode)))

    def action_switch_theme(self) -> None:
        """Switch between the dark and the light theme."""
        dark, light = (own.name for own in THEMES)
        self.theme = light if self.theme == dark else dark
        if self._on_theme is not None:
            self._on_theme(self.theme)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers: the commands of the screen it was opened on."""
        from quarterdeck.tui.screens.base import DeckScreen

        if isinstance(screen, DeckScreen):
            for command in commands_at(screen.PLACE):
                callback = partial(screen.action_command, command.name)
                yield SystemCommand(f"{command.label} ({command.key})", command.help, callback)

    # Leaving

    @work(exclusive=True, group="dialog")
    async def action_leave(self) -> None:
        """Leave the deck, unless there are edits that the person wants to keep."""
        if await self._may_leave():
            self.exit(0)

    async def _may_leave(self) -> bool:
        for screen in self.deck_screens():
            if screen.unsaved:
                self.show(screen.PLACE)
                if not await screen.may_leave():
                    return False
        return True


def _import_all(names: Iterable[str]) -> None:
    for name in names:
        importlib.import_module(name)
