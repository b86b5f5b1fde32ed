"""A list of live rows on a screen: its counts and filter, its table, what is known of the row under the cursor.

The rows are kept up to date at the cost of what changed; how they are arranged and marked is up to a person.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import chain, islice
from time import monotonic
from typing import Generic

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message

from quarterdeck.fleet.filters import statuses_in, with_statuses
from quarterdeck.fleet.news import News
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.details import LABEL_WIDE, known
from quarterdeck.tui.dialogs.lists import pick_columns, pick_statuses
from quarterdeck.tui.lists.arrangement import Arrangement, View
from quarterdeck.tui.lists.source import R, Source
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.lines import Lines
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import chosen

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


class LiveList(Vertical, Generic[R]):
    """The rows of a source; `say` says a sentence on the screen."""

    class Changed(Message):
        """Rows came, went, or show something else."""

    class Arranged(Message):
        """A person arranged the list in another way."""

    def __init__(self, source: Source[R], clock: Callable[[], datetime], say: Callable[[Shown, Tone], None]) -> None:
        super().__init__(id="live-list")
        self.source = source
        self.session: Session | None = None
        """Whose rows these are."""
        self.rows = source.rows
        self.arrangement = Arrangement(source, clock)
        self.table: Table[R] = Table(source.columns, clock=clock, id="table")
        self.filter_bar = FilterBar(Shown(source.grammar.hint))
        self._side = Lines(hang=LABEL_WIDE, id="side-text")
        self._clock = clock
        self._say = say
        self._words: dict[str, str] = {}
        """The word that each row is counted by."""
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
        if session is not self.session:
            self.session = session
            self._behind.clear()
            self.rows.clear()
            self._words.clear()
            self.put_in_order()
        if session is not None:
            self._bring_up_to_date(chain(self.rows, self.source.ids(session)))

    def take(self, told: Sequence[News]) -> None:
        """Bring the rows up to date that the news is about."""
        session = self.session
        if session is None:
            return
        if any(news.moved and news.about is self.source.about for news in told):
            self.follow(session)
        else:
            self._bring_up_to_date(chain.from_iterable(news.ids for news in told if news.about is self.source.about))

    def pass_time(self) -> None:
        """Bring up to date what changes with time: words, rows that wait for their place, filters, ages."""
        if self.session is None:
            return
        self._bring_up_to_date(self.source.passing(self.session, self._clock()))
        aged = monotonic() - self._aged_at >= AGED_AFTER
        if self.arrangement.pass_time(aged=aged):
            self.show_rows()
        if aged:
            self._aged_at = monotonic()
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
        session, rows = self.session, self.rows
        if session is None:
            return
        changed: dict[str, R] = {}
        gone: set[str] = set()
        for row_id in ids:
            row = self.source.row(session, row_id)
            if row is None:
                if rows.pop(row_id, None) is not None:
                    del self._words[row_id]
                    gone.add(row_id)
                continue
            word = self.source.word(row, self._clock())
            if row != rows.get(row_id) or word != self._words[row_id]:
                rows[row_id], self._words[row_id] = row, word
                changed[row_id] = row
        if gone & self.table.marks:
            self.table.set_marks(self.table.marks - gone)
        if self.arrangement.take(changed, gone):
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
        view, ids = self.arrangement.view, self.arrangement.ids
        ids = self.source.arranged(ids, filtered=bool(self.arrangement.filter), by_attention=view.sort is None)
        self.table.look_up(ids, self.rows, anew=anew)
        if self.session is not None and before is not None and before not in self.rows:
            self.table.move_to(self.session.became(before))
        self._say_found()
        self._show_row()
        self.post_message(self.Changed())

    def put_in_order(self) -> None:
        """Put every row into its place, at once."""
        self.arrangement.put_in_order()
        self.show_rows(anew=True)

    @property
    def counts(self) -> Counter[str]:
        """How many rows are called by which word."""
        return Counter(self._words.values())

    def marked(self) -> Cell:
        """How many rows are marked, for the line above the list."""
        marks = self.table.marks
        if not marks:
            return ()
        hidden = len(marks.difference(self.arrangement.ids))
        words = f"✓ {len(marks)} marked" + (f", {hidden} hidden by the filter" if hidden else "")
        return cell(Shown(f"{words}  "), Tone.EDITED)

    def detail_of(self, row_id: str) -> list[Cell] | None:
        """Everything known about a row, or what it became; None where it is gone."""
        if self.session is None:
            return None
        row = self.rows.get(row_id) or self.rows.get(self.session.became(row_id))
        return self.source.detail(self.session, row, self._clock()) if row is not None else None

    def go_to(self, row_id: str) -> bool:
        """Put the cursor on a row; a filter that hides it is forgotten. False where it is not known."""
        if row_id not in self.rows:
            return False
        if row_id not in self.table.ids:
            self.source.reveal(row_id)
            self._filter_by(self.filter_bar.words if row_id in self.arrangement.ids else "")
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
        self._side.say(known(self.detail_of(row.id) or ()) if row is not None else ())

    @on(Table.Highlighted)
    def _cursor_moved(self) -> None:
        self.arrangement.hold()
        self.call_after_refresh(self._show_row)  # the cursor first

    # How a person arranges it

    def take_view(self, view: View) -> None:
        """Arrange it as it was in an earlier run."""
        self._show_columns(view.columns)
        self.filter_bar.put(view.filter)
        self.arrangement.filter_by(view.filter)
        self._sort_by(view.sort, reverse=view.reverse)

    async def action_columns(self) -> None:
        """Choose the columns and their order."""
        titles = {column.key: column.title for column in self.source.columns}

        def answered(names: tuple[str, ...] | None) -> None:
            if names is not None:
                self._show_columns(None if names == tuple(titles) else names)
                self.post_message(self.Arranged())

        await self.app.push_screen(pick_columns(titles, self.arrangement.view.columns), answered)

    def _show_columns(self, names: tuple[str, ...] | None) -> None:
        """Show these columns; None for as many as there is room for."""
        self.arrangement.view = self.arrangement.view._replace(columns=names)
        self.table.show_columns(chosen(self.source.columns, names))

    @on(Table.SortAsked)
    def _title_clicked(self, event: Table.SortAsked) -> None:
        view = self.arrangement.view
        self._sort_as_asked(event.key, reverse=view.sort == event.key and not view.reverse)

    def action_sort(self) -> None:
        """Sort by the next column; after the last one the default order comes back."""
        self._sort_as_asked(self.arrangement.next_column, reverse=False)

    def action_reverse(self) -> None:
        """Turn the order round."""
        self._sort_as_asked(self.arrangement.view.sort, reverse=not self.arrangement.view.reverse)

    def _sort_as_asked(self, key: str | None, *, reverse: bool) -> None:
        self._sort_by(key, reverse=reverse)
        by = "by what needs a look first" if key is None else f"by {key}"
        self._say(Shown(f"Sorted {by}{', reversed' if reverse else ''}: these rows, as read so far."), Tone.PLAIN)
        self.post_message(self.Arranged())

    def _sort_by(self, key: str | None, *, reverse: bool) -> None:
        self.arrangement.sort_by(key, reverse=reverse)
        self.table.sorted_by(self.arrangement.view.sort, reverse=reverse)
        self.show_rows(anew=True)

    # The filter

    def action_filter(self) -> None:
        """Type into the filter."""
        self.filter_bar.open()
        self._say_found()

    def action_show_all(self) -> None:
        """Forget the filter."""
        self.filter_bar.action_clear()

    @on(FilterBar.Changed)
    def _filter_typed(self, event: FilterBar.Changed) -> None:
        if event.words != self.arrangement.view.filter:
            self._filter_by(event.words)

    @on(FilterBar.Done)
    def _filter_done(self) -> None:
        self._filter_by(self.filter_bar.words)
        self.screen.set_focus(self.table)
        self.post_message(self.Arranged())

    async def action_statuses(self) -> None:
        """Choose which statuses are shown."""
        typed, status = self.arrangement.view.filter, self.source.status

        def answered(statuses: tuple[str, ...] | None) -> None:
            if statuses is not None:
                self._filter_by(with_statuses(typed, status, statuses))
                self.post_message(self.Arranged())

        await self.app.push_screen(pick_statuses(self.counts, statuses_in(typed, status)), answered)

    def _filter_by(self, words: str) -> None:
        """Show only rows that match."""
        self.filter_bar.put(words)
        self.arrangement.filter_by(words)
        self.show_rows(anew=True)

    def _say_found(self) -> None:
        """Say how much the filter lets through, and what is wrong with it."""
        problems = tuple(text.line(problem) for problem in self.arrangement.filter.problems)
        self.filter_bar.say_found(len(self.arrangement.ids), len(self.rows), problems)

    # Marks

    def action_mark(self) -> None:
        """Mark the row, or unmark it."""
        self.table.action_mark()

    def action_mark_range(self) -> None:
        """Mark the rows from the last mark to the cursor."""
        if not self.table.mark_range():
            self._say(Shown("Mark a row with space first; v then marks from there to the cursor."), Tone.WARN)

    def action_mark_all(self) -> None:
        """Mark every row that is shown."""
        self.table.set_marks(self.table.marks.union(self.table.ids))

    def action_mark_none(self) -> None:
        """Take all marks away, also those of rows the filter hides."""
        self.table.set_marks(())
