"""A screen of live rows, kept up to date at the cost of what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from time import monotonic
from typing import TYPE_CHECKING

from textual import on, work

from quarterdeck.fleet.news import About, News
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.lists.listing import Listing, R
from quarterdeck.tui.screens.rows_screen import RowsScreen
from quarterdeck.tui.widgets.table import Table

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session

AGED_AFTER = 10.0
"""Seconds in which nothing on the screen gets older: ages say minutes, and each look at all of them costs."""
SILENCE = 6.0
"""Seconds without news after which time passes nevertheless: with news, it passes with them."""
HURRIED = 2.5
"""The same while a row that is seen is between two states; longer than it takes until such a row is read again."""
COUNTED = 1.0
"""The same while the next try of a reading is counted down."""
ALL_AT_ONCE = 300
"""Rows of a list that is short enough to be made anew as a whole."""
AT_ONCE = 100
"""Rows that are made in one go: a few milliseconds, for no key may wait for all of a long list."""
PAUSE = 0.005
"""Seconds between them, in which keys are answered."""
FEW = 20
"""Rows that are made with the news of them, seen or not."""
RENEWAL = "renewal"


class LiveList(RowsScreen[R]):
    """Rows that are what the session knows of them."""

    def __init__(self, listing: Listing[R]) -> None:
        super().__init__(listing)
        self._aged_at = 0.0
        self._filled: Session | None = None
        """Whose rows these are."""
        self._told: Session | None = None
        """Who knows what is on the screen."""
        self._behind: dict[str, None] = {}
        """Rows that wait to be brought up to date, in order; those that are seen do not wait."""
        self._passed: dict[str, None] = {}
        """Rows that may have changed with time, and that nobody sees."""
        self._patience = SILENCE
        self._silence: asyncio.TimerHandle | None = None

    def on_mount(self) -> None:
        """Show what is known already, and let time pass."""
        self._wait(SILENCE)
        self.rebuild()

    def on_unmount(self) -> None:
        """Let no more time pass."""
        self._stop_waiting()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        self._wait(SILENCE)
        self._catch_up()
        self._look()

    def on_screen_suspend(self) -> None:
        """Let no time pass while another screen is shown; behind a dialog it goes on."""
        if not self.is_current:
            self._stop_waiting()
            self._behind.clear()

    def _hear(self, news: News) -> None:
        """A list that is not shown catches up when it is."""
        if self.is_current:
            super()._hear(news)

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
        self._behind.clear()
        self._filled, now = self.app.session, self.app.clock()
        self.arrangement.fill(self.rows.fill(self.app.session, now), now)
        self.show_rows()

    def _catch_up(self) -> None:
        """Bring all rows up to date; of a long list those on the screen first, and the others a few at a time."""
        session = self.app.session
        if session is None or session is not self._filled or len(self.rows) <= ALL_AT_ONCE:
            self.rebuild()
        else:
            self._update(self.table.visible_ids)
            self._renew(session, chain(self.rows, self.listing.ids(session)))

    def _renew(self, session: Session, ids: Iterable[str]) -> None:
        """Bring rows up to date that nobody sees, as soon as nothing else is to be done."""
        waiting = bool(self._behind)
        self._behind.update(dict.fromkeys(ids))
        if self._behind and not waiting:
            self._go_through(session)

    @work(exclusive=True, group=RENEWAL)
    async def _go_through(self, session: Session) -> None:
        while self._behind and session is self.app.session:
            few = tuple(islice(self._behind, AT_ONCE))
            for row_id in few:
                del self._behind[row_id]
            self._update(few)
            await asyncio.sleep(PAUSE)

    def action_refresh(self) -> None:
        """Read again now, and put rows into their places that were held, also the one under the cursor."""
        self.arrangement.let_go()
        if self.arrangement.settle(self.app.clock(), monotonic()):
            self.show_rows()
        self.app.action_refresh()

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
        visible = self.table.visible_ids
        if self.arrangement.take(changes, now, monotonic(), visible=visible, cursor=self._under_cursor):
            self.show_rows()
        else:
            self.table.patch(changes.changed)
            self._rows_changed(at_cursor=self.table.cursor_id in changes.changed)

    @property
    def _under_cursor(self) -> str | None:
        """The id under the cursor, None where that was scrolled off the screen."""
        cursor = self.table.cursor_id
        return cursor if cursor in self.table.visible_ids else None

    def _rows_changed(self, *, at_cursor: bool) -> None:
        if not self._behind:  # else those that wait change the counts again
            self.filter_bar.say(self.counts())
        if at_cursor:
            self._show_row()
            self.refresh_frame()
        else:
            self.refresh_health()

    def _pass_silence(self) -> None:
        if self.is_current and self.app.session is not None:
            self._pass_time(self.app.session, ())

    def _pass_time(self, session: Session, touched: Iterable[str]) -> None:
        """Bring rows up to date, and what changes with time: words, places that were held, filters, ages."""
        now, moment = self.app.clock(), monotonic()
        aged = moment - self._aged_at >= AGED_AFTER
        passing = tuple(self.listing.passing(session, now))
        self._update(self._due(session, tuple(touched), passing, aged=aged))
        moved = self.arrangement.settle(now, moment, cursor=self._under_cursor)
        if aged and self.arrangement.passing:
            moved |= self.arrangement.sift(now)
        if moved:
            self.show_rows()
        elif aged:
            self._show_row()
        if aged:
            self._aged_at = moment
            self.table.tick()
        self._wait(self._patience_with(session, passing))

    def _patience_with(self, session: Session, passing: Iterable[str]) -> float:
        """How long to wait for news, given what changes with time."""
        if self.listing.health(session).error is not None:
            return COUNTED
        if self.arrangement.settling or not frozenset(self.table.visible_ids).isdisjoint(passing):
            return HURRIED
        return SILENCE

    def _wait(self, seconds: float) -> None:
        """Let time pass after so many seconds without news; a timer of Textual is a task, and this is done often.

        It passes as a message: a screen that is being taken apart takes none.
        """
        self._stop_waiting()
        self._patience = seconds
        self._silence = asyncio.get_running_loop().call_later(seconds, self.call_later, self._pass_silence)

    def _stop_waiting(self) -> None:
        if self._silence is not None:
            self._silence.cancel()

    def _due(self, session: Session, touched: Sequence[str], passing: Sequence[str], *, aged: bool) -> Iterable[str]:
        """Which of many rows to bring up to date at once: those that are seen.

        Of the others those with news follow, and with the ages those that only time has changed.
        """
        self._passed.update(dict.fromkeys(passing))
        if not self.rows or len(touched) + len(self._passed) <= FEW:
            due, self._passed = dict.fromkeys((*touched, *self._passed)), {}
            return due
        seen = dict.fromkeys(self.table.visible_ids)
        late = (*touched, *self._passed) if aged else touched
        if aged:
            self._passed = {}
        self._renew(session, (row_id for row_id in late if row_id not in seen))
        at_once = frozenset((*touched, *passing))
        return [row_id for row_id in seen if row_id in at_once]

    def _look(self) -> None:
        """Tell a session what is on the screen; a new one hears it also where that is what it was before."""
        if self.app.session is not None and self.is_current:
            self._told = self.app.session
            self.app.session.look(self.listing.about, self.table.visible_ids)

    @on(Table.Seen)
    def _other_rows_seen(self) -> None:
        self._look()
        if self.is_current and self._patience > HURRIED:
            self._wait(HURRIED)

    @on(Table.Highlighted)
    def _cursor_moved(self) -> None:
        self.arrangement.moved(monotonic())
        self._show_row()
        self.refresh_frame()
