"""The settings: edit a draft by keyboard, and save it so that nothing stored is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType

from quarterdeck.draft import mcp_checks
from quarterdeck.draft.catalogue import BY_KEY
from quarterdeck.draft.draft import Draft
from quarterdeck.draft.mcp import copy_of, empty_server
from quarterdeck.draft.merge import Conflict, Side
from quarterdeck.draft.problem import Problem
from quarterdeck.draft.review import Review
from quarterdeck.service.models.mcp import McpServer
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Command, Place, bindings_at, command_at
from quarterdeck.tui.dialogs.conflicts import ConflictsDialog
from quarterdeck.tui.dialogs.detail import DetailDialog
from quarterdeck.tui.dialogs.leave_edits import LeaveEdits, LeaveEditsDialog
from quarterdeck.tui.dialogs.mcp_server import McpServerDialog
from quarterdeck.tui.dialogs.pick_transport import PickTransportDialog
from quarterdeck.tui.dialogs.review import review_dialog
from quarterdeck.tui.screens.loaded_settings import LoadedSettings
from quarterdeck.tui.settings_save import Questions, SaveResult, save
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.allowed import why_not
from quarterdeck.tui.widgets.settings.field_filter import FieldFilter
from quarterdeck.tui.widgets.settings.form import SettingsForm

if TYPE_CHECKING:
    from quarterdeck.service.prepared import PreparedRequest

ANYWHERE = frozenset({"copy_server", "back"})
"""Commands of this screen whose keys mean something else where there is nothing to edit."""


class SettingsScreen(LoadedSettings):
    """What can be done with the settings."""

    PLACE = Place.SETTINGS
    BINDINGS: ClassVar[list[BindingType]] = bindings_at(Place.SETTINGS)
    CSS_PATH = "settings.tcss"

    def why_not(self, command: Command) -> str | None:
        """What a command needs of the draft and of the row under the cursor."""
        reason = super().why_not(command)
        if reason is not None or command.place is not Place.SETTINGS or command.name in ANYWHERE:
            return reason
        if not self.is_mounted or not self.loaded:
            return f"{command.label}: the settings are not loaded."
        if self.saving:
            return f"{command.label}: a save is under way."
        return why_not(command.name, self.form)

    # Fields

    async def action_edit(self) -> None:
        """Edit the row under the cursor."""
        await self.form.edit()

    async def action_undo(self) -> None:
        """Take back the last edit."""
        await self.form.change(Draft.undo)

    async def action_redo(self) -> None:
        """Do the edit again that was taken back."""
        await self.form.change(Draft.redo)

    async def action_revert(self) -> None:
        """Drop the edit of the row under the cursor."""
        entry, row = self.form.entry, self.form.row
        if entry is None:
            await self.form.change(lambda draft: draft.revert(row))
        elif entry.was is None:
            await self.form.change(lambda draft: draft.remove_server(entry.row))
        else:
            await self.form.change(lambda draft: draft.restore_server(entry.row))

    async def action_unset(self) -> None:
        """Make the field under the cursor not set, or clear its secret."""
        row = self.form.row
        await self.form.change(lambda draft: draft.unset(row))

    # The filter

    def action_filter(self) -> None:
        """Type into the filter."""
        self.field_filter.open()

    @on(FieldFilter.Changed)
    def _filter_rows(self, event: FieldFilter.Changed) -> None:
        self.form.filter(event.words)

    @on(FieldFilter.Done)
    def _back_to_form(self) -> None:
        self.form.start()

    # MCP servers

    @on(SettingsForm.ServerChosen)
    def _server_chosen(self, event: SettingsForm.ServerChosen) -> None:
        if event.row is None:
            self.action_add_server()
        else:
            self._edit_server(event.row)

    @work(exclusive=True, group="dialog")
    async def action_add_server(self) -> None:
        """Add an MCP server: first its type, then its members."""
        transport = await self.app.push_screen_wait(PickTransportDialog())
        if transport is not None:
            await self._fill_in(Shown(f"New {transport} server"), empty_server(transport))

    @work(exclusive=True, group="dialog")
    async def action_copy_server(self) -> None:
        """Copy the MCP server under the cursor; elsewhere the key chooses a connection."""
        entry = self.form.entry
        if entry is None:
            self.app.ask_for_connection()
            return
        await self._fill_in(Shown("Copy of an MCP server"), copy_of(entry.server, self.form.draft.servers), entry.row)

    @work(exclusive=True, group="dialog")
    async def _edit_server(self, row: int) -> None:
        entry = self.form.draft.servers.entry(row)
        if entry is None:
            return
        dialog = McpServerDialog(Shown("MCP server"), entry.server, lambda server: self._problems(server, row))
        server = await self.app.push_screen_wait(dialog)
        if server is not None:
            await self.form.put_server(row, server)

    async def _fill_in(self, title: Shown, server: McpServer, after: int | None = None) -> None:
        filled = await self.app.push_screen_wait(McpServerDialog(title, server, self._problems))
        if filled is not None:
            await self.form.put_server(None, filled, after=after)

    def _problems(self, server: McpServer, row: int | None = None) -> list[Problem]:
        servers = self.form.draft.servers
        changed = servers.add(server) if row is None else servers.edit(row, server)
        number = servers.next_row if row is None else row
        return [problem for problem in mcp_checks.problems(changed) if problem.row == number]

    async def action_delete_server(self) -> None:
        """Delete the MCP server under the cursor, at the next save."""
        entry = self.form.entry
        if entry is not None:
            await self.form.change(lambda draft: draft.remove_server(entry.row))
            self.say(Shown("Deleted at the next save; ctrl+z takes it back."))

    # Saving

    @work(group="settings-save")
    async def action_save(self) -> None:
        """Review the edits and save them."""
        await self._save()

    async def _save(self) -> bool:
        """Save; True when all that was meant is stored."""
        await self.form.stop_editing()
        reason = self.why_not(command_at(self.PLACE, "save"))
        if reason is not None:
            self.say(text.line(reason), Tone.WARN)
            return False
        problem = self.form.go_to_error()
        if problem is not None:
            self.say(text.line(f"{_place(problem)}: {problem.words}"), Tone.BAD)
            return False
        session = self.app.session
        if session is None or session.server is None:
            return False
        self.saving = True
        try:
            questions = Questions(self._ask_sides, self._ask_agreement)
            result = await save(self.form.draft, session.client.settings, session.server, questions, self._tell)
        finally:
            self.saving = False
        self._show_result(result)
        return result.saved

    async def _ask_sides(self, conflicts: Sequence[Conflict]) -> Sequence[Side] | None:
        return await self.app.push_screen_wait(ConflictsDialog(conflicts))

    async def _ask_agreement(self, review: Review, request: PreparedRequest, again: bool) -> bool:
        agreed = await self.app.push_screen_wait(review_dialog(review, request, again=again))
        return agreed is True

    def _tell(self, step: str) -> None:
        self.bar.say(cell(text.line(step), Tone.BUSY))

    def _show_result(self, result: SaveResult) -> None:
        self.put(result.draft)
        tone = Tone.BAD if result.error else Tone.GOOD if result.saved else Tone.MUTED
        now = self.app.clock().astimezone()
        self.bar.say(((Shown(f"{now:%H:%M} "), Tone.MUTED), (text.line(result.words), tone)))
        if result.error:
            self.say(text.line(result.words), Tone.BAD)
        else:
            self.message_line.clear()
        if result.complaints:
            self.form.complain(result.complaints)
        if result.differences:
            said = _differences(result)
            self.app.push_screen(DetailDialog(Shown("What the server holds is not what was saved"), lambda: said))

    # Leaving

    @property
    def unsaved(self) -> bool:
        """Whether there are edits."""
        return self.is_mounted and self.form.draft.edited

    async def may_leave(self) -> bool:
        """Ask what to do with the edits; True when they are saved or dropped."""
        answer = await self.app.push_screen_wait(LeaveEditsDialog(self.form.draft.count))
        if answer is LeaveEdits.SAVE:
            return await self._save()
        if answer is LeaveEdits.DISCARD:
            await self.form.change(Draft.discard)
            return True
        return False

    @work(exclusive=True, group="dialog")
    async def action_back(self) -> None:
        """Show all fields again if they are filtered, else go back to the conversations."""
        if self.field_filter.words:
            self.field_filter.action_clear()
        elif not self.unsaved or await self.may_leave():
            self.app.show(Place.CONVERSATIONS)


def _place(problem: Problem) -> str:
    return BY_KEY[problem.key].label if problem.row is None else "MCP server"


def _differences(result: SaveResult) -> list[Cell]:
    said: list[Cell] = []
    for difference in result.differences:
        note = "" if difference.asked else "  (not changed by this save)"
        said.append(((text.line(difference.label), Tone.STRONG), (Shown(note), Tone.MUTED)))
        said.append(((Shown("  meant  "), Tone.MUTED), (text.line(difference.meant), Tone.PLAIN)))
        said.append(((Shown("  holds  "), Tone.MUTED), (text.line(difference.found), Tone.WARN)))
    return said
