"""A list of live rows on a screen: its counts and filter, its table, and what is known of the row under the cursor."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import chain, islice
from time import monotonic
from typing import Generic, Protocol

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message

from quarterdeck.fleet.filters import Grammar
from quarterdeck.fleet.health import Health
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.order import Rank
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.views import View
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.columns.details import LABEL_WIDE, known
from quarterdeck.tui.lists.arrangement import Arrangement
from quarterdeck.tui.lists.rows import Marks, R, Rows, marked_words
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.lines import Lines
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import Column, chosen

LIST_WIDTH = 76
"""Columns that the table keeps when the row under the cursor is described beside it."""
SIDE_WIDTHS = (30, 44)
"""Columns of that description, at least and at most."""
AGED_AFTER = 10.0
"""Seconds in which nothing on the screen gets older: ages say minutes, and each look at all of them costs."""
AT_ONCE = 200
"""Rows that are made in one go: a few milliseconds, for no key may wait for all of a long list."""
PAUSE = 0.005
"""Seconds between two such goes, in which keys are answered."""


class Source(Protocol[R]):
    """What is listed: which rows there are, how they look, and in which order they stand by default."""

    about: About
    noun: str
    """What several rows are called."""
    status: str
    """The token of the filter that looks at the word of a row."""
    grammar: Grammar[R]
    columns: Sequence[Column[R]]

    def ids(self, session: Session) -> Iterable[str]:
        """The ids of all rows, in the server's order."""
        ...

    def row(self, session: Session, row_id: str, before: R | None) -> R | None:
        """The row of an id as it is now, `before` itself when nothing changed; None when it is no row."""
        ...

    def became(self, session: Session, row_id: str) -> str:
        """What goes on in place of a row that is gone; its own id where nothing does."""
        ...

    def touched(self, session: Session, news: News) -> Iterable[str]:
        """The ids of rows of which there may be something new to show."""
        ...

    def passing(self, session: Session, now: datetime) -> Iterable[str]:
        """The ids of rows whose word or rank may change as time passes."""
        ...

    def health(self, session: Session) -> Health:
        """How the readings of this list are going."""
        ...

    def rank(self, row: R, now: datetime) -> Rank:
        """The place of a row in the default order: what needs a look first."""
        ...

    def word(self, row: R, now: datetime) -> str:
        """The word a row is counted by."""
        ...

    def is_unread(self, row: R) -> bool:
        """Whether there is news of a row that nobody looked at."""
        ...

    def detail(self, session: Session, row: R, now: datetime) -> list[Cell]:
        """Everything known about a row."""
        ...

    def arranged(self, ids: list[str], arrangement: Arrangement[R]) -> list[str]:
        """The ids to show out of those that the filter lets through."""
        ...

    def reveal(self, row_id: str) -> None:
        """Have a row shown that `arranged` may leave out."""
        ...


