"""The settings form: rail, list of fields and help, and a field edited in place. It knows no server.

Whatever is done makes a new draft, which is told at once: the form can go away at any moment without losing an edit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Static

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Group, Problem
from quarterdeck.settings.mcp import Entry, Servers
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.editors import KEEP, FieldEditor, editor_for
from quarterdeck.tui.widgets.form.field_list import FieldList
from quarterdeck.tui.widgets.form.help import full_help, short_help
from quarterdeck.tui.widgets.form.lines import Line, group_lines, heading
from quarterdeck.tui.widgets.form.rail import Rail
from quarterdeck.tui.widgets.form.server_lines import server_lines
from quarterdeck.tui.widgets.form.view import FormView, Lists, RowKind, kind_of, row_of

WIDER = 116
"""Columns from which the help pane has all the room it likes."""
SLIM = 70
"""Columns below which the groups stand in one line above the fields."""
NO_MATCH = (Line(((cell(Shown("Nothing matches. esc in the filter shows all fields again."), Tone.MUTED), 0),)),)


class SettingsForm(Vertical):
    """Shows a draft, what a server can do with it and what is wrong with it, and edits it by keyboard."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,escape", "leave(0)", "Done", show=False, priority=True),
        Binding("tab", "leave(1)", "Next field", show=False, priority=True),
        Binding("shift+tab", "leave(-1)", "Field before", show=False, priority=True),
        Binding("down", "choose(1)", "Next choice or field", show=False, priority=True),
        Binding("up", "choose(-1)", "Choice or field before", show=False, priority=True),
    ]
    """The keys of the field that is edited."""

    @dataclass
    class Edited(Message):
        """There is another draft."""

        draft: Draft

    @dataclass
    class Moved(Message):
        """The cursor is on another row, or an editor opened or closed: other keys may work."""

    def __init__(self) -> None:
        super().__init__()
        self.rail, self.list = Rail(id="rail"), FieldList()
        self.view = FormView(Draft())
        self.suggestions: Mapping[str, Sequence[str]] = {}
        """Field -> what the server suggests for it."""
        self._opened: Draft | None = None
        """The draft that the open editor edits one field of."""
        self._looked_at = ""
        """The row under the cursor, as far as it is known that somebody saw it."""
        self._said: tuple[Cell, ...] = ()

    def compose(self) -> ComposeResult:
        """Rail, list and help pane side by side, short help under them; the width decides which are shown."""
        with Horizontal(id="form-columns"):
            yield self.rail
            yield self.list
            with VerticalScroll(id="help-pane", can_focus=False):
                yield Static(id="help-full")
        yield Static(id="help-short")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The form's keys are those of an open editor."""
        return self.editor is not None

    # What stands there

    @property
    def draft(self) -> Draft:
        """The draft being edited."""
        return self.view.draft

    @property
    def editor(self) -> FieldEditor | None:
        """The editor, while one is open."""
        return self.list.editor

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
        return self.view.entry(self.row)

    # What the screen gives

    def show(
        self,
        draft: Draft,
        server: Server | None,
        contested: Iterable[str] = (),
        arrived: Iterable[str | Identity] = (),
    ) -> None:
        """Show a draft, what a server can do with it, and what somebody else changed there; an open editor goes on."""
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

    def complain(self, complaints: Sequence[Problem]) -> None:
        """Show what the server said of single fields, until the next edit."""
        self.view = replace(self.view, complaints=tuple(complaints))
        self._paint()
        self.go_to_error()

    def filter(self, query: str) -> None:
        """Show only rows that match all words."""
        self.view = replace(self.view, query=query)
        self._paint()

    def suggest(self, suggestions: Mapping[str, Sequence[str]]) -> None:
        """Know what the server suggests; an open editor offers it at once."""
        self.suggestions = suggestions
        if self.editor is not None and self.editor.entry.key in suggestions:
            self.editor.suggest(suggestions[self.editor.entry.key])
            self.post_message(self.Moved())

    def start(self) -> None:
        """Take the keyboard."""
        self.screen.set_focus(self.list if self.editor is None else self.editor.first)

    def go_to_error(self) -> Problem | None:
        """Put the cursor on the first error and return it; None when there is none."""
        error = next(iter(self.view.errors), None)
        if error is not None:
            self.list.move_to(row_of(error.key, error.row))
        return error

    # Editing

    async def edit(self) -> None:
        """Open the editor of the field under the cursor, if it has one."""
        entry = self.view.field(self.row)
        editor = editor_for(entry, self.draft) if entry is not None else None
        if editor is not None:
            self._opened = self.draft
            await self.list.open(editor)
            self.suggest(self.suggestions)
            self._say_problem(editor)
            self.post_message(self.Moved())

    async def stop_editing(self) -> None:
        """Close the editor; what was typed stays in the draft."""
        if self.editor is not None:
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
            await self.change(lambda draft: draft.change_servers(Servers.edit, row, server))
            return
        new = self.draft.servers.next_row
        await self.change(lambda draft: draft.change_servers(Servers.add, server, after))
        self.list.move_to(f"{RowKind.SERVER}{new}")

    async def action_leave(self, step: int) -> None:
        """End editing and move the cursor by so many rows; what was typed stays."""
        await self.stop_editing()
        self.list.action_move(step)

    async def action_choose(self, step: int) -> None:
        """Go to a neighbouring choice of the editor; where it has none, to the next field."""
        if self.editor is not None and not self.editor.choose(step):
            await self.action_leave(step)

    @on(FieldEditor.Changed)
    def _typed(self, event: FieldEditor.Changed) -> None:
        event.stop()
        editor = self.editor
        if editor is not None and self._opened is not None:
            self._take(_with(self._opened, editor.entry.key, editor.value))
            self._say_problem(editor)

    @on(FieldEditor.Done)
    async def _done(self, event: FieldEditor.Done) -> None:
        event.stop()
        await self.stop_editing()

    def _say_problem(self, editor: FieldEditor) -> None:
        key = editor.entry.key
        editor.say_problem(self.view.problems.get(key) if key in self.draft.edits else None)

    def _take(self, draft: Draft) -> None:
        if draft is not self.draft:
            self.view = replace(self.view, draft=draft, complaints=())
            self._paint()
            self.post_message(self.Edited(draft))

    # The cursor

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
        self.screen.set_focus(self.list)

    # Painting

    def on_resize(self) -> None:
        """Lines are made for a width, and so is the rail."""
        self.set_class(self.size.width >= WIDER, "-wider")
        self.set_class(self.size.width < SLIM, "-slim")
        self.call_after_refresh(self._paint)

    def _paint(self) -> None:
        if self.is_mounted:
            self.list.show(_lines(self.view, self.list.size.width) or NO_MATCH)
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


def _lines(view: FormView, width: int) -> tuple[Line, ...]:
    """All lines of the form, group by group; a group in which nothing matches is left out."""
    found: list[Line] = []
    for group in view.groups:
        rows = [*group_lines(view, group, width), *(server_lines(view, width) if group == Group.MCP else ())]
        if rows:
            found += [*([Line()] if found else []), heading(view, group), *rows]
    return tuple(found)


def _with(draft: Draft, key: str, value: Any) -> Draft:
    return draft.revert(key) if value is KEEP else draft.set(key, value)
