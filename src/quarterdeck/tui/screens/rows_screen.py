"""What a screen of rows is made of: counts and filter, the table, a side pane about the row of the cursor."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic
from typing import Generic

from textual import events
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.lists.arrangement import Arrangement
from quarterdeck.tui.lists.listing import LABEL_WIDE, Listing, R, health_cell, known
from quarterdeck.tui.lists.live_rows import LiveRows
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar
from quarterdeck.tui.widgets.lines import Lines
from quarterdeck.tui.widgets.table import Table

LIST_WIDTH = 76
"""Columns that the list keeps when the row under the cursor is described beside it."""
SIDE_WIDTHS = (30, 44)
"""Columns of that description, at least and at most."""
HELD = Shown("order held")
"""Said while rows stand still although their places are other ones."""


def _fit_side(side: Widget, width: int) -> None:
    """Give the side pane what a screen of this width has to spare, or hide it."""
    least, most = SIDE_WIDTHS
    side.styles.width = min(most, width - LIST_WIDTH)
    side.display = width - LIST_WIDTH >= least


class RowsScreen(DeckScreen, Generic[R]):
    """The rows of a `listing`, those its arrangement lets through, in its order; a subclass keeps them true."""

    CSS_PATH = "listing.tcss"
    AUTO_FOCUS = "Table"
    HORIZONTAL_BREAKPOINTS = []  # a class on the screen would style every widget anew before the first frame

    def __init__(self, listing: Listing[R]) -> None:
        super().__init__()
        self.listing = listing
        self.rows = LiveRows(listing)
        self.arrangement = Arrangement(listing, self.rows)
        self.table: Table[R] = Table(listing.columns, clock=self.app.clock, id="table")
        self.filter_bar = FilterBar(Shown(listing.grammar.hint))
        self.side = Lines(hang=LABEL_WIDE, id="side-text")
        self._side_says: list[Cell] = []

    def parts(self) -> Iterable[Widget]:
        """Counts and filter, the table, and at its side what is known of the row under the cursor."""
        yield self.filter_bar
        side = VerticalScroll(self.side, id="side", can_focus=False)
        _fit_side(side, self.app.size.width)
        yield Horizontal(self.table, side, id="list")

    def on_resize(self, event: events.Resize) -> None:
        """The side pane is there where there is room for it."""
        _fit_side(self.query_one("#side"), event.size.width)

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
