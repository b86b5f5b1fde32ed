"""A screen of live rows: kept up to date at the cost of what changed, with a side pane about the row of the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING, Generic

from textual import events, getters, on, work
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.lists.arrangement import Arrangement
from quarterdeck.tui.lists.listing import Listing, R, health_cell, known
from quarterdeck.tui.lists.live_rows import LiveRows
from quarterdeck.tui.live.news import About, News
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.lines import Lines
from quarterdeck.tui.widgets.live_table import LiveTable
from quarterdeck.tui.widgets.table_messages import Highlighted, Seen

if TYPE_CHECKING:
    from quarterdeck.tui.live.session import Session

ROOM_BESIDE = 116
"""Width from which the row under the cursor is described beside the list without taking columns that matter."""
HELD = Shown("order held")
"""Said while rows stand still although their places are other ones."""
AGED_AFTER = 4.0
"""Seconds in which nothing on the screen gets older: each look at all ages costs, and so does each byte sent."""
SILENCE = 6.0
"""Seconds without a reading after which ages are looked at nevertheless: with one, they are painted with its news."""
HURRIED = 1.0
"""Seconds between two looks while something is between two states, or the next try of a reading is counted down."""

AT_ONCE = 300
"""Rows that are made in one go: a few milliseconds, for no key may wait for all of a long list."""
RENEWAL = "renewal"


class LiveList(DeckScreen, Generic[R]):
    """The rows of a `listing`, those its arrangement lets through, in its order."""

    CSS_PATH = "listing.tcss"
    AUTO_FOCUS = "LiveTable"
    HORIZONTAL_BREAKPOINTS = []  # a class on the screen would style every widget anew before the first frame

    filter_bar = getters.query_one(FilterBar)
    side = getters.query_one("#side-text", Lines)

    def __init__(self, listing: Listing[R]) -> None:
        super().__init__()
        self.listing = listing
        self.rows = LiveRows(listing)
        self.arrangement = Arrangement(listing, self.rows)
        self._side_says: list[Cell] = []
        self._aged_at = 0.0
        self._filled: Session | None = None
        """Whose rows these are."""
        self._told: Session | None = None
        """Who knows what is on the screen."""

    def parts(self) -> Iterable[Widget]:
        """Counts and filter, the table, and at its side what is known of the row under the cursor."""
        yield FilterBar(Shown(self.listing.grammar.hint))
        table = LiveTable(self.listing.columns, clock=self.app.clock, id="table")
        side = VerticalScroll(Lines(id="side-text"), id="side", can_focus=False)
        side.display = self.app.size.width >= ROOM_BESIDE
        yield Horizontal(table, side, id="list")

    @property
    def table(self) -> LiveTable[R]:
        """The table."""
        return self.query_one("#table", LiveTable)

    def on_resize(self, event: events.Resize) -> None:
        """The side pane is there where there is room for it."""
        if event.size == self.size:
            event.prevent_default()  # laid out for it already, when it came to be shown
        self.query_one("#side").display = event.size.width >= ROOM_BESIDE

    # Keeping the rows up to date

    def on_mount(self) -> None:
        """Show what is known already, and let time pass."""
        super().on_mount()
        self._silence = self.set_timer(SILENCE, self._tick)
        self._hurry = self.set_interval(HURRIED, self._tick, pause=True)
        self.rebuild()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self._wait_for_silence()
        self._catch_up()
        self._look()

    def on_screen_suspend(self) -> None:
        """Let no time pass while another screen is shown; behind a dialog it goes on."""
        if not self.is_current:
            self._silence.stop()
            self._hurry.pause()

    def on_news(self, told: Sequence[News]) -> None:
        """Bring the rows up to date that the news is about."""
        if not self.is_current:
            return
        for news in told:
            if news.words:
                self.say(text.line(news.words), Tone.WARN)
        session = self.app.session
        if session is not self._told:
            self._look()
        moved = {news.about for news in told if news.moved}
        if About.SERVER in moved:
            self.rebuild()
        elif self.listing.about in moved:
            self._catch_up()
        elif session is not None:
            self._pass_time(session, chain.from_iterable(self.listing.touched(session, news) for news in told))

    def rebuild(self) -> None:
        """Make all rows anew, in order."""
        self.workers.cancel_group(self, RENEWAL)
        self._filled, now = self.app.session, self.app.clock()
        self.arrangement.fill(self.rows.fill(self.app.session, now), now)
        self.show_rows()

    def _catch_up(self) -> None:
        """Bring all rows up to date; of a long list those on the screen first, and the others a few at a time."""
        session = self.app.session
        if session is None or session is not self._filled or len(self.rows) <= AT_ONCE:
            self.rebuild()
        else:
            self._update(self.table.visible_ids)
            self._renew(session)

    @work(exclusive=True, group=RENEWAL)
    async def _renew(self, session: Session) -> None:
        ids = iter(dict.fromkeys((*self.rows, *self.listing.ids(session))))
        while (few := tuple(islice(ids, AT_ONCE))) and self.is_current and session is self.app.session:
            self._update(few)
            await asyncio.sleep(0)

    def show_rows(self) -> None:
        """Show the rows as they are arranged now."""
        self.table.look_up(self.arrangement.ids, self.rows)
        if not self.arrangement.ids:
            self.table.say_empty(*self._nothing())
        self._go_to_wanted()
        self._rows_changed(at_cursor=True)

    def _update(self, ids: Iterable[str]) -> None:
        """Make these rows anew; only when one of them comes, goes or changes its place is the list shown again."""
        session, now = self.app.session, self.app.clock()
        if session is None:
            return
        changes = self.rows.update(session, ids, now)
        if not changes:
            if not self.rows:
                self.table.say_empty(*self._nothing())
            self._rows_changed(at_cursor=False)
            return
        if changes.gone & self.table.marks:
            self.table.set_marks(self.table.marks - changes.gone)
        if self.arrangement.take(changes, now, monotonic(), self.table.visible_ids):
            self.show_rows()
        else:
            self.table.patch(changes.changed)
            self._rows_changed(at_cursor=self.table.cursor_id in changes.changed)

    def _rows_changed(self, *, at_cursor: bool) -> None:
        self.filter_bar.say(self.counts())
        if at_cursor:
            self._show_row()
            self.refresh_frame()
        else:
            self.refresh_health()

    def _tick(self) -> None:
        if self.is_current and self.app.session is not None:
            self._pass_time(self.app.session, ())

    def _pass_time(self, session: Session, touched: Iterable[str]) -> None:
        """Bring rows up to date, and what changes with time: words, places that were held, filters, ages."""
        now, moment = self.app.clock(), monotonic()
        passing = tuple(self.listing.passing(session, now))
        self._update(dict.fromkeys((*touched, *passing)))
        moved = self.arrangement.settle(now, moment)
        aged = moment - self._aged_at >= AGED_AFTER
        if aged and self.arrangement.passing:
            moved |= self.arrangement.sift(now)
        if moved:
            self.show_rows()
        elif aged:
            self._show_row()
        if aged:
            self._aged_at = moment
            self.table.tick()
            self._wait_for_silence()
        hurried = bool(passing) or self.arrangement.settling or self.listing.health(session).error is not None
        (self._hurry.resume if hurried else self._hurry.pause)()

    def _wait_for_silence(self) -> None:
        self._silence.stop()
        self._silence = self.set_timer(SILENCE, self._tick)

    def _look(self) -> None:
        """Tell a session what is on the screen; a new one hears it also where that is what it was before."""
        if self.app.session is not None and self.is_current:
            self._told = self.app.session
            self.app.session.look(self.listing.about, self.table.visible_ids)

    @on(Seen)
    def _other_rows_seen(self) -> None:
        self._look()

    @on(Highlighted)
    def _cursor_moved(self) -> None:
        self.arrangement.moved(monotonic())
        self._show_row()
        self.refresh_frame()

    # What is said around the table

    def health(self) -> Cell:
        """How fresh the list is, or why there is none."""
        session = self.app.session
        if session is None:
            waiting = self.app.trouble is None
            return cell(Shown("connecting…"), Tone.BUSY) if waiting else cell(Shown("no server"), Tone.BAD)
        if session.key_refused:
            return cell(Shown("key refused"), Tone.BAD)
        return health_cell(self.listing.health(session), monotonic())

    def resting_line(self) -> Cell:
        """What is wrong with the readings, if anything is."""
        error = self.app.trouble
        if error is None and self.app.session is not None:
            error = self.listing.health(self.app.session).error
        return cell(text.line(f"{error.words} {error.advice}"), Tone.BAD) if error is not None else ()

    def counts(self) -> Cell:
        """How many rows are in which state, and whether they keep places that are not theirs any more."""
        held = cell(HELD, Tone.MUTED) if self.arrangement.held else ()
        return (*self.listing.counts(self.rows.counts), *held)

    def _nothing(self) -> tuple[Shown, Shown]:
        if self.rows:
            return Shown(f"0 of {len(self.rows):,} match."), Shown("esc shows all of them again.")
        if self.app.trouble is not None:
            return text.line(self.app.trouble.words), Shown("c chooses another server.")
        return self.listing.nothing(self.app.session)

    def _show_row(self) -> None:
        row = self.table.cursor_row
        said = known(self.detail_of(row)) if row is not None else []
        if said != self._side_says:
            self._side_says = said
            self.side.say(said)

    def detail_of(self, row: R) -> list[Cell]:
        """Everything known about a row."""
        return self.listing.detail(row, self.app.clock())

    def _go_to_wanted(self) -> None:
        """Put the cursor on the row that was asked for elsewhere, once it is there."""
        wanted = self.app.wanted
        if wanted is not None and self.is_current and wanted in self.rows and self.table.move_to(wanted):
            self.app.wanted = None
