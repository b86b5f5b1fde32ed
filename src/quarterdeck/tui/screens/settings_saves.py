"""Saving the settings, taking the last save back, and settings as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import work

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.settings import journal
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Problem
from quarterdeck.settings.journal import Journal, Saved
from quarterdeck.settings.review import problems, until_when
from quarterdeck.settings.save import SaveResult
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import command_at
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.screens.settings_servers import SettingsServers
from quarterdeck.tui.settings import files as settings_files
from quarterdeck.tui.settings.saving import Saving
from quarterdeck.tui.settings.words import difference_lines, undo_lines
from quarterdeck.tui.text import Shown


class SettingsSaves(SettingsServers):
    """What sends the draft, or carries it to and from files."""

    @work(group="settings-save")
    async def action_save(self) -> None:
        """Review the edits and save them."""
        await self.save_edits()

    async def save_edits(self) -> bool:
        """Save; True when all that was meant is stored."""
        await self.form.stop_editing()
        reason = self.why_not(command_at(self.PLACE, "save"))
        if reason is not None:
            self.say(text.line(reason), Tone.WARN)
            return False
        problem = self.form.go_to_error()
        if problem is not None:
            self.say(text.line(f"{self._place(problem)}: {problem.words}"), Tone.BAD)
            return False
        result = await self._store(self.form.draft)
        if result is not None:
            self._show_result(result)
        return result is not None and result.saved

    def _place(self, problem: Problem) -> str:
        return self.form.draft.field_at(problem.key).label if problem.row is None else "MCP server"

    async def _store(self, draft: Draft, preface: Sequence[Cell] = ()) -> SaveResult | None:
        session, endpoint = self.app.session, self.endpoint
        if session is None or session.server is None or self.store is None or endpoint is None:
            return None
        self.saving = True
        try:
            return await Saving(self.app, endpoint, self.store, session.server, self._tell, preface).run(draft)
        finally:
            self.saving = False

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
            self.say(text.line(self._until_when(result)))
        if result.complaints:
            self.form.complain(result.complaints)
        if result.differences:
            said = difference_lines(result.differences)
            self.app.push_screen(PageDialog(Shown("What the server holds is not what was saved"), lambda: said))

    def _until_when(self, result: SaveResult) -> str:
        """Who goes by what was saved, and from when on."""
        session = self.app.session
        if session is None or session.server is None or result.meant is None:
            return ""
        conversations = session.conversations.records.values()
        running = sum(each.sandbox_status == SandboxStatus.RUNNING for each in conversations)
        said = until_when(result.meant, session.server, running)
        return f"For {said}." if said else ""

    # Taking a save back

    @work(group="settings-save")
    async def action_undo_save(self) -> None:
        """Show what takes back the last save, and send it when agreed to."""
        store, endpoint = self.store, self.endpoint
        if store is None or endpoint is None:
            return
        self._tell("Reading what is stored now…")
        try:
            saved = journal.last(await self.app.state.read(Journal, endpoint.about))
            found = await store.load()
        except ServiceError as error:
            self.say_error(error)
            return
        finally:
            self.bar.say(EMPTY)
        if saved is None:
            self.say(Shown("No save from here is noted, so there is nothing to undo."))
        else:
            await self._take_back(saved, replace(self.form.draft, base=found, past=(), future=()))

    async def _take_back(self, saved: Saved, fresh: Draft) -> None:
        undo = journal.undone(saved, fresh)
        said = undo_lines(saved, undo, self.app.clock())
        if not undo.draft.edited:
            self.app.push_screen(PageDialog(Shown("Nothing of the last save can be undone"), lambda: said))
            return
        if any(problem.stops for problem in problems(undo.draft, self.form.view.server)):
            self.put(undo.draft)
            self.form.go_to_error()
            said.append(cell(Shown("Type what is missing at the marked rows; ctrl+s then shows it all again.")))
            self.app.push_screen(PageDialog(Shown("The last save, taken back as edits"), lambda: said))
            return
        result = await self._store(undo.draft, said)
        if result is not None and (result.meant is not None or result.error):
            self._show_result(result)
        elif result is not None:
            self.put(fresh)
            self.bar.say(cell(Shown("Not undone; all is as it was."), Tone.MUTED))

    # Files

    @work(exclusive=True, group="dialog")
    async def action_export(self) -> None:
        """Write the settings to a file."""
        await self.form.stop_editing()
        path = await settings_files.export(self.app, self.form.draft)
        if path is not None:
            self.say(text.line(f"Written to {path}, without secrets; only you can open it."), Tone.GOOD)

    @work(exclusive=True, group="dialog")
    async def action_import(self) -> None:
        """Take settings from a file, as edits."""
        await self.form.stop_editing()
        read = await settings_files.read(self.app, self.form.draft)
        if read is None:
            return
        path, found = read
        before = self.form.draft.edits
        await self.form.change(lambda draft: found.draft)
        same = self.form.draft.edits == before
        news = "It brings no change." if same else "ctrl+s shows the edits, ctrl+z takes them back."
        self.say(text.line(f"{path.name} is read. {news}"), Tone.GOOD)
        if found.notes:
            said = [cell(text.line(note)) for note in found.notes]
            self.app.push_screen(PageDialog(text.line(f"Read from {path.name}"), lambda: said))
