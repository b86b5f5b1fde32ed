"""The app: a frame that is shown at once, the screens that are loaded behind it, and leaving.

Of the libraries, this module imports only Textual. httpx, pydantic and everything that needs them are imported in a
thread while the frame is shown; keys typed meanwhile are kept and given to the first screen.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rich.console import RenderableType
from textual import work
from textual.app import ComposeResult
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Static

from quarterdeck.config.connections import Connection
from quarterdeck.fleet.ages import utc_now
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.commands import Place, bindings, key_bar_hints
from quarterdeck.tui.keys_in_order import KeysInOrder
from quarterdeck.tui.text import Shown, escaped
from quarterdeck.tui.theme import THEMES
from quarterdeck.tui.widgets.bars import Header, HeaderState, KeyBar, MessageLine, Said

if TYPE_CHECKING:  # types of modules that are loaded behind the frame
    from quarterdeck.client.client import Client
    from quarterdeck.client.errors import ServiceError
    from quarterdeck.fleet.bulk import BulkJob
    from quarterdeck.fleet.news import News
    from quarterdeck.fleet.session import Session
    from quarterdeck.tui.connections import Connections
    from quarterdeck.tui.conversation.drafts import Drafts
    from quarterdeck.tui.conversation.log import ReadingPosition
    from quarterdeck.tui.kept_state import KeptState

SCREENS = {
    Place.CONVERSATIONS: ("quarterdeck.tui.screens.conversations", "ConversationsScreen"),
    Place.SANDBOXES: ("quarterdeck.tui.screens.sandboxes", "SandboxesScreen"),
    Place.SETTINGS: ("quarterdeck.tui.screens.settings", "SettingsScreen"),
    Place.CONVERSATION: ("quarterdeck.tui.screens.conversation", "ConversationScreen"),
}
"""The module and class of each screen."""
FIRST_ROWS_WITHIN = 0.5
"""Seconds for the first rows to arrive; the other screens are imported after that or when needed."""
CONNECTED_WITHIN = 1.0
"""Seconds that keys typed ahead wait for the connection, which their commands may need."""
ANSWERED_WITHIN = 3.0
"""Seconds that the app waits for unanswered writes when a person leaves."""
LONGEST_NOTICE = 200
"""Characters of a desktop notification; desktops show no more."""


class Connector(Protocol):
    """What opens connections; it is loaded behind the frame (`connecting.py`)."""

    def open(self, connection: Connection) -> None:
        """Follow a connection until another one is opened."""

    def switch(self, connection: Connection) -> None:
        """Open a connection, after questions about what would be lost."""

    async def choose(self) -> None:
        """Show the connections, and open the one that is chosen."""

    def remember(self, **what: str) -> None:
        """Save a choice for the next run."""

    async def may_end_job(self) -> bool:
        """Ask whether to give up the rest of a running bulk job. Runs inside a worker."""


class OpenScreen(Protocol):
    """A mounted screen of the deck (`screen.py`)."""

    message_line: MessageLine

    async def may_leave(self) -> bool:
        """Ask about unsaved edits, if there are any. Runs inside a worker."""

    def on_news(self, news: News) -> None:
        """Handle news of the connection."""

    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Call something in the screen's own task."""


@runtime_checkable
class OpenForm(Protocol):
    """A dialog with fields (`dialogs/form.py`)."""

    def may_close(self) -> bool:
        """Whether it may close: nothing typed is lost then, or this is asked a second time."""


class Frame(Screen[None]):
    """What is shown until the screens are loaded: the first screen without its rows."""

    def __init__(self, endpoint: Connection) -> None:
        super().__init__()
        self._endpoint = endpoint

    def compose(self) -> ComposeResult:
        """Header, an empty list and the key bar."""
        header, key_bar = Header(Place.CONVERSATIONS), KeyBar()
        header.state = HeaderState(self._endpoint, health=cell("connecting…", Tone.BUSY))
        key_bar.hints = key_bar_hints(Place.CONVERSATIONS, lambda command: not command.changes)
        yield header
        yield Static(id="list")
        yield key_bar


