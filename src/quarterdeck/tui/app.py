"""The deck itself: which screens there are, the connection they share, and leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import Place, commands_at
from quarterdeck.tui.connected import OPENING, Connect, utc_now
from quarterdeck.tui.connecting import ConnectingApp
from quarterdeck.tui.connections import Connections
from quarterdeck.tui.kept_state import RunState
from quarterdeck.tui.text import Shown, escaped
from quarterdeck.tui.theme import THEMES, variable_defaults

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection
    from quarterdeck.tui.kept_state import RunState
    from quarterdeck.tui.screens.base import DeckScreen


ANSWERED_WITHIN = 3.0
"""Seconds that a write under way gets when somebody leaves."""


def _conversations() -> Screen[None]:
    from quarterdeck.tui.screens.conversations import ConversationsScreen

    return ConversationsScreen()


def _sandboxes() -> Screen[None]:
    from quarterdeck.tui.screens.sandboxes import SandboxesScreen

    return SandboxesScreen()


def _settings() -> Screen[None]:
    from quarterdeck.tui.screens.settings import SettingsScreen

    return SettingsScreen()


def _opening() -> Screen[None]:
    from quarterdeck.tui.screens.settings_opening import SettingsOpening

    return SettingsOpening()


class Deck(ConnectingApp):
    """The deck: three screens on one connection."""

    TITLE = "Quarterdeck"
    CSS_PATH = ["quarterdeck.tcss", "screens/list.tcss"]  # with that of the first screen, all is parsed once
    BINDINGS = [Binding("ctrl+q", "quit", "Quit", show=False, priority=True)]
    MODES = {Place.SANDBOXES: _sandboxes, OPENING: _opening, Place.SETTINGS: _settings}
    DEFAULT_MODE = Place.CONVERSATIONS

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
        theme: str = "quarterdeck-dark",
        clock: Callable[[], datetime] = utc_now,
        on_theme: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(
            endpoint,
            connect,
            crash_folder=crash_folder,
            connections=connections,
            state=state,
            notices=notices,
            quiet=quiet,
            clock=clock,
        )
        for own in THEMES:
            self.register_theme(own)
        self.set_reactive(Deck.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())
        self._on_theme = on_theme
        self.unanswered: tuple[str, ...] = ()
        """What was asked of the server and left without an answer."""

    def get_default_screen(self) -> Screen[None]:
        """The conversations: the first screen of a mode would have all styles parsed twice more, and be drawn twice."""
        screen = _conversations()
        self.add_mode(Place.CONVERSATIONS, _conversations)
        return screen

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme; none as long as it is one that Textual begins with and nobody will see."""
        return super().get_css_variables() if THEMES[0].name in self.available_themes else {}

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The deck's own colours, for themes that do not name them."""
        return variable_defaults(self.current_theme)

    def copy_to_clipboard(self, text: str) -> None:
        """Put a text into the clipboard of the terminal, with nothing in it that acts on who it is pasted to."""
        super().copy_to_clipboard(escaped(text))

    def on_ready(self) -> None:
        """Say what could not be used of what the deck was given."""
        if self.notices:
            self._tell([(text.line(" ".join(self.notices)), Tone.BAD)])

    def watch_edits(self) -> None:
        """Show the number of edits in the header."""
        for screen in self.deck_screens():
            screen.refresh_frame()

    # Moving between screens

    def deck_screens(self) -> list[DeckScreen]:
        """The screens that exist so far."""
        from quarterdeck.tui.screens.base import DeckScreen

        stacks = self._screen_stacks.values()
        return [screen for stack in stacks for screen in stack if isinstance(screen, DeckScreen) and screen.is_mounted]

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

    def action_request_log(self) -> None:
        """Show the requests made so far."""
        from quarterdeck.tui.columns.details import log_lines
        from quarterdeck.tui.dialogs.page import PageDialog

        client = self.client
        log = partial(log_lines, lambda: client.log if client is not None else ())
        self.push_screen(PageDialog(Shown("Requests, newest first"), log))

    def action_help(self) -> None:
        """Show the keys that work here."""
        from quarterdeck.tui.dialogs.help import HelpDialog
        from quarterdeck.tui.screens.base import DeckScreen

        self.push_screen(HelpDialog(self.screen.PLACE if isinstance(self.screen, DeckScreen) else self.place))

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
                title = f"{command.label} ({command.key})" if command.keys else command.label
                yield SystemCommand(title, command.help, callback)

    # Leaving

    async def action_quit(self) -> None:
        """Quit the deck, unless there is something in the way."""
        self._quit()

    @work(exclusive=True, group="leave")
    async def _quit(self) -> None:
        """Leave the deck, unless there are edits that the person wants to keep; a write under way gets its time."""
        if self.unanswered:
            self.exit(1, 1)
        elif await self._may_leave():
            await self._wait_for_writes()
            self.exit(int(bool(self.unanswered)), int(bool(self.unanswered)))

    async def _wait_for_writes(self) -> None:
        """Give what was asked of the server a moment to be answered; what is not is in `unanswered` then."""
        session = self.session
        if session is None or not session.writes.words:
            return
        self.unanswered = session.writes.words
        self.say_on_top(text.line(f"waiting for the answer to: {', '.join(self.unanswered)}; ctrl+q again leaves now"))
        with suppress(TimeoutError):
            await asyncio.wait_for(session.writes.all_answered(), ANSWERED_WITHIN)
        self.unanswered = session.writes.words

    async def action_back(self) -> None:
        """Go back to the conversations; from there ask whether to quit."""
        from quarterdeck.tui.dialogs.confirm import ConfirmDialog

        if self.place is not Place.CONVERSATIONS:
            self.show(Place.CONVERSATIONS)
            return
        said = (((Shown("Sandboxes keep running."), Tone.MUTED),),)
        await self.push_screen(ConfirmDialog(Shown("Quit Quarterdeck?"), said), self._quit_confirmed)

    def _quit_confirmed(self, yes: bool | None) -> None:
        if yes:
            self._quit()

    def action_help_quit(self) -> None:
        """Tell who types ctrl+c what does leave."""
        self._tell([(Shown("ctrl+q leaves the deck."), Tone.WARN)])

    async def _may_leave(self) -> bool:
        for screen in self.deck_screens():
            if screen.unsaved:
                self.show(screen.PLACE)
                if not await screen.may_leave():
                    return False
        return True
