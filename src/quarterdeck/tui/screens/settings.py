"""The settings: edit a draft by keyboard, and save it so that nothing stored is lost."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.binding import BindingType

from quarterdeck.settings.draft import Draft
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import Command, Place, bindings_at, command_at
from quarterdeck.tui.dialogs.choose import menu
from quarterdeck.tui.dialogs.leave_edits import LeaveEdits, LeaveEditsDialog
from quarterdeck.tui.screens.settings_saves import SettingsSaves
from quarterdeck.tui.widgets.settings.allowed import acts_at_once, why_not
from quarterdeck.tui.widgets.settings.field_filter import FieldFilter
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.help_text import title
from quarterdeck.tui.widgets.settings.key_hints import row_menu
from quarterdeck.tui.widgets.settings.rows import AT_ONCE, RowKind, kind_of, name_in

ANYWHERE = frozenset({"back"})
"""Commands of this screen whose keys mean something else where there is nothing to edit."""


class SettingsScreen(SettingsSaves):
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
        if self.app.endpoint.read_only and acts_at_once(command.name, self.form):
            return "This acts at once, and this connection is read-only: nothing is changed on the server."
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

    @work(exclusive=True, group="dialog")
    async def action_row_menu(self) -> None:
        """Show all that can be done with the row under the cursor."""
        await self.form.stop_editing()
        offers = [(command, label, self.why_not(command)) for command, label in row_menu(self.form)]
        chosen = await self.app.push_screen_wait(menu(title(self.form.view, self.form.row), offers))
        if chosen is not None:
            await self.action_command(chosen)

    def action_copy(self) -> None:
        """Copy the key of the field under the cursor; of an MCP server all but its secrets."""
        if self.form.entry is not None:
            self.copy_entry()
            return
        key = name_in(self.form.row)
        self.app.copy_to_clipboard(key)
        self.say(text.line(f"Copied {key}, if your terminal takes copies."))

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

    # Lists

    @on(SettingsForm.RowChosen)
    def _row_chosen(self, event: SettingsForm.RowChosen) -> None:
        reason = self.why_not(command_at(self.PLACE, "edit"))
        if reason is not None:
            self.say(text.line(reason), Tone.WARN)
        elif kind_of(event.row) is RowKind.MORE:
            self.action_filter()
        elif not name_in(event.row):
            self.act("add")
        else:
            self.act("edit")

    async def action_add(self) -> None:
        """Add to the list under the cursor; elsewhere an MCP server."""
        if self.form.kind in AT_ONCE:
            self.act("add")
        else:
            self.add_server()

    async def action_delete(self) -> None:
        """Delete what is under the cursor."""
        if self.form.kind in AT_ONCE:
            self.act("delete")
        else:
            await self.delete_server()

    async def action_rename(self) -> None:
        """Rename the profile under the cursor."""
        self.act("rename")

    async def action_new_value(self) -> None:
        """Give the secret under the cursor a new value."""
        self.act("new_value")

    # Leaving

    @property
    def unsaved(self) -> bool:
        """Whether there are edits."""
        return self.is_mounted and self.form.draft.edited

    async def may_leave(self) -> bool:
        """Ask what to do with the edits; True when they are saved or dropped."""
        answer = await self.app.push_screen_wait(LeaveEditsDialog(self.form.draft.count))
        if answer is LeaveEdits.SAVE:
            return await self.save_edits()
        if answer is LeaveEdits.DISCARD:
            await self.form.change(Draft.discard)
            self.changed()
            return True
        return False

    @work(exclusive=True, group="dialog")
    async def action_back(self) -> None:
        """Show all fields again if they are filtered, else go back to the conversations."""
        if self.field_filter.words:
            self.field_filter.action_clear()
        elif not self.unsaved or await self.may_leave():
            self.app.show(Place.CONVERSATIONS)
