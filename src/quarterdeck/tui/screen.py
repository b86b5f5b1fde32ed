"""The base of all screens: header, message line, key bar, and running a command for a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import isawaitable
from time import monotonic
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.events import DescendantBlur, DescendantFocus, Key, Resize, ScreenResume, Unmount
from textual.screen import Screen
from textual.widget import Widget

from quarterdeck.client.errors import ServiceError
from quarterdeck.config.files import ConfigError
from quarterdeck.fleet.news import News
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.details import log_lines
from quarterdeck.tui.commands import Command, Place, command_at, commands_at, key_bar_hints, most_needed_first
from quarterdeck.tui.dialogs.page import PageDialog, help_page
from quarterdeck.tui.dialogs.pick import Offer, menu
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Header, HeaderState, Hint, KeyBar, MessageLine, Said, unused_key
from quarterdeck.tui.widgets.watch_strip import WatchStrip

LEAST_WIDTH, LEAST_HEIGHT = 60, 20
"""Columns and lines that a screen needs."""
NO_ROW = "It was opened for other rows; esc closes this menu."
STILL_TYPING = 0.5
"""Seconds within which a key belongs to what was typed before it, and is no command if that went nowhere."""
TYPED_BEFORE = "That was typed while the form was closing and did nothing; press it again."
TOO_SMALL = cell(f"Enlarge to {LEAST_WIDTH}x{LEAST_HEIGHT}.", Tone.WARN)  # one line also where there are few


class DeckScreen(Screen[None]):
    """A screen of the deck: a subclass sets its `PLACE` and yields the widgets between header and key bar."""

    PLACE: ClassVar[Place]

    app = getters.app(Deck)

    def __init__(self) -> None:
        super().__init__()
        self.header = Header(self.PLACE)
        self.watch_strip = WatchStrip()
        self.message_line = MessageLine()
        self.key_bar = KeyBar()
        self.helpers: tuple[object, ...] = ()
        """Parts of the screen that have actions of their own."""

    def compose(self) -> ComposeResult:
        """Header, the screen's own parts, the watched conversations, message line and key bar."""
        yield self.header
        yield from self.parts()
        yield self.watch_strip
        yield self.message_line
        yield self.key_bar

    def parts(self) -> Iterable[Widget]:
        """The widgets between the header and the message line."""
        return ()

    def on_mount(self) -> None:
        """Receive news of the connection from now on."""
        self.app.opened.append(self)
        self.watch(self.app, "edits", self.refresh_frame)

    @on(Unmount)
    def _close(self) -> None:
        self.app.opened.remove(self)

    def on_news(self, news: News) -> None:
        """Handle news of the connection; a subclass adds what it shows."""
        if self.is_current:
            self.refresh_frame()

    @on(Said)
    def _say_it_here_too(self, said: Said) -> None:
        self.say(said.words, Tone.WARN)

    @on(Resize)
    @on(ScreenResume)
    @on(DescendantFocus)
    @on(DescendantBlur)
    def _catch_up_with_frame(self) -> None:
        self.refresh_frame()

    # Header, key bar and message line

    def health(self) -> Cell:
        """How fresh the data of this screen is, in a few words."""
        return ()

    def resting_line(self) -> Cell:
        """The content of the message line while there is no message."""
        return ()

    def hints(self) -> tuple[Hint, ...]:
        """The content of the key bar: the keys that work where the focus is."""
        return key_bar_hints(self.PLACE, lambda command: self.why_not(command) is None)

    def refresh_frame(self) -> None:
        """Update header, key bar and message line; paints only what changed."""
        self.refresh_health()
        self.key_bar.hints = self.hints()

    def refresh_health(self) -> None:
        """Update the parts that show how fresh the data is: header and message line."""
        session = self.app.session
        release = text.line(session.server.release) if session is not None else Shown("")
        self.header.state = HeaderState(self.app.endpoint, release, self.health(), self.app.edits)
        too_small = self.size.width < LEAST_WIDTH or self.size.height < LEAST_HEIGHT
        self.message_line.resting = TOO_SMALL if too_small else self.resting_line()
        watched = session.unread.by_urgency(session.conversations.records) if session is not None else ()
        self.watch_strip.show(watched, self.app.clock())

    def say(self, sentence: str, tone: Tone = Tone.PLAIN) -> None:
        """Show one sentence in the message line, until the next command or for a while."""
        self.message_line.say(sentence, tone)

    def say_error(self, error: ServiceError) -> None:
        """Show what went wrong and what can be done."""
        self.say(error.sentences, Tone.BAD)

    @contextmanager
    def saying_errors(self) -> Iterator[None]:
        """Show the error that ends what is done inside."""
        try:
            yield
        except ServiceError as error:
            self.say_error(error)
        except ConfigError as error:
            self.say(error.sentence, Tone.BAD)

    # From a key to its command

    def why_not(self, command: Command) -> str | None:
        """Return why a command cannot be done now and what would help, None if it can."""
        if command.changes and self.app.endpoint.read_only:
            return f"{command.label}: this connection is read-only, nothing is changed on the server."
        if command.changes and self.app.client is None:
            return f"{command.label}: not connected yet."
        return None

    async def action_command(self, name: str) -> None:
        """Run a command, or show why not."""
        reason = self.why_not(command_at(self.PLACE, name))
        if monotonic() - self.app.key_lost_at < STILL_TYPING:
            self.app.key_lost_at, reason = monotonic(), TYPED_BEFORE
        if reason is not None:
            self.say(reason, Tone.WARN)
            return
        self.message_line.clear()
        await self.run_command(name)

    async def run_command(self, name: str) -> None:
        """Run a command that can be done; its action is a method of the screen, a helper or the app."""
        owner = next(each for each in (self, *self.helpers, self.app) if hasattr(each, f"action_{name}"))
        done = getattr(owner, f"action_{name}")()
        if isawaitable(done):
            await done

    def on_key(self, event: Key) -> None:
        """Say that a key does nothing."""
        if key := unused_key(event):
            self.message_line.say(f"{key} does nothing here; {self.where_keys_are()}.", Tone.WARN, passing=True)

    def on_paste(self) -> None:
        """Say that pasted text does nothing."""
        self.message_line.say("Pasted text does nothing here.", Tone.WARN, passing=True)

    def where_keys_are(self) -> str:
        """What helps somebody who pressed a key that does nothing."""
        return "? shows the keys"

    async def action_help(self) -> None:
        """Show the keys that work here."""
        await self.app.push_screen(help_page(self.PLACE))

    async def action_request_log(self) -> None:
        """Show the requests made so far."""

        def lines() -> list[Cell]:
            return log_lines(self.app.client.log if self.app.client is not None else ())

        await self.app.push_screen(PageDialog("Requests, newest first", lines, wide=True))

    @property
    def row_id(self) -> object:
        """What tells the row that commands apply to from the others."""
        return None

    def row_title(self) -> str:
        """The name of the row under the cursor."""
        return ""

    def row_commands(self) -> Iterable[Command]:
        """The commands for the row under the cursor, in the order of its menu."""
        return (command for command in commands_at(self.PLACE) if command.row)

    def action_row_menu(self) -> None:
        """Show every command for the row under the cursor, and why some cannot be done."""
        self._choose_command(self.row_title(), self.row_commands)

    def action_command_palette(self) -> None:
        """Find a command by its name, the most needed first."""
        self._choose_command("Commands", partial(most_needed_first, self.PLACE), filtered=True)

    @work(exclusive=True, group="dialog")
    async def _choose_command(
        self, title: str, commands: Callable[[], Iterable[Command]], *, filtered: bool = False
    ) -> None:
        """Offer commands, and do the one that is chosen, one for a row only while the cursor is on the same row."""
        opened_for, for_row = self.row_id, {each.name for each in self.row_commands()}

        def is_gone(name: str) -> bool:
            return self.row_id != opened_for and (not filtered or name in for_row)

        def offers() -> Iterator[Offer]:
            reasons = ((each, NO_ROW if is_gone(each.name) else self.why_not(each)) for each in commands())
            return ((each, reason and _alone(reason, each)) for each, reason in reasons)

        chosen = await self.app.push_screen_wait(menu(title, offers, filtered=filtered))
        if chosen is not None and not is_gone(chosen):
            await self.action_command(chosen)

    async def may_leave(self) -> bool:
        """Ask about unsaved edits, if there are any. Runs inside a worker."""
        return True


def _alone(reason: str, command: Command) -> str:
    """Return why a command cannot be done, as a sentence that stands beside its label."""
    words = reason.removeprefix(f"{command.label}: ")
    return words[:1].upper() + words[1:]
