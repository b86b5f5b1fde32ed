"""What the two list screens share: rows kept up to date, filter, order, side pane, and moving between the lists."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from time import monotonic
from typing import Generic

from textual import events, getters, on, work
from textual.containers import Horizontal, VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Command, Place
from quarterdeck.tui.lists.arrangement import Arrangement
from quarterdeck.tui.lists.listing import Listing, R, health_cell, known
from quarterdeck.tui.news import About, News
from quarterdeck.tui.opening import can_open_browser
from quarterdeck.tui.paint import lines
from quarterdeck.tui.screens.base import WIDE, DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.live_table import LiveTable
from quarterdeck.tui.widgets.table_messages import Chosen, Highlighted, Seen, SortAsked

REST = 10.0
"""Rest after a rebuild, as a multiple of the time it took."""
NEEDS_ROW = frozenset({"detail", "pause", "resume", "delete", "other", "open_url", "copy"})
"""Commands that are about the row under the cursor."""


class ListScreen(DeckScreen, Generic[R]):
    """A live list of what its `listing` lists."""

    CSS_PATH = "listing.tcss"
    AUTO_FOCUS = "LiveTable"
    HORIZONTAL_BREAKPOINTS = []  # a class on the screen would style every widget anew before the first frame

    filter_bar = getters.query_one(FilterBar)
    side = getters.query_one("#side-text", Static)

    def __init__(self, listing: Listing[R]) -> None:
        super().__init__()
        self.listing = listing
        self.all: dict[str, R] = {}
        """Every row by id, filtered out or not."""
        self.arrangement = Arrangement(listing)
        self._side_says: list[Cell] = []
        self._rebuild_timer: Timer | None = None
        self._rebuilt_at = self._rebuild_took = 0.0

    def parts(self) -> Iterable[Widget]:
        """Counts and filter, the table, and at its side what is known of the row under the cursor."""
        yield FilterBar(Shown(self.listing.tokens))
        table = LiveTable(self.listing.columns, clock=self.app.clock, id="table")
        yield Horizontal(table, VerticalScroll(Static(id="side-text"), id="side", can_focus=False), id="list")

    @property
    def table(self) -> LiveTable[R]:
        """The table."""
        return self.query_one("#table", LiveTable)

    def on_resize(self, event: events.Resize) -> None:
        """The side pane is there where there is room for it."""
        self.query_one("#side").display = event.size.width >= WIDE

    # Keeping the rows up to date

    def on_mount(self) -> None:
        """Show what is known already, and let time pass."""
        super().on_mount()
        self.set_interval(1.0, self._tick)
        self.rebuild()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self.rebuild()
        self._look()

    def on_news(self, news: News) -> None:
        """Bring the rows up to date that the news is about."""
        if not self.is_current:
            return
        if news.about in self.listing.also or news.moved or news.about is About.SERVER:
            self._rebuild_soon()
        elif news.about is self.listing.about:
            self._update(news.ids)

    def _rebuild_soon(self) -> None:
        """Rebuild at once, or after a rest that keeps a long list that streams in from taking the keys' time."""
        rest = self._rebuilt_at + REST * self._rebuild_took - monotonic()
        if rest <= 0:
            self.rebuild()
        elif self._rebuild_timer is None:
            self._rebuild_timer = self.set_timer(rest, self.rebuild)

    def rebuild(self) -> None:
        """Make all rows anew, in order."""
        if self._rebuild_timer is not None:
            self._rebuild_timer.stop()
            self._rebuild_timer = None
        began = monotonic()
        self._rebuild()
        self._rebuilt_at = monotonic()
        self._rebuild_took = self._rebuilt_at - began

    def _rebuild(self) -> None:
        session, now = self.app.session, self.app.clock()
        fresh: dict[str, R] = {}
        for row_id in self.listing.ids(session) if session is not None else ():
            row = self.listing.row(session, row_id, now, self.all.get(row_id)) if session is not None else None
            if row is not None:
                fresh[row_id] = row
        self.all = fresh
        self.table.show(self.arrangement.arrange(fresh.values(), self.table.rows, now, monotonic()))
        self.table.say_empty(*self._nothing())
        self.filter_bar.say(self._counts())
        self._go_to_wanted()
        self._show_row()
        self.refresh_frame()

    def _update(self, ids: Iterable[str]) -> None:
        """Make these rows anew; only when one of them changes its place is the whole list shown again."""
        session, now = self.app.session, self.app.clock()
        if session is None:
            return
        changed: dict[str, R] = {}
        for row_id in ids:
            before = self.all.get(row_id)
            row = self.listing.row(session, row_id, now, before)
            if row is None or before is None or self._may_move(row, before):
                self._rebuild_soon()
                return
            if row is not before:
                self.all[row_id] = changed[row_id] = row
        self.table.patch(changed)
        if not self.all:
            self.table.say_empty(*self._nothing())
        if changed:
            self.filter_bar.say(self._counts())
            self._show_row()
        self.refresh_frame()

    def _may_move(self, row: R, before: R) -> bool:
        key, now = self.arrangement.key, self.app.clock()
        return bool(self.arrangement.filter) or key(row, now) != key(before, now)

    def _tick(self) -> None:
        if self.is_current:
            self.table.tick()
            self.refresh_frame()

    def _look(self) -> None:
        if self.app.session is not None and self.is_current:
            self.app.session.look(self.listing.about, self.table.visible_ids)

    # What is said around the table

    def health(self) -> Cell:
        """How fresh the list is, or why there is none."""
        session = self.app.session
        if session is None:
            return (
                cell(Shown("connecting…"), Tone.BUSY)
                if self.app.trouble is None
                else cell(Shown("no server"), Tone.BAD)
            )
        if session.key_refused:
            return cell(Shown("key refused"), Tone.BAD)
        return health_cell(self.listing.health(session), monotonic())

    def resting_line(self) -> Cell:
        """What is wrong with the readings, if anything is."""
        error = self.app.trouble
        if error is None and self.app.session is not None:
            error = self.listing.health(self.app.session).error
        return cell(text.line(f"{error.words} {error.advice}"), Tone.BAD) if error is not None else ()

    def _counts(self) -> Cell:
        counts = self.listing.counts(self.all.values(), self.app.clock())
        if not self.arrangement.filter:
            return counts
        shown = Shown(f"{len(self.table.rows)} of {len(self.all)}  ")
        return ((shown, Tone.EDITED), *counts)

    def _nothing(self) -> tuple[Shown, Shown]:
        if self.all:
            return Shown(f"0 of {len(self.all)} match."), Shown("esc shows all of them again.")
        if self.app.trouble is not None:
            return text.line(self.app.trouble.words), Shown("c chooses another server.")
        return self.listing.nothing(self.app.session)

    def _show_row(self) -> None:
        row = self.table.cursor_row
        said = known(self.listing.detail(row, self.app.clock())) if row is not None else []
        if said != self._side_says:
            self._side_says = said
            self.side.update(lines(said))

    # Keys

    def why_not(self, command: Command) -> str | None:
        """A command about a row needs one."""
        reason = super().why_not(command)
        if reason is None and command.name in NEEDS_ROW and self.table.cursor_row is None:
            return f"{command.label}: there is no row here."
        return reason

    def action_filter(self) -> None:
        """Type into the filter."""
        self.filter_bar.open()

    def action_show_all(self) -> None:
        """Forget the filter."""
        self.filter_bar.action_clear()

    @on(FilterBar.Changed)
    def _filter_rows(self, event: FilterBar.Changed) -> None:
        self.arrangement.filter_by(event.words)
        self.rebuild()

    @on(FilterBar.Done)
    def _back_to_table(self) -> None:
        self.table.focus()

    @on(Highlighted)
    def _cursor_moved(self) -> None:
        self.arrangement.moved(monotonic())
        self._show_row()
        self.refresh_frame()

    @on(Seen)
    def _other_rows_seen(self) -> None:
        self._look()

    @on(Chosen)
    async def _row_chosen(self) -> None:
        await self.action_command("detail")

    @on(SortAsked)
    def _title_clicked(self, event: SortAsked) -> None:
        chosen = self.arrangement
        self._sort_by(event.key, reverse=chosen.column == event.key and not chosen.reverse)

    def action_sort(self) -> None:
        """Sort by the next column; after the last one the default order comes back."""
        self._sort_by(self.arrangement.next_column, reverse=False)

    def action_reverse(self) -> None:
        """Turn the order round."""
        self._sort_by(self.arrangement.column, reverse=not self.arrangement.reverse)

    def _sort_by(self, key: str | None, *, reverse: bool) -> None:
        self.arrangement.sort_by(key, reverse=reverse)
        self.table.sorted_by(key, reverse=reverse)
        self.rebuild()
        by = "by what needs a look first" if key is None else f"by {key}"
        self.say(Shown(f"Sorted {by}{', reversed' if reverse else ''}: these rows, as read so far."))

    @work(exclusive=True, group="dialog")
    async def action_detail(self) -> None:
        """Show everything about the row, as it changes."""
        from quarterdeck.tui.dialogs.detail import DetailDialog

        row = self.table.cursor_row
        if row is not None:
            said = partial(self._detail_of, row.id)
            await self.app.push_screen_wait(DetailDialog(self._title_of(row), said))

    def _detail_of(self, row_id: str) -> list[Cell]:
        row = self.all.get(row_id)
        return (
            self.listing.detail(row, self.app.clock()) if row is not None else [cell(Shown("It is gone."), Tone.WARN)]
        )

    def _title_of(self, row: R) -> Shown:
        return text.line(row.id)

    def action_copy(self) -> None:
        """Copy the id of the row."""
        row = self.table.cursor_row
        if row is not None:
            self.app.copy_to_clipboard(row.id)
            self.say(text.line(f"Copied {row.id}, if your terminal takes copies (OSC 52)."))

    def open_address(self, address: str, shown: str) -> None:
        """Open an address in a browser where there is one; else copy it, for the machine one sits at."""
        if can_open_browser():
            self.app.open_url(address)
            self.say(text.line(f"Opened {shown}"))
        else:
            self.app.copy_to_clipboard(address)
            self.say(text.line(f"No browser here; copied {shown}"))

    # From one list to the other

    def go_to(self, place: Place, row_id: str) -> None:
        """Show a row of the other list."""
        self.app.wanted = row_id
        self.app.show(place)

    def _go_to_wanted(self) -> None:
        wanted = self.app.wanted
        if wanted is None or not self.is_current or wanted not in self.all:
            return
        self.app.wanted = None
        if not self.table.move_to(wanted):
            self.filter_bar.clear()
            self.arrangement.filter_by("")
            self.call_after_refresh(self.table.move_to, wanted)
