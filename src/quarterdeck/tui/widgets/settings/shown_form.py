"""What the form shows: rail, list of fields and help, painted from a view; nothing is edited here."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from textual import getters
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from quarterdeck.client.models.server import Server
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.mcp import Entry
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.field_list import FieldList
from quarterdeck.tui.widgets.settings.form_lines import form_lines
from quarterdeck.tui.widgets.settings.help_text import full_help, short_help
from quarterdeck.tui.widgets.settings.lines import Line
from quarterdeck.tui.widgets.settings.lists import Lists
from quarterdeck.tui.widgets.settings.rail import Rail
from quarterdeck.tui.widgets.settings.rows import RowKind, kind_of, server_row
from quarterdeck.tui.widgets.settings.view import FormView

WIDER = 116
"""Columns from which rail and help pane have all the room they like."""
SLIM = 70
"""Columns below which the groups stand in one line above the fields."""
NO_MATCH = (Line(((cell(Shown("Nothing matches. esc in the filter shows all fields again."), Tone.MUTED), 0),)),)


class ShownForm(Vertical):
    """Shows a draft, what a server can do with it and what is wrong with it, and knows the row under the cursor."""

    list = getters.query_one(FieldList)
    rail = getters.query_one(Rail)

    def __init__(self) -> None:
        super().__init__()
        self.view = FormView(Draft())
        self._said: tuple[Cell, ...] = ()

    def compose(self) -> ComposeResult:
        """Rail, list and help pane side by side, short help under them; the width decides which are shown."""
        with Horizontal(id="form-columns"):
            yield Rail(id="rail")
            yield FieldList()
            with VerticalScroll(id="help-pane", can_focus=False):
                yield Static(id="help-full")
        yield Static(id="help-short")

    # What the screen gives

    @property
    def draft(self) -> Draft:
        """The draft being edited."""
        return self.view.draft

    def show(
        self,
        draft: Draft,
        server: Server | None,
        contested: Iterable[str] = (),
        arrived: Iterable[str | Identity] = (),
    ) -> None:
        """Show a draft, what a server can do with it, and what somebody else changed there."""
        self.view = replace(
            self.view,
            draft=draft,
            server=server,
            contested=frozenset(contested),
            arrived=frozenset(arrived),
            complaints=(),
        )
        self._paint()

    def show_lists(self, lists: Lists) -> None:
        """Show what stands beside the record."""
        self.view = replace(self.view, lists=lists)
        self._paint()

    def complain(self, complaints: Sequence[Problem]) -> None:
        """Show what the server said of single fields, until the next edit."""
        self.view = replace(self.view, complaints=tuple(complaints))
        self._paint()
        self.go_to_error()

    def filter(self, query: str) -> None:
        """Show only rows that match all words."""
        self.view = replace(self.view, query=query)
        self._paint()

    # What the keys ask for

    @property
    def row(self) -> str:
        """The id of the row under the cursor."""
        return self.list.cursor

    @property
    def kind(self) -> RowKind:
        """What the row under the cursor is."""
        return kind_of(self.row)

    @property
    def entry(self) -> Entry | None:
        """The MCP server under the cursor."""
        number = server_row(self.row)
        return None if number is None else self.draft.servers.entry(number)

    def go_to_error(self) -> Problem | None:
        """Put the cursor on the first error and return it; None when there is none."""
        row = self.view.first_error
        if row is None:
            return None
        self.list.move_to(row)
        return self.view.problem_at(row)

    # Painting

    def on_resize(self) -> None:
        """Lines are made for a width, and so is the rail."""
        self.set_class(self.size.width >= WIDER, "-wider")
        self.set_class(self.size.width < SLIM, "-slim")
        self.call_after_refresh(self._paint)

    def _paint(self) -> None:
        if self.is_mounted:
            self.list.show(form_lines(self.view, self.list.size.width) or NO_MATCH)
            self._paint_around()

    def _paint_around(self) -> None:
        self.rail.show(self.view, self.view.group_of(self.row))
        self.query_one("#help-short", Static).update(content(short_help(self.view, self.row)), layout=False)
        if not self.query_one("#help-pane").display:
            return
        said = full_help(self.view, self.row)
        if said != self._said:
            self._said = said
            self.query_one("#help-full", Static).update(lines(said))
