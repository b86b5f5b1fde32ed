"""The settings form: the list of fields with its editors, the rail of groups, and the help. It knows no server.

Whatever is done makes a new draft, which is told at once: the form can go away at any moment without losing an edit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from quarterdeck.draft.draft import Draft
from quarterdeck.draft.mcp.servers import Entry, Identity
from quarterdeck.draft.problem import Problem
from quarterdeck.service.models.capabilities import Server
from quarterdeck.service.models.mcp import McpServer
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.editor import KEEP, FieldEditor
from quarterdeck.tui.widgets.settings.editors import editor_for
from quarterdeck.tui.widgets.settings.field_list import FieldList
from quarterdeck.tui.widgets.settings.form_lines import form_lines
from quarterdeck.tui.widgets.settings.help_text import full_help, short_help
from quarterdeck.tui.widgets.settings.lines import Line
from quarterdeck.tui.widgets.settings.lists import Lists
from quarterdeck.tui.widgets.settings.rail import Rail
from quarterdeck.tui.widgets.settings.rows import RowKind, kind_of, server_row
from quarterdeck.tui.widgets.settings.select_editor import SelectEditor
from quarterdeck.tui.widgets.settings.text_editor import SuggestEditor
from quarterdeck.tui.widgets.settings.view import FormView

WIDER = 116
"""Columns from which rail and help pane have all the room they like."""
SLIM = 70
"""Columns below which the groups stand in one line above the fields."""
NO_MATCH = (Line(((cell(Shown("Nothing matches. esc in the filter shows all fields again."), Tone.MUTED), 0),)),)


class SettingsForm(Vertical):
    """Edits a draft by keyboard; `open` gives it one."""

    list = getters.query_one(FieldList)
    rail = getters.query_one(Rail)

    @dataclass
    class Edited(Message):
        """There is another draft."""

        draft: Draft

    @dataclass
    class Moved(Message):
        """The cursor is on another row, or an editor opened or closed: other keys may work."""

    @dataclass
    class ServerChosen(Message):
        """An MCP server is to be edited; `row` is None to add one."""

        row: int | None

    @dataclass
    class RowChosen(Message):
        """A row that is no field and no MCP server is to be opened."""

        row: str

    @dataclass
    class SuggestionsWanted(Message):
        """A field is edited for which a server may suggest values."""

        key: str

    def __init__(self) -> None:
        super().__init__()
        self.suggestions: Mapping[str, Sequence[str]] = {}
        """Field -> what the server suggests for it."""
        self.view = FormView(Draft())
        self._opened: Draft | None = None
        self._looked_at = ""
        """The row under the cursor, as far as it is known that somebody saw it."""
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
        if self._opened is not None:
            self._opened = draft
        self._paint()

    def show_lists(self, lists: Lists) -> None:
        """Show what stands beside the record."""
        self.view = replace(self.view, lists=lists)
        self._paint()

    def suggest(self, suggestions: Mapping[str, Sequence[str]]) -> None:
        """Know what the server suggests; an open editor offers it at once."""
        self.suggestions = suggestions
        editor = self.list.editor
        if isinstance(editor, SelectEditor | SuggestEditor) and editor.entry.key in suggestions:
            editor.suggest(suggestions[editor.entry.key])

    def complain(self, complaints: Sequence[Problem]) -> None:
        """Show what the server said of single fields, until the next edit."""
        self.view = replace(self.view, complaints=tuple(complaints))
        self._paint()
        self.go_to_error()

    def filter(self, query: str) -> None:
        """Show only rows that match all words."""
        self.view = replace(self.view, query=query)
        self._paint()

    def start(self) -> None:
        """Take the keyboard."""
        if self.list.editor is not None:
            self.list.editor.start()
        else:
            self.list.focus()

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

    @property
    def editor(self) -> FieldEditor | None:
        """The editor, while one is open."""
        return self.list.editor

    async def edit(self) -> None:
        """Open what edits the row under the cursor."""
        if self.kind is RowKind.SERVER:
            self.post_message(self.ServerChosen(server_row(self.row)))
            return
        entry = self.draft.fields.by_key.get(self.row)
        editor = editor_for(entry, self.draft) if entry is not None else None
        if entry is None and self.kind is not RowKind.OTHER:
            self.post_message(self.RowChosen(self.row))
        if editor is not None:
            self._opened = self.draft
            await self.list.open(editor)
            self.suggest(self.suggestions)
            self.post_message(self.SuggestionsWanted(self.row))
            editor.say(self.view.problem_at(self.row) if self.row in self.draft.edits else None)
            self.post_message(self.Moved())

    async def stop_editing(self) -> None:
        """Close the editor; what was typed stays in the draft."""
        if self.list.editor is not None:
            self._opened = None
            await self.list.close()
            self._paint()
            self.post_message(self.Moved())

    async def change(self, change: Callable[[Draft], Draft]) -> None:
        """Do something to the draft as a whole."""
        await self.stop_editing()
        self._take(change(self.draft))

    async def put_server(self, row: int | None, server: McpServer, *, after: int | None = None) -> None:
        """Take in an MCP server that was edited or, without a row, added; the cursor goes to it."""
        if row is not None:
            await self.change(lambda draft: draft.edit_server(row, server))
            return
        new = self.draft.servers.next_row
        await self.change(lambda draft: draft.add_server(server, after))
        self.list.move_to(f"{RowKind.SERVER}{new}")

    def go_to_error(self) -> Problem | None:
        """Put the cursor on the first error and return it; None when there is none."""
        row = self.view.first_error
        if row is None:
            return None
        self.list.move_to(row)
        return self.view.problem_at(row)

    # Editing in place

    @on(FieldEditor.Changed)
    def _typed(self, event: FieldEditor.Changed) -> None:
        event.stop()
        editor = self.list.editor
        if editor is None or self._opened is None:
            return
        self._take(_with(self._opened, editor.entry.key, event.value))
        key = editor.entry.key
        editor.say(self.view.problem_at(key) if key in self.draft.edits else None)

    @on(FieldEditor.Left)
    async def _left(self, event: FieldEditor.Left) -> None:
        event.stop()
        await self.stop_editing()
        self.list.action_move(event.step)

    @on(FieldList.Chosen)
    async def _chosen(self, event: FieldList.Chosen) -> None:
        event.stop()
        await self.edit()

    @on(FieldList.Moved)
    async def _cursor_moved(self, event: FieldList.Moved) -> None:
        event.stop()
        if self.editor is not None and self.editor.entry.key != self.row:
            await self.stop_editing()
        view, self._looked_at = self.view.seen(self._looked_at), self.row
        if view is not self.view:
            self.view = view
            self._paint()
        self._paint_around()
        self.post_message(self.Moved())

    @on(Rail.Pressed)
    def _group_pressed(self, event: Rail.Pressed) -> None:
        event.stop()
        self.list.move_to_group(event.group)
        self.list.focus()

    def on_resize(self) -> None:
        """Lines are made for a width, and so is the rail."""
        self.set_class(self.size.width >= WIDER, "-wider")
        self.set_class(self.size.width < SLIM, "-slim")
        self.call_after_refresh(self._paint)

    def _take(self, draft: Draft) -> None:
        if draft is not self.draft:
            self.view = replace(self.view, draft=draft, complaints=())
            self._paint()
            self.post_message(self.Edited(draft))

    # Painting

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


def _with(draft: Draft, key: str, value: Any) -> Draft:
    return draft.revert(key) if value is KEEP else draft.set(key, value)
