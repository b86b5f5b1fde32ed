"""A list that a person arranges: filter, order, columns, marks; kept for each connection from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from textual import on, work

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.filters import statuses_in, with_statuses
from quarterdeck.fleet.news import News
from quarterdeck.fleet.views import KeptViews, View
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.lists.columns import chosen_columns
from quarterdeck.tui.lists.listing import Listing, R
from quarterdeck.tui.lists.marks import Marks, marked_words
from quarterdeck.tui.screens.live_list import LiveList
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.table import Table

if TYPE_CHECKING:
    from quarterdeck.config.connections import Connection


class ArrangedList(LiveList[R]):
    """A live list with the keys that arrange it."""

    def __init__(self, listing: Listing[R]) -> None:
        super().__init__(listing)
        self.columns: tuple[str, ...] | None = None
        """The columns a person chose; None for as many as there is room for."""
        self._marks = Marks()
        self._view_of: Connection | None = None
        """The connection whose view was asked for."""

    # The view: read when a connection opens, written when it changed

    def on_screen_resume(self) -> None:
        """Catch up, also with another connection."""
        self._follow_view()

    def on_news(self, told: Sequence[News]) -> None:
        """Another connection has a view of its own."""
        super().on_news(told)
        self._follow_view()

    def _follow_view(self) -> None:
        if self.app.session is not None and self._view_of != self.app.endpoint and self.is_current:
            self._view_of = self.app.endpoint
            self._read_view(self.app.endpoint)

    @work(exclusive=True, group="view")
    async def _read_view(self, endpoint: Connection) -> None:
        before = self.view
        try:
            kept = await self.app.state.read(KeptViews, endpoint.about)
        except ServiceError as error:
            self.say_error(error)
            return
        if self.view == before and endpoint == self._view_of:
            view = kept.views.get(self.listing.noun, View()) if kept is not None else View()
            self._take_view(view.among([column.key for column in self.listing.columns]))

    @property
    def view(self) -> View:
        """How the list is arranged now."""
        return View(self.columns, self.arrangement.column, self.arrangement.reverse, self.arrangement.words)

    def _take_view(self, view: View) -> None:
        if view == self.view:
            return
        self.columns = view.columns
        self.table.show_columns(chosen_columns(self.listing.columns, view.columns))
        self.arrangement.sort_by(view.sort, self.app.clock(), reverse=view.reverse)
        self.table.sorted_by(self.arrangement.column, reverse=view.reverse)
        self._filter_by(view.filter)

    @work(group="keep view")
    async def _keep_view(self) -> None:
        """Keep the view; what is written is how it is when its turn has come."""
        noun = self.listing.noun
        if self._view_of is None:
            return
        try:
            await self.app.state.change(
                KeptViews, self._view_of.about, lambda kept: KeptViews.with_view(kept, noun, self.view)
            )
        except ServiceError as error:
            self.say_error(error)

    # The filter

    def _filter_by(self, words: str) -> None:
        self.filter_bar.put(words)
        self.arrangement.filter_by(words, self.app.clock())
        self.show_rows()
        self._say_found()

    def show_rows(self) -> None:
        """Show the rows as they are arranged now."""
        super().show_rows()
        self._say_found()

    def _say_found(self) -> None:
        problems = tuple(text.line(problem) for problem in self.arrangement.filter.problems)
        self.filter_bar.say_found(len(self.arrangement.matching), len(self.rows), problems)

    def _go_to_wanted(self) -> None:
        """Put the cursor on the row that was asked for elsewhere; a filter that hides it is forgotten."""
        wanted, passed = self.app.wanted, self.arrangement.ids
        hidden = bool(self.arrangement.filter) and wanted in self.rows and wanted not in passed
        if hidden and self.is_current:
            self.filter_bar.clear()
            self.arrangement.filter_by("", self.app.clock())
            self.table.look_up(self.arrangement.ids, self.rows)
        super()._go_to_wanted()

    def action_filter(self) -> None:
        """Type into the filter."""
        self.filter_bar.open()
        self.call_after_refresh(self._say_found)

    def action_show_all(self) -> None:
        """Forget the filter."""
        self.filter_bar.action_clear()

    @on(FilterBar.Changed)
    def _filter_rows(self, event: FilterBar.Changed) -> None:
        if event.words != self.arrangement.words:
            self.arrangement.filter_by(event.words, self.app.clock())
            self.show_rows()
            self.filter_changed(event.words)
        self._say_found()

    def filter_changed(self, words: str) -> None:
        """Somebody typed into the filter."""

    @on(FilterBar.Done)
    def _back_to_table(self) -> None:
        self.arrangement.filter_by(self.filter_bar.words, self.app.clock())
        self.show_rows()
        self.set_focus(self.table)
        self._keep_view()

    @work(exclusive=True, group="dialog")
    async def action_statuses(self) -> None:
        """Choose which statuses are shown."""
        from quarterdeck.tui.dialogs.arranging import pick_statuses

        token, words = self.listing.status_name, self.arrangement.words
        asked = pick_statuses(self.rows.counts, statuses_in(words, token))
        chosen = await self.app.push_screen_wait(asked)
        if chosen is not None:
            self._filter_by(with_statuses(words, token, chosen))
            self._keep_view()

    # The order

    @on(Table.SortAsked)
    def _title_clicked(self, event: Table.SortAsked) -> None:
        chosen = self.arrangement
        self._sort_by(event.key, reverse=chosen.column == event.key and not chosen.reverse)

    def action_sort(self) -> None:
        """Sort by the next column; after the last one the default order comes back."""
        self._sort_by(self.arrangement.next_column, reverse=False)

    def action_reverse(self) -> None:
        """Turn the order round."""
        self._sort_by(self.arrangement.column, reverse=not self.arrangement.reverse)

    def _sort_by(self, key: str | None, *, reverse: bool) -> None:
        self.arrangement.sort_by(key, self.app.clock(), reverse=reverse)
        self.table.sorted_by(key, reverse=reverse)
        self.show_rows()
        by = "by what needs a look first" if key is None else f"by {key}"
        self.say(Shown(f"Sorted {by}{', reversed' if reverse else ''}: these rows, as read so far."))
        self._keep_view()

    # The columns

    @work(exclusive=True, group="dialog")
    async def action_columns(self) -> None:
        """Choose the columns and their order."""
        from quarterdeck.tui.dialogs.arranging import pick_columns

        titles = [(column.key, column.title) for column in self.listing.columns]
        chosen = await self.app.push_screen_wait(pick_columns(titles, self.columns))
        if chosen is not None:
            self.columns = None if chosen == tuple(key for key, _ in titles) else chosen
            self.table.show_columns(chosen_columns(self.listing.columns, self.columns))
            self._keep_view()

    # Marks

    def counts(self) -> Cell:
        """What is marked, then how many rows are in which state."""
        shown = self.arrangement.matching if self.arrangement.filter else ()
        marked = marked_words(self.table.marks, shown, filtered=bool(self.arrangement.filter))
        return (*marked, *super().counts())

    @on(Table.Marked)
    def _marks_changed(self, event: Table.Marked) -> None:
        self._marks.marked(event.ids)
        self.filter_bar.say(self.counts())
        self.refresh_frame()

    def action_mark(self) -> None:
        """Mark the row, or unmark it."""
        self.table.action_mark()

    def action_mark_range(self) -> None:
        """Mark the rows from the last mark to the cursor."""
        cursor = self.table.cursor_id
        ids = self._marks.range_to(self.arrangement.ids, cursor) if cursor is not None else ()
        if ids:
            self._mark(ids)
        else:
            self.say(Shown("Mark a row with space first; v then marks from there to the cursor."), Tone.WARN)

    def action_mark_all(self) -> None:
        """Mark every row that is shown."""
        self._mark(self.arrangement.ids)

    def action_mark_none(self) -> None:
        """Take all marks away, also those of rows the filter hides."""
        self.table.set_marks(())

    def _mark(self, ids: Iterable[str]) -> None:
        self.arrangement.moved(monotonic())
        self.table.set_marks(self.table.marks.union(ids))
