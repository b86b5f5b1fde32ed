"""What the two lists share as screens: live rows with the keys that arrange, mark, copy, watch and look into them."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from time import monotonic
from typing import ClassVar, Generic

from textual import on, work
from textual.widget import Widget

from quarterdeck.client.errors import ServiceError
from quarterdeck.config.connections import Connection
from quarterdeck.fleet.health import Health, HealthState
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.unread import MOST
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.details import LABEL_WIDE, health_cell
from quarterdeck.tui.commands import Command, Place
from quarterdeck.tui.copying import Copyable, copy, pick_copy
from quarterdeck.tui.dialogs.lists import RowPlace, pick_unlinked
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.external import can_open_browser, may_hold_secret
from quarterdeck.tui.lists.arrangement import KeptViews, View
from quarterdeck.tui.lists.live_list import LiveList
from quarterdeck.tui.lists.sandbox_commands import SandboxCommands
from quarterdeck.tui.lists.source import R, Source
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table import Table

TICK = 1.0
"""Seconds between two looks at what changes with time alone."""
FOR_MARKED = frozenset({"pause", "resume", "delete", "notify_me"})
"""Commands that act on the marked rows when there are any; these are sorted out when it is done."""
NEED_ROWS = ("row_menu", "mark_all")
"""Commands that are about rows, besides those in the menu of a row."""


class ListScreen(DeckScreen, Generic[R]):
    """A list of live rows; a subclass says what is done to them."""

    NONE_YET: ClassVar[Shown]
    """What the reader of an empty list can do."""
    AUTO_FOCUS = "Table"
    HORIZONTAL_BREAKPOINTS = []  # a class on the screen would style every widget anew before the first frame

    def __init__(self, source: Source[R]) -> None:
        super().__init__()
        self.source = source
        self.list = LiveList(source, self._now, self.say)
        self.table, self.rows, self.filter_bar = self.list.table, self.list.rows, self.list.filter_bar
        self.arrangement = self.list.arrangement
        self.sandboxes = SandboxCommands(self, lambda: self.table.set_marks(()))
        self.helpers = (self.list, self.sandboxes)
        self._view_of: Connection | None = None
        """The connection whose view was asked for."""

    def _now(self) -> datetime:
        return self.app.clock()

    def parts(self) -> Sequence[Widget]:
        """The list."""
        return (self.list,)

    # What is said around the list

    def health(self) -> Cell:
        """How fresh the list is, or why there is none."""
        session = self.app.session
        if session is None:
            waiting = self.app.trouble is None
            return cell(Shown("connecting…"), Tone.BUSY) if waiting else cell(Shown("no server"), Tone.BAD)
        if session.server.key_refused:
            return cell(Shown("key refused"), Tone.BAD)
        return health_cell(self.source.watch(session).health, monotonic())

    def resting_line(self) -> Cell:
        """How far a command for several is, else what is wrong with the readings."""
        error = self.app.trouble
        if error is None and self.app.session is not None:
            error = self.source.watch(self.app.session).health.error
        wrong = cell(text.line(f"{error.words} {error.advice}"), Tone.BAD) if error is not None else ()
        return self.sandboxes.job_line or wrong

    def counts(self) -> Cell:
        """How many rows are marked; a subclass adds how many are how."""
        return self.list.marked()

    @on(LiveList.Changed)
    @on(Table.Marked)
    def _say_what_changed(self) -> None:
        wanted = self.app.wanted
        if wanted is not None and self.is_current and self.list.go_to(wanted):
            self.app.wanted = None
            self.looked_at(wanted)
        self._say_why_empty()
        if not self.list.is_behind:  # else those that wait change the counts again
            self.filter_bar.say(self.counts())
        self.refresh_frame()

    def _say_why_empty(self) -> None:
        if not self.table.ids:
            self.table.say_empty(*self._why_no_rows())

    def _why_no_rows(self) -> tuple[Shown, Shown]:
        session, noun = self.app.session, self.source.noun
        if self.rows:
            return Shown(f"0 of {len(self.rows):,} match."), Shown("esc shows all of them again.")
        if self.app.trouble is not None:
            return text.line(self.app.trouble.words), Shown("c chooses another server.")
        health = self.source.watch(session).health if session is not None else Health()
        if (session is not None and session.server.key_refused) or health.state is HealthState.REFUSED:
            return Shown(f"The {noun} were not read: the key is refused."), Shown("c, then K gives another key.")
        if health.read_at is None and health.error is not None:
            return Shown(f"The {noun} could not be read."), Shown("ctrl+r tries again now.")
        if health.read_at is None:
            return Shown(f"Reading the {noun}…"), Shown("")
        if health.unreadable:
            return Shown(f"{health.unreadable:,} {noun} could not be read."), Shown("L shows what was answered.")
        return Shown(f"No {noun}."), self.NONE_YET

    # News, and the passing of time

    def on_mount(self) -> None:
        """Show what is known already, and let time pass."""
        self.set_interval(TICK, self._pass_time)
        self._follow()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        self._follow()

    def hear(self, news: News) -> None:
        """A list that is not shown catches up when it is."""
        if self.is_current:
            super().hear(news)

    def on_news(self, told: Sequence[News]) -> None:
        """Bring the rows up to date that the news is about."""
        super().on_news(told)
        if self.app.session is not self.list.session or any(each.moved and each.about is About.SERVER for each in told):
            self._follow()
        else:
            self.list.take(told)
            self._say_why_empty()

    def _follow(self) -> None:
        """Show what the session knows, also another one than before, and tell it what is looked at."""
        session = self.app.session
        self.list.follow(session)
        self._say_what_changed()
        self._look()
        if session is not None and self._view_of != self.app.endpoint and self.is_current:
            self._view_of = self.app.endpoint
            self._read_view(self.app.endpoint)

    def _pass_time(self) -> None:
        if self.is_current:
            self.list.pass_time()
            self.refresh_health()

    @on(Table.Seen)
    def _look(self) -> None:
        if self.app.session is not None and self.is_current:
            self.app.session.look(self.source.about, self.table.visible_ids)

    @on(Table.Highlighted)
    def _cursor_moved(self) -> None:
        self.refresh_frame()

    # How a person arranges the list: read when a connection opens, written when it changed

    @work(exclusive=True, group="view")
    async def _read_view(self, endpoint: Connection) -> None:
        before = self.arrangement.view
        try:
            kept = await self.app.state.read(KeptViews, endpoint.about)
        except ServiceError as error:
            self.say_error(error)
            return
        if self.arrangement.view == before and endpoint == self._view_of:
            view = kept.views.get(self.source.noun, View()) if kept is not None else View()
            view = view.among([column.key for column in self.source.columns])
            if view != before:
                self.list.take_view(view)

    @on(LiveList.Arranged)
    @work(group="keep view")
    async def _keep_view(self) -> None:
        """Keep the view; what is written is how it is when its turn has come."""
        if self._view_of is None:
            return

        def change(kept: KeptViews | None) -> KeptViews:
            return KeptViews(
                views={**(kept.views if kept is not None else {}), self.source.noun: self.arrangement.view}
            )

        try:
            await self.app.state.change(KeptViews, self._view_of.about, change)
        except ServiceError as error:
            self.say_error(error)

    def action_refresh(self) -> None:
        """Read again now, and put every row into its place."""
        self.list.put_in_order()
        self.app.action_refresh()

    # What is done with a row

    def why_not(self, command: Command) -> str | None:
        """A command about a row needs one."""
        reason = super().why_not(command)
        if reason is not None:
            return reason
        about_rows = command.row or command.name in NEED_ROWS
        if about_rows and self.table.cursor_row is None and not self.table.marks:
            return f"{command.label}: there is no row here."
        if command.name == "mark_none" and not self.table.marks:
            return "Nothing is marked; space marks a row."
        if command.name == "show_all" and not self.filter_bar.words:
            return f"All {self.source.noun} are shown; / filters them."
        row, for_marked = self.table.cursor_row, command.name in FOR_MARKED and bool(self.table.marks)
        return self.why_not_row(command.name, row) if row is not None and not for_marked else None

    def why_not_row(self, name: str, row: R) -> str | None:
        """Why a command of that name can't be done with a row."""
        raise NotImplementedError

    @on(Table.Chosen)
    async def _row_chosen(self) -> None:
        await self.action_command("open")

    async def action_open(self) -> None:
        """Open the row: what there is to see of it is its detail."""
        await self.action_detail()

    def at_cursor(self) -> tuple[Session, R] | None:
        """The session and the row that a command is about, None where there is no row."""
        session, row = self.app.session, self.table.cursor_row
        return (session, row) if session is not None and row is not None else None

    def row_title(self) -> Shown:
        """What the row under the cursor is called."""
        row = self.table.cursor_row
        return self.title_of(row) if row is not None else Shown("")

    async def action_detail(self) -> None:
        """Show everything about the row, as it changes."""
        row = self.table.cursor_row
        if row is not None:
            row_id = row.id
            self.looked_at(row_id)
            dialog = PageDialog(self.title_of(row), lambda: self.full_detail_of(row_id), label=LABEL_WIDE)
            await self.app.push_screen(dialog, lambda _: self.looked_at(row_id))

    def looked_at(self, row_id: str) -> None:
        """Somebody begins or ends to look at a row."""

    def full_detail_of(self, row_id: str) -> list[Cell]:
        """Everything known about a row, for a page of its own."""
        return self.list.detail_of(row_id) or [cell(Shown("It is gone."), Tone.WARN)]

    def title_of(self, row: R) -> Shown:
        """What a row is called."""
        return text.line(row.id)

    def copies_of(self, row: R) -> Sequence[Copyable]:
        """What can be copied of a row."""
        raise NotImplementedError

    def watched_of(self, row: R) -> str | None:
        """The conversation that is watched when a row is, None where there is none."""
        raise NotImplementedError

    async def action_copy(self) -> None:
        """Choose what to copy of the row."""
        row = self.table.cursor_row
        if row is not None:
            dialog = pick_copy(self.title_of(row), self.copies_of(row))
            await self.app.push_screen(dialog, partial(copy, self))

    def open_address(self, address: str, shown: str) -> None:
        """Open an address in a browser where there is one; else copy it, for the machine one sits at."""
        if can_open_browser():
            self.app.open_url(address)
            self.say(text.line(f"Opened {shown}"))
        else:
            self.app.copy_to_clipboard(address)
            secret = " whole: it holds a password or token" if may_hold_secret(address) else ""
            self.say(text.line(f"No browser here; copied {shown}{secret}"))

    def action_notify_me(self) -> None:
        """Watch the conversation of the row, or of all that are marked; where all are watched, end it."""
        session = self.app.session
        rows, hidden = self.list.targets()
        found = tuple(dict.fromkeys(filter(None, (self.watched_of(row) for row in rows if row.id not in hidden))))
        if session is None or not found:
            self.say(Shown("None of these has a conversation to watch."), Tone.WARN)
            return
        record = session.conversations.records.get(found[0])
        what = (record.title if record is not None else None) or found[0]
        what = what if len(found) == 1 else f"{len(found)} conversations"
        if all(each in session.unread.watched for each in found):
            session.unwatch(found)
            self.say(text.line(f"No longer watching {what}."))
        elif left_out := session.watch(found):
            words = f"{MOST} can be watched at a time; {len(left_out)} of these are not. w again ends one."
            self.say(Shown(words), Tone.WARN)
        else:
            tells = "this line says" if self.app.quiet else "a bell says"
            self.say(text.line(f"Watching {what}: {tells} when it needs you or ends."), Tone.GOOD)

    @property
    def unsaved(self) -> bool:
        """Whether a command for several rows that was asked for here has not come to its end."""
        return self.sandboxes.is_under_way

    async def may_leave(self) -> bool:
        """Ask whether the rest of that command is given up."""
        return await self.sandboxes.may_leave()

    # From one list to the other

    async def go_to(self, place: Place, row_id: str) -> None:
        """Show a row of the other list, or of this one."""
        self.app.wanted = row_id
        if place is self.PLACE:
            self._say_what_changed()
        else:
            await self.app.show(place)

    async def action_no_conversation(self) -> None:
        """Show the sandboxes without a conversation and the conversations without a sandbox, and go to one."""
        session = self.app.session
        if session is not None:
            await self.app.push_screen(pick_unlinked(session.find_unlinked(), self.app.clock()), self._unlinked_chosen)

    async def _unlinked_chosen(self, to: RowPlace | None) -> None:
        if to is not None:
            await self.go_to(to.place, to.id)
