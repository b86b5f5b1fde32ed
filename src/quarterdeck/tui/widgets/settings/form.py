"""The settings form: its fields edited in place. It knows no server.

Whatever is done makes a new draft, which is told at once: the form can go away at any moment without losing an edit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from textual import on
from textual.message import Message

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.tui.widgets.settings.editor import KEEP, FieldEditor
from quarterdeck.tui.widgets.settings.editors import editor_for
from quarterdeck.tui.widgets.settings.field_list import FieldList
from quarterdeck.tui.widgets.settings.rail import Rail
from quarterdeck.tui.widgets.settings.rows import RowKind, server_row
from quarterdeck.tui.widgets.settings.select_editor import SelectEditor
from quarterdeck.tui.widgets.settings.shown_form import ShownForm
from quarterdeck.tui.widgets.settings.text_editor import SuggestEditor


class SettingsForm(ShownForm):
    """Edits a draft by keyboard; `show` gives it one."""

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
        self._opened: Draft | None = None
        """The draft that the open editor edits one field of."""
        self._looked_at = ""
        """The row under the cursor, as far as it is known that somebody saw it."""

    # What the screen gives

    def show(
        self,
        draft: Draft,
        server: Server | None,
        contested: Iterable[str] = (),
        arrived: Iterable[str | Identity] = (),
    ) -> None:
        """Show another draft; an open editor goes on with it."""
        super().show(draft, server, contested, arrived)
        if self._opened is not None:
            self._opened = draft

    def suggest(self, suggestions: Mapping[str, Sequence[str]]) -> None:
        """Know what the server suggests; an open editor offers it at once."""
        self.suggestions = suggestions
        editor = self.list.editor
        if isinstance(editor, SelectEditor | SuggestEditor) and editor.entry.key in suggestions:
            editor.suggest(suggestions[editor.entry.key])

    def start(self) -> None:
        """Take the keyboard."""
        if self.list.editor is not None:
            self.list.editor.start()
        else:
            self.screen.set_focus(self.list)

    # What the keys ask for

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
        self.screen.set_focus(self.list)

    def _take(self, draft: Draft) -> None:
        if draft is not self.draft:
            self.view = replace(self.view, draft=draft, complaints=())
            self._paint()
            self.post_message(self.Edited(draft))


def _with(draft: Draft, key: str, value: Any) -> Draft:
    return draft.revert(key) if value is KEEP else draft.set(key, value)