class Deck(KeysInOrder):
    """The screens on one connection; `load` creates the `Connector`, and is called in a thread behind the frame."""

    TITLE = "Quarterdeck"
    CSS_PATH = "quarterdeck.tcss"
    ENABLE_COMMAND_PALETTE = False  # `DeckScreen` has one, whose commands run before the keys that follow
    SUSPENDED_SCREEN_CLASS = "-below"
    BINDINGS = bindings({"ctrl+q": "quit"}, priority=True)

    edits: var[int] = var(0)
    """Number of unsaved edits in the settings."""
    connecting: Connector
    connections: Connections
    state: KeptState
    """The state kept between runs."""
    drafts: Drafts
    """The messages to the open connection that were not sent; there once it is open."""

    def __init__(
        self,
        endpoint: Connection,
        load: Callable[[Deck], Connector],
        *,
        crash_folder: Path,
        notices: Sequence[str] = (),
        quiet: bool = False,
        theme: str | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__()
        for own in THEMES:
            self.register_theme(own)
        usual = THEMES[0].name
        self.set_reactive(Deck.theme, theme if theme in [own.name for own in THEMES] else usual)
        self.stylesheet.set_variables(self.get_css_variables())
        self.crash_folder = crash_folder
        self.clock = clock
        self.quiet = quiet
        """Whether bell and desktop notifications are turned off."""
        self.endpoint = endpoint
        self.session: Session | None = None
        self.trouble: ServiceError | None = None
        """Why there is no session, if opening it failed."""
        self.opened: list[OpenScreen] = []
        """The mounted screens of the deck; each adds itself."""
        self.wanted: str | None = None
        """The id that a list should move its cursor to as soon as the row exists; random until the server tells it.

        A cursor that somebody moved meanwhile stays there, and of several starts it goes to the last.
        """
        self.key_lost_at = 0.0
        """When a key went nowhere, in a form that the answer to its request has closed since."""
        self.reading_positions: dict[str, ReadingPosition] = {}
        """The place last read in each conversation, by id."""
        self._has_waited = False
        """Whether somebody who wants to leave has waited for unanswered writes."""
        self._asks_to_leave = False
        """Whether a person is being asked about leaving."""
        self.exit_messages: dict[str, None] = {}
        """Messages printed after the deck has ended, each once."""
        self.connected = asyncio.Event()
        """Set once the first connection is open, or could not be opened."""
        self.loaded = asyncio.Event()
        """Set once the first screen exists."""
        self.notices = list(notices)
        """Messages for the first screen."""
        self._load = load
        self._screens: dict[Place, Callable[..., Screen[None]]] = {}
        """The imported screen classes."""
        self.hold_keys()

    @property
    def client(self) -> Client | None:
        """The open client, None while there is none."""
        return self.session.client if self.session is not None else None

    # From the frame to the first screen

    def get_default_screen(self) -> Screen[None]:
        """The frame."""
        return Frame(self.endpoint)

    @work(group="load")
    async def on_ready(self) -> None:
        """Load what connects, then the screens, once the frame is shown.

        The server is already being read while they are imported.
        """
        self.connecting = await asyncio.to_thread(self._load, self)
        self.connecting.open(self.endpoint)
        await self.show(Place.CONVERSATIONS)
        self.loaded.set()
        if self.notices:
            self.say_on_top(" ".join(self.notices))
        with suppress(TimeoutError):
            async with asyncio.timeout(CONNECTED_WITHIN):
                await self.connected.wait()
        self.release_keys()
        await asyncio.sleep(FIRST_ROWS_WITHIN)
        for place in SCREENS:
            await self._load_screen(place)

    # Messages on whichever screen is shown

    def say_on_top(self, words: str, *, in_dialogs: bool = True) -> None:
        """Show a message on the current screen and in the dialog above it."""
        for screen in self.screen_stack:
            if in_dialogs or not screen.is_modal:
                screen.post_message(Said(words))

    def forget_messages(self) -> None:
        """Take back what the screens say: it was about a connection that was open, or about waiting."""
        for screen in self.opened:
            screen.message_line.clear()

    def call_person(self, words: Shown) -> None:
        """Ring the bell, and have the terminal show a notification if it can."""
        self.bell()
        self.send_to_terminal(notice(words, os.environ))

    # Moving between screens

    async def show(self, place: Place) -> None:
        """Show a screen and wait until it is mounted."""
        await self._load_screen(place)
        await self.switch_mode(place)

    async def show_conversation(self, session: Session, conversation_id: str) -> None:
        """Show one conversation above the current screen."""
        screen = await self._load_screen(Place.CONVERSATION)
        await self.push_screen(screen(session, conversation_id))

    async def _load_screen(self, place: Place) -> Callable[..., Screen[None]]:
        """Import a screen in a thread, unless that was done already."""
        if place not in self._screens:
            module, name = SCREENS[place]
            screen: Callable[..., Screen[None]] = getattr(await asyncio.to_thread(import_module, module), name)
            if place not in self._screens:  # otherwise it was requested twice at the same time
                self._screens[place] = screen
                if place is not Place.CONVERSATION:
                    self.add_mode(place, screen)
        return self._screens[place]

    async def action_conversations(self) -> None:
        """Show the conversations."""
        await self.show(Place.CONVERSATIONS)

    async def action_sandboxes(self) -> None:
        """Show the sandboxes."""
        await self.show(Place.SANDBOXES)

    async def action_settings(self) -> None:
        """Show the settings."""
        await self.show(Place.SETTINGS)

    # Commands that work everywhere

    async def action_connect(self) -> None:
        """Choose a connection, or enter another key."""
        await self.connecting.choose()

    def action_refresh(self) -> None:
        """Read everything again now; open again what could not be opened."""
        if self.session is not None:
            self.session.refresh(asked=True)
        elif self.trouble is not None:
            self.connecting.open(self.endpoint)

    def watch_terminal_focus(self, focused: bool) -> None:
        """Poll less often while another terminal has the focus."""
        if self.session is not None:
            self.session.rest(hidden=not focused)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a tab without another place to those who say that it does nothing."""
        if action in ("focus_next", "focus_previous"):
            return any(each is not self.focused for each in self.screen.focus_chain)
        return super().check_action(action, parameters)

    def action_switch_theme(self) -> None:
        """Switch between the dark and the light theme."""
        if self.no_color:
            self.say_on_top("There are no colours to switch: NO_COLOR is set.")
            return
        dark, light = (own.name for own in THEMES)
        self.theme = light if self.theme == dark else dark
        self.connecting.remember(theme=self.theme)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text to the terminal's clipboard, with control characters escaped."""
        super().copy_to_clipboard(escaped(text))

    def on_text_selected(self) -> None:
        """Copy what was selected with the mouse."""
        if selected := self.screen.get_selected_text():
            self.say_on_top(self.copy_text("the selection", selected))

    def copy_text(self, what: str, value: str, then: str = "") -> str:
        """Copy a text, and return the message about it; `then` is what can be done if the terminal takes no copies."""
        self.copy_to_clipboard(value)
        return f"Copied {what}, if your terminal takes copies (OSC 52){then}.{text.escape_note(value)}"

    def action_help_quit(self) -> None:
        """Answer ctrl+c with the key that quits."""
        self.say_on_top("ctrl+q leaves the deck.")

    # Leaving

    @property
    def running_job(self) -> BulkJob | None:
        """The last bulk command of the open connection, if it has not ended."""
        job = self.session.job if self.session is not None else None
        return None if job is None or job.ended else job

    async def action_quit(self) -> None:
        """Quit the deck, unless something prevents it."""
        if self._asks_to_leave:
            self.say_on_top("Answer this first.")
        elif not all(screen.may_close() for screen in self.screen_stack if isinstance(screen, OpenForm)):
            self.say_on_top("ctrl+q again leaves and drops what you typed.")
        else:
            self.leave()

    @work(exclusive=True, group="leave")
    async def leave(self) -> None:
        """Leave the deck, unless the person wants to keep unsaved edits; unanswered writes get some time first.

        They come before the edits because one of them may be the save of those edits. Leaving a second time does not
        wait.
        """
        if not self._has_waited:
            self._has_waited = True
            await self.wait_for_writes(f"ctrl+q again {'asks' if self.edits else 'leaves'} now")
        if await self.may_leave():
            left = self.session.writes.words if self.session is not None else ()
            if left:
                words = f"left without the answer to: {', '.join(left)}; look whether it happened"
                self.exit_messages[words] = None
            self.exit(int(bool(left)), int(bool(left)))
        self._has_waited = False

    def exit(self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the deck, even while it is still loading."""
        self.workers.cancel_group(self, "load")
        super().exit(result, return_code, message)

    async def may_leave(self) -> bool:
        """Whether the connection may be left: asks about a running bulk job and unsaved edits. Runs inside a worker."""
        self._asks_to_leave = True
        try:
            if self.session is not None and not await self.connecting.may_end_job():
                return False
            for screen in tuple(self.opened):
                if not await screen.may_leave():
                    return False
            return True
        finally:
            self._asks_to_leave = False

    async def wait_for_writes(self, then: str) -> None:
        """Wait a moment for unanswered writes, but for none of a bulk job, which goes on; `then` says what follows."""
        session = self.session
        if session is not None and session.writes.words and self.running_job is None:
            waits = ", ".join(session.writes.words)
            self.say_on_top(f"Waiting for the answer to: {waits}; {then}.")
            await session.writes.all_answered(ANSWERED_WITHIN)
            self.forget_messages()


def notice(words: Shown, environ: Mapping[str, str]) -> str:
    """Return the sequence that shows a desktop notification; empty for a terminal that would print it.

    Most terminals use OSC 777 (urxvt, VTE, foot, kitty, WezTerm, Ghostty), iTerm2 uses OSC 9; others ignore it. tmux
    drops both, but passes on a wrapped sequence if its `allow-passthrough` is on.
    """
    if environ.get("TERM", "").startswith("linux"):
        return ""
    said = words.replace(";", ",").replace("\n", " ")[:LONGEST_NOTICE]
    iterm = environ.get("LC_TERMINAL") == "iTerm2" or environ.get("TERM_PROGRAM") == "iTerm.app"
    sequence = f"\x1b]9;{Deck.TITLE}: {said}\x07" if iterm else f"\x1b]777;notify;{Deck.TITLE};{said}\x07"
    if not environ.get("TMUX"):
        return sequence
    return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