class LiveList(Vertical, Generic[R]):
    """The rows of a source, kept up to date at the cost of what changed."""

    class Changed(Message):
        """Rows came, went, or show something else."""

    def __init__(self, source: Source[R], clock: Callable[[], datetime]) -> None:
        super().__init__(id="live-list")
        self.source = source
        self.rows: Rows[R] = Rows(lambda row: source.word(row, clock()), source.is_unread)
        self.arrangement = Arrangement(self.rows, source.columns, source.grammar, source.rank)
        self.table: Table[R] = Table(source.columns, clock=clock, id="table")
        self.filter_bar = FilterBar(Shown(source.grammar.hint))
        self._side = Lines(hang=LABEL_WIDE, id="side-text")
        self._side_says: list[Cell] = []
        self._clock = clock
        self._session: Session | None = None
        """Whose rows these are."""
        self._marks = Marks()
        self._aged_at = 0.0
        self._behind: dict[str, None] = {}
        """Rows that wait to be brought up to date, in order; those that are seen do not wait."""

    def compose(self) -> ComposeResult:
        """Counts and filter, the table, and at its side what is known of the row under the cursor."""
        yield self.filter_bar
        yield Horizontal(self.table, VerticalScroll(self._side, id="side", can_focus=False), id="list")

    def on_resize(self, event: events.Resize) -> None:
        """The side pane is there where there is room for it."""
        least, most = SIDE_WIDTHS
        side, spare = self.query_one("#side"), event.size.width - LIST_WIDTH
        side.styles.width = min(most, spare)
        side.display = spare >= least

    # News, and the passing of time

    def follow(self, session: Session | None) -> None:
        """Bring all rows up to date, those of another session from none."""
        if session is not self._session:
            self._session = session
            self._behind.clear()
            self.rows.forget_all()
            self.put_in_order()
        if session is not None:
            self._bring_up_to_date(chain(self.rows, self.source.ids(session)))

    def take(self, told: Sequence[News]) -> None:
        """Bring the rows up to date that the news is about."""
        session = self._session
        if session is None:
            return
        if any(news.moved and news.about is self.source.about for news in told):
            self.follow(session)
        else:
            self._bring_up_to_date(chain.from_iterable(self.source.touched(session, news) for news in told))

    def pass_time(self) -> None:
        """Bring up to date what changes with time: words, rows that wait for their place, filters, ages."""
        session, arranged, moment = self._session, self.arrangement, monotonic()
        if session is None:
            return
        self._bring_up_to_date(self.source.passing(session, self._clock()))
        moved = arranged.order.settle(moment)
        if aged := moment - self._aged_at >= AGED_AFTER:
            self._aged_at = moment
            moved |= arranged.passes_with_time and arranged.look_at_all(self._clock())
        if moved:
            self.show_rows()
        if aged:
            self.table.tick()
            self._show_row()

    @property
    def is_behind(self) -> bool:
        """Whether rows wait to be brought up to date."""
        return bool(self._behind)

    def _bring_up_to_date(self, ids: Iterable[str]) -> None:
        """Make these rows anew; of many those on the screen now, and the others a few at a time."""
        due = dict.fromkeys(ids)
        if len(due) > AT_ONCE:
            waiting = self.is_behind
            seen = [row_id for row_id in self.table.visible_ids if row_id in due] or list(islice(due, AT_ONCE))
            self._behind.update(due)
            due = dict.fromkeys(seen)
            if not waiting:
                self._work_off()
        for row_id in due:
            self._behind.pop(row_id, None)
        self._update(due)

    @work(exclusive=True, group="rows")
    async def _work_off(self) -> None:
        while self._behind:
            await asyncio.sleep(PAUSE)
            few = tuple(islice(self._behind, AT_ONCE // 2))
            for row_id in few:
                del self._behind[row_id]
            self._update(few)

    def _update(self, ids: Iterable[str]) -> None:
        """Make these rows anew; only where one of them comes, goes or changes its place is the list shown again."""
        session, rows = self._session, self.rows
        if session is None:
            return
        changed: dict[str, R] = {}
        gone: set[str] = set()
        for row_id in ids:
            row = self.source.row(session, row_id, rows.get(row_id))
            if row is not None and rows.put(row):
                changed[row_id] = row
            elif row is None and row_id in rows:
                rows.drop(row_id)
                gone.add(row_id)
        if gone & self.table.marks:
            self.table.set_marks(self.table.marks - gone)
        if self.arrangement.take(changed, gone, self._clock(), monotonic()):
            self.show_rows()
        elif changed:
            self.table.patch(changed)
            if self.table.cursor_id in changed:
                self._show_row()
            self.post_message(self.Changed())

    # What is shown

    def show_rows(self, *, anew: bool = False) -> None:
        """Show the rows as they are arranged now; `anew` where a person put them in order."""
        before = self.table.cursor_id
        self.table.look_up(self.source.arranged(self.arrangement.ids, self.arrangement), self.rows, anew=anew)
        if self._session is not None and before is not None and before not in self.rows:
            self.table.move_to(self.source.became(self._session, before))
        self.say_found()
        self._show_row()
        self.post_message(self.Changed())

    def put_in_order(self) -> None:
        """Put every row into its place, at once."""
        self.arrangement.put_in_order(self._clock())
        self.arrangement.look_at_all(self._clock())
        self.show_rows(anew=True)

    def say_found(self) -> None:
        """Say how much the filter lets through, and what is wrong with it."""
        problems = tuple(text.line(problem) for problem in self.arrangement.filter.problems)
        self.filter_bar.say_found(len(self.arrangement.ids), len(self.rows), problems)

    def marked(self) -> Cell:
        """How many rows are marked, for the line above the list."""
        arranged, marks = self.arrangement, self.table.marks
        return marked_words(marks, arranged.ids if marks else (), filtered=bool(arranged.filter))

    def detail_of(self, row_id: str) -> list[Cell] | None:
        """Everything known about a row, or what it became; None where it is gone."""
        if self._session is None:
            return None
        row = self.rows.get(row_id) or self.rows.get(self.source.became(self._session, row_id))
        return self.source.detail(self._session, row, self._clock()) if row is not None else None

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a row; a filter that hides it is forgotten. False where it is not known."""
        if row_id not in self.rows:
            return False
        if row_id not in self.table.ids:
            if row_id not in self.arrangement.ids:
                self.filter_bar.clear()
                self.arrangement.filter_by("", self._clock())
            self.source.reveal(row_id)
            self.show_rows(anew=True)
        return self.table.move_to(row_id)

    def targets(self) -> tuple[list[R], frozenset[str]]:
        """The rows a command is for, and the ids of those among them that the filter hides."""
        marks, rows = self.table.marks, self.rows
        if not marks:
            row = self.table.cursor_row
            return ([row] if row is not None else []), frozenset()
        shown = [row_id for row_id in self.arrangement.ids if row_id in marks]
        hidden = (marks & rows.keys()) - set(shown)
        return [rows[row_id] for row_id in (*shown, *sorted(hidden))], hidden

    def _show_row(self) -> None:
        row = self.table.cursor_row
        said = known(self.detail_of(row.id) or ()) if row is not None else []
        if said != self._side_says:
            self._side_says = said
            self._side.say(said)

    @on(Table.Highlighted)
    def _cursor_moved(self) -> None:
        self.arrangement.order.moved(monotonic())
        self._show_row()

    # How a person arranges it

    def take_view(self, view: View) -> None:
        """Arrange it so."""
        self.show_columns(view.columns)
        self.filter_bar.put(view.filter)
        self.arrangement.filter_by(view.filter, self._clock())
        self.sort_by(view.sort, reverse=view.reverse)

    def show_columns(self, names: tuple[str, ...] | None) -> None:
        """Show these columns; None for as many as there is room for."""
        self.arrangement.view = self.arrangement.view._replace(columns=names)
        self.table.show_columns(chosen(self.source.columns, names))

    def sort_by(self, key: str | None, *, reverse: bool) -> None:
        """Sort by a column, None for the default order."""
        self.arrangement.sort_by(key, self._clock(), reverse=reverse)
        self.table.sorted_by(self.arrangement.view.sort, reverse=reverse)
        self.show_rows(anew=True)

    def filter_by(self, words: str) -> None:
        """Show only rows that match."""
        self.filter_bar.put(words)
        self.arrangement.filter_by(words, self._clock())
        self.show_rows(anew=True)

    @on(Table.Marked)
    def _marks_changed(self, event: Table.Marked) -> None:
        self._marks.marked(event.ids)

    def mark_range(self) -> bool:
        """Mark the rows from the last mark to the cursor; whether there is a mark to begin at."""
        ids = self._marks.range_to(self.table.ids, self.table.cursor_id)
        self.table.set_marks(self.table.marks.union(ids))
        return bool(ids)
