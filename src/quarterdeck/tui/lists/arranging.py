"""How a person arranges a list: filter, order and columns, kept between runs for each server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Generic

from quarterdeck.config.connections import Connection
from quarterdeck.fleet.filters import unknown_texts, with_statuses
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.list_pickers import pick_columns, pick_statuses
from quarterdeck.tui.lists.listing import Listing, R, View
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import chosen


class KeptViews(KeptModel):
    """The views of one server, by list."""

    kind: ClassVar[str] = "views"
    views: dict[str, View] = {}


@dataclass(eq=False)
class Arranging(Generic[R]):
    """Actions of a list on a `screen`; `show_anew` shows its rows after a change of the arrangement."""

    screen: DeckScreen
    listing: Listing[R]
    table: Table[R]
    filter_bar: FilterBar
    show_anew: Callable[[], None]
    filtering_from: str = ""
    """The id under the cursor when the filter was opened, until it is kept."""
    _view_of: Connection | None = None
    """The connection whose view was restored."""
    _known: View = field(default_factory=View)
    """The view as it was restored or kept last; what is still so may have been changed by another deck since."""

    # Saving and restoring

    def recall(self, connection: Connection) -> None:
        """Restore the arrangement of an earlier run on that connection, unless that was done already."""
        if connection != self._view_of:
            self._view_of, self._known = connection, self.listing.view
            self.screen.run_worker(self._recall(connection), exclusive=True, group="view")

    async def _recall(self, connection: Connection) -> None:
        before = self.listing.view
        with self.screen.saying_errors():
            kept = await self.screen.app.state.read(KeptViews, connection.about)
            view = kept.views.get(self.listing.definition.about.value, View())
            view = view.among([column.key for column in self.listing.definition.columns])
            if self.listing.view == before != view and connection == self._view_of:
                self._show_columns(view.columns)
                self.table.stay_first()
                self._sort_by(view.sort, reverse=view.reverse)
                self.filter_by(view.filter)
                self._known = self.listing.view

    def keep(self) -> None:
        """Save what was changed of the view, as it is at the time of writing."""
        if self._view_of is not None:
            self.screen.run_worker(self._keep(self._view_of), group="keep view")

    async def _keep(self, connection: Connection) -> None:
        name = self.listing.definition.about.value

        def change(kept: KeptViews) -> KeptViews:
            before, self._known = self._known, self.listing.view
            return KeptViews(views={**kept.views, name: self._known.over(kept.views.get(name, View()), before)})

        with self.screen.saying_errors():
            await self.screen.app.state.change(KeptViews, connection.about, change)

    # Columns and order

    async def action_columns(self) -> None:
        """Choose the columns and their order."""
        titles = {column.key: column.title for column in self.listing.definition.columns}

        def picked(names: tuple[str, ...]) -> None:
            self._show_columns(None if names == tuple(titles) else names)
            if self.listing.view.sort in {*titles} - {*names}:
                self.sort(None, reverse=False)
            self.keep()

        await ask(self.screen.app, pick_columns(titles, self.listing.view.columns), picked)

    def _show_columns(self, names: tuple[str, ...] | None) -> None:
        """Show these columns; None for as many as fit."""
        self.listing.view = self.listing.view._replace(columns=names)
        self.table.show_columns(chosen(self.listing.definition.columns, names))

    def action_sort(self) -> None:
        """Sort by the next column; after the last one the default order comes back."""
        self.sort(self.listing.next_column, reverse=False)

    def action_reverse(self) -> None:
        """Reverse the order."""
        self.sort(self.listing.view.sort, reverse=not self.listing.view.reverse)

    def sort(self, key: str | None, *, reverse: bool) -> None:
        """Sort as a person requested, and show a message."""
        self._sort_by(key, reverse=reverse)
        titles = {column.key: column.title for column in self.listing.definition.columns}
        by = titles.get(key or "", "what needs a look first")
        self.screen.say(f"Sorted by {by}{', reversed' if reverse else ''}: these rows, as read so far.")
        self.keep()

    def _sort_by(self, key: str | None, *, reverse: bool) -> None:
        self.listing.sort_by(key, reverse=reverse)
        self.table.sorted_by(self.listing.view.sort, reverse=reverse)
        self.show_anew()

    # The filter

    def action_filter(self) -> None:
        """Type into the filter."""
        self.filtering_from = self.table.cursor_id or self.filtering_from
        self.filter_bar.open()
        self.say_found()

    def action_show_all(self) -> None:
        """Clear the filter."""
        self.filter_bar.action_clear()

    async def action_statuses(self) -> None:
        """Choose which statuses are shown."""
        typed, definition, counts = self.listing.view.filter, self.listing.definition, self.listing.counts
        status, known = definition.status, dict.fromkeys((*definition.statuses, *counts))

        def picked(statuses: tuple[str, ...]) -> None:
            wanted = () if counts.keys() <= set(statuses) else statuses
            self.filter_by(with_statuses(typed, definition.grammar, status, wanted, known))
            self.keep()

        await ask(self.screen.app, pick_statuses(status, counts, *self.listing.statuses_shown), picked)

    def filter_by(self, words: str) -> None:
        """Show only rows that match; if the cursor's row does not, the cursor moves to the first one."""
        before = self.table.cursor_id
        self.filter_bar.put(words)
        self.listing.filter_by(words)
        self.show_anew()
        if before is not None and before not in self.table.ids:
            self.table.action_first()

    def say_found(self) -> None:
        """Show how many rows match the filter, and what is wrong with it."""
        listing, status = self.listing, self.listing.definition.status
        problems = listing.filter.problems
        asked = [term for term in listing.filter.terms if term.name == status and listing.rows]
        if listing.ids:
            unknown = unknown_texts(asked, (*listing.definition.statuses, *listing.counts))
            problems += tuple(f"No {status} is called {each}." for each in unknown)
        else:
            rows, now = listing.rows.values(), self.screen.app.clock()
            none = (term for term in asked if not term.inverted and not any(term.holds(row, now) for row in rows))
            problems += tuple(f"No row has the {status} {' or '.join(term.texts)}." for term in none)
        self.filter_bar.say_found(len(listing.ids), len(listing.rows), problems)
