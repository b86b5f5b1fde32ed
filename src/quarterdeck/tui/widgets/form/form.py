"""The settings form: groups, list of fields, help, and a field edited in place. It knows no server.

Every edit creates a new draft, which is reported at once, so that the form can be removed at any moment without losing
an edit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from textual import on
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widgets import OptionList, Static

from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.paint import content, cut
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.bars import Said
from quarterdeck.tui.widgets.form.editors import FieldEditor, editor_for
from quarterdeck.tui.widgets.form.field_list import FieldList
from quarterdeck.tui.widgets.form.help import full_help, short_help
from quarterdeck.tui.widgets.form.lines import form_lines
from quarterdeck.tui.widgets.form.rows import NOWHERE, CheckResult, FormView, Lists, Row, row_of
from quarterdeck.tui.widgets.inputs import KEEP
from quarterdeck.tui.widgets.lines import Lines
from quarterdeck.tui.widgets.strips import CURSOR, clip


class GroupTabs(Static):
    """The groups, one per line, or in one line on a narrow screen; a click goes to a group."""

    ALLOW_SELECT = False
    auto_links = reactive(default=False)

    def __init__(self) -> None:
        super().__init__(id="tabs")

    def show(self, view: FormView, here: str, *, slim: bool) -> None:
        """Show the current group, and the number of edits and errors in each."""
        tabs = [self._tab(view, number, is_here=group == here, slim=slim) for number, group in enumerate(view.groups)]
        place = view.groups.index(here) if slim and here in view.groups else 0
        shown = Content("  " if slim else "\n").join([*tabs[place:], *tabs[:place]])
        if shown != self.content:
            self.update(shown, layout=False)

    def _tab(self, view: FormView, number: int, *, is_here: bool, slim: bool) -> Content:
        """Return `▌LLM *2 !1`: edits and errors, right-aligned if the group has a line of its own."""
        group = view.groups[number]
        edits, errors = view.edits_in[group], view.errors_in[group]
        counts = f" *{edits:,}" if edits else "", f" !{errors:,}" if errors else ""
        name, mark = line(group), CURSOR if is_here else ""
        if not slim:
            room = max(self.size.width - 2 - len("".join(counts)), 1)
            name, mark = Shown(f"{clip(name, room)[0]:<{room}}"), f"{mark:<2}"
        spans = (
            (Shown(mark), Tone.BUSY),
            (name, Tone.STRONG if is_here else Tone.MUTED),
            (Shown(counts[0]), Tone.EDITED),
            (Shown(counts[1]), Tone.BAD),
        )
        return content(spans).stylize(Style.from_meta({"@click": f"screen.go_to_group({number})"}))


class SettingsForm(Vertical):
    """Shows a draft, what a server can do with it and what is wrong with it, and edits it by keyboard."""

    BINDINGS = bindings(
        {
            "enter,escape": "leave(0)",
            "tab": "go_on(1)",
            "shift+tab": "go_on(-1)",
            "down": "choose(1)",
            "up": "choose(-1)",
        },
        priority=True,
    )
    """The key bindings while a field is edited."""

    class Edited(Message):
        """The draft changed."""

    class AllShown(Message):
        """The filter hid the row to go to and was cleared."""

    def __init__(self) -> None:
        self.tabs, self.list = GroupTabs(), FieldList()
        self.help_full, self.help_short = Lines(id="help-full"), Static(id="help-short")
        self.help_pane = VerticalScroll(self.help_full, id="help-pane", can_focus=False)
        side_by_side = Horizontal(self.tabs, self.list, self.help_pane, id="form-columns")
        super().__init__(side_by_side, self.help_short)  # the width decides which of them are shown
        self.view = FormView(Draft())
        self.suggestions: Mapping[str, Sequence[str]] = {}
        """The server's suggestions by field."""
        self._visited = ""
        """The row under the cursor, if a person has seen it there."""
        self.awaited = ""
        """A row to go to once it is read, unless the cursor is moved before."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The form's own keys work only while an editor is open."""
        return self.editor is not None

    # The current state

    @property
    def draft(self) -> Draft:
        """The draft being edited."""
        return self.view.draft

    @property
    def editor(self) -> FieldEditor | None:
        """The open editor, if any."""
        return self.list.editor

    @property
    def row(self) -> Row:
        """The row under the cursor."""
        return self.view.rows.get(self.list.cursor, NOWHERE)

    # Methods for the screen

    def show(self, view: FormView) -> None:
        """Show a draft, what a server can do with it, and what somebody else changed; an open editor stays open."""
        if self.editor is not None:
            self.editor.draft = view.draft
        self._set_view(view)
        self.post_message(self.Edited())

    def show_lists(self, lists: Lists) -> None:
        """Show the data that is saved at once."""
        self._set_view(replace(self.view, lists=lists))

    def show_checks(self, checks: Mapping[int, CheckResult]) -> None:
        """Show what checks of MCP servers found, by row, besides what earlier ones did."""
        self._set_view(replace(self.view, checks={**self.view.checks, **checks}))

    def complain(self, complaints: Sequence[Problem]) -> None:
        """Show the server's errors: about fields until the next edit, about an edited MCP server until it changes."""
        self._set_view(replace(self.view, complaints=tuple(complaints)))
        self.go_to_error()

    def filter(self, query: str) -> None:
        """Show only rows that contain all words, with the cursor on the first."""
        self._set_view(replace(self.view, query=query))
        if query:
            self.list.action_first()

    def suggest(self, suggestions: Mapping[str, Sequence[str]]) -> None:
        """Set the server's suggestions; an open editor offers them at once."""
        self.suggestions = suggestions
        if self.editor is not None and self.editor.entry.key in suggestions:
            self.editor.suggest(suggestions[self.editor.entry.key])
            self.list.post_message(FieldList.Moved())

    def start(self) -> None:
        """Take the focus."""
        self.screen.set_focus(self.list if self.editor is None else self.editor.first)

    def go_to_error(self) -> Problem | None:
        """Move the cursor to the first error and return it; None if there is none."""
        error = next(iter(self.view.errors), None)
        if error is not None:
            self.go_to(row_of(error.key, error.row))
        return error

    def go_to(self, row: str) -> None:
        """Move the cursor to a row; a filter that hides it is cleared."""
        if row not in self.view.rows:
            self._set_view(replace(self.view, query=""))
            self.post_message(self.AllShown())
        self.list.move_to(row)

    # Editing

    async def edit(self) -> None:
        """Open the editor of the field under the cursor, if it has one."""
        entry = self.row.field
        editor = editor_for(entry, self.draft) if entry is not None else None
        if editor is not None:
            self.view = replace(self.view, editing=editor.entry.key)
            await self.list.open(editor)
            self.suggest(self.suggestions)
            self._say_problem(editor)

    async def stop_editing(self) -> None:
        """Close the editor; what was typed stays in the draft."""
        if self.editor is not None:
            await self.list.close()
            self._set_view(replace(self.view, editing=""))

    async def change(self, change: Callable[[Draft], Draft]) -> bool:
        """Apply a change to the draft; returns whether the draft changed."""
        await self.stop_editing()
        return self._take(change(self.draft))

    async def take_over(self, draft: Draft) -> bool:
        """Go on with another draft, with the cursor on the first row that differs; returns whether one does.

        If a filter hides that row, all is shown.
        """
        await self.stop_editing()
        first = next(_changed_rows(self.draft, draft), "")
        is_hidden = first not in self.view.rows
        self.list.move_to(first)  # now, because it may go
        changed = self._take(draft)
        if changed and is_hidden:
            self.go_to(first)
        return changed

    async def action_undo(self) -> None:
        """Undo the last edit."""
        await self.take_over(self.draft.undo())

    async def action_redo(self) -> None:
        """Redo the edit that was undone."""
        await self.take_over(self.draft.redo())

    async def action_revert(self) -> None:
        """Discard the edit of the row under the cursor; a new MCP server is deleted."""
        entry, key = self.row.entry, self.row.name
        if entry is not None and entry.before is None:
            self.screen.post_message(Said("Deleted; ctrl+z takes it back."))
        await self.change(lambda draft: draft.revert(key, None if entry is None else entry.row))

    async def action_unset(self) -> None:
        """Unset the field under the cursor, or clear its secret."""
        key = self.row.name
        await self.change(lambda draft: draft.unset(key))

    async def action_leave(self, step: int) -> None:
        """Stop editing and move the cursor by that many rows; what was typed is kept."""
        before = self.list.cursor
        await self.stop_editing()
        if step < 1 or self.list.cursor == before:  # else the row is hidden again, and the next one in its place
            self.list.action_move(step)

    async def action_go_on(self, step: int) -> None:
        """Edit the next or previous row instead, if it is edited in place."""
        before = self.list.cursor
        await self.action_leave(step)
        if self.list.cursor != before:
            await self.edit()

    async def action_choose(self, step: int) -> None:
        """Go to the next choice of the editor; if it has none, to the next field."""
        if self.editor is not None and not self.editor.choose(step):
            await self.action_leave(step)

    @on(FieldEditor.Changed)
    def _take_edit(self) -> None:
        editor = self.editor
        if editor is not None:
            key, value = editor.entry.key, editor.value
            self._take(editor.draft.revert(key) if value is KEEP else editor.draft.set(key, value))
            self._say_problem(editor)

    @on(OptionList.OptionSelected)
    async def _take_clicked(self) -> None:
        self._take_edit()
        await self.stop_editing()

    def _say_problem(self, editor: FieldEditor) -> None:
        key = editor.entry.key
        editor.say_problem(self.view.problems.get(key) if key in self.draft.edits else None)

    def _take(self, draft: Draft) -> bool:
        if draft is self.draft:
            return False
        complaints = tuple(each for each in self.view.complaints if self._still(each, draft))
        self._set_view(replace(self.view, draft=draft, complaints=complaints))
        self.post_message(self.Edited())
        return True

    def _still(self, complaint: Problem, draft: Draft) -> bool:
        """Whether an error of the server is about an edited MCP server that another draft leaves as it is."""
        entry = None if complaint.row is None else draft.servers.entry(complaint.row)
        return entry is not None and entry.edited and entry == self.draft.servers.entry(entry.row)

    # The cursor

    @on(FieldList.Moved)
    async def _cursor_moved(self) -> None:
        if self.editor is not None and self.editor.entry.key != self.list.cursor:
            await self.stop_editing()
        if self._visited in self.view.arrived:
            self._set_view(replace(self.view, arrived=self.view.arrived - {self._visited}))
        self._visited, self.awaited = self.row.id, ""
        self._paint_around()

    # Painting

    def on_resize(self) -> None:
        """Paint again, because lines and groups depend on the width."""
        self.call_after_refresh(self._paint)

    def _set_view(self, view: FormView) -> None:
        self.view = view
        self._paint()
        if self.awaited in view.rows:
            self.list.move_to(self.awaited)
            self.awaited = ""

    def _paint(self) -> None:
        if self.help_short.is_mounted:  # otherwise it is not mounted yet, or the deck was left
            self.list.show(self.view.rows, form_lines(self.view, self.list.scrollable_content_region.width))
            self._paint_around()

    def _paint_around(self) -> None:
        row = self.row
        self.tabs.show(self.view, row.group, slim=self.screen.has_class("-slim"))
        self.help_short.update(cut(content(short_help(self.view, row)), self.help_short.content_size), layout=False)
        if self.help_pane.display:
            self.help_full.say(full_help(self.view, row))


def _changed_rows(before: Draft, after: Draft) -> Iterator[str]:
    """Yield the ids of the rows in which two drafts of one record differ."""
    for key in dict.fromkeys((*before.edits, *after.edits)):
        if key == MCP:
            rows = dict.fromkeys(entry.row for draft in (before, after) for entry in draft.servers.entries)
            yield from (row_of(MCP, row) for row in rows if before.servers.entry(row) != after.servers.entry(row))
        elif before.edits.get(key, KEEP) != after.edits.get(key, KEEP):
            yield key
