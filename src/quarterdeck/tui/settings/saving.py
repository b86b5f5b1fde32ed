"""Saving and undoing a save: the review, conflicts, the journal on this machine, and the result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.config.connections import Connection
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.kept import DisabledServers, Journal
from quarterdeck.settings.mcp import without_new_copies
from quarterdeck.settings.merge import Conflict, Side, merge
from quarterdeck.settings.review import Review, no_longer_active, problems, until_when
from quarterdeck.settings.save import Caller, SaveResult, save
from quarterdeck.settings.words import server_title
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.dialogs.saving import ReviewDialog, conflict_dialog
from quarterdeck.tui.settings import words
from quarterdeck.tui.settings.record import Record
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.form import SettingsForm

REVIEW_TITLE = "Review the changes"
NO_SAVE = "No save from here is noted, so there is nothing to undo."
UNDO_TITLE = "Undo the last save"


@dataclass
class Saves:
    """Saves the form's draft; `bar` shows each step and the result, `say` shows messages."""

    app: Deck
    record: Record
    form: SettingsForm
    bar: Callable[[Cell], None]
    say: Callable[[str, Tone], None]
    under_way: bool = False

    def action_save(self) -> None:
        """Review the edits and save them."""
        self.form.run_worker(self.save(), group="settings-save")

    def action_undo_save(self) -> None:
        """Show what undoes the last save, and send it if the person agrees."""
        self.form.run_worker(self._undo(), group="settings-save")

    async def save(self) -> bool:
        """Review the edits and save them; returns True if everything meant is stored. Runs inside a worker."""
        await self.form.stop_editing()
        error = self.form.go_to_error()
        if error is not None:
            entry = None if error.row is None else self.form.draft.servers.entry(error.row)
            label = self.form.draft.field_at(error.key).label if entry is None else server_title(entry.server)
            self.say(f"{label}: {error.words}", Tone.BAD)
            return False
        endpoint = self.record.endpoint
        result = await self._store(self.form.draft, ReviewDialog(REVIEW_TITLE))
        self._show(result, endpoint)
        return result.saved

    async def _undo(self) -> None:
        store, endpoint = self.record.store, self.record.endpoint
        if store is None:
            return
        dialog = ReviewDialog(UNDO_TITLE)
        await self.app.push_screen(dialog)
        dialog.tell("Reading what is stored now…")
        try:
            journal = await self.app.state.read(Journal, endpoint.about)
            found = await store.load()
        except ServiceError as error:
            dialog.action_cancel()
            self.say(error.sentences, Tone.BAD)
            return
        if dialog.answer.done():
            return
        last = journal.last_save(merge(self.form.draft, found).draft)
        if last is None:
            dialog.action_cancel()
            self.say(NO_SAVE, Tone.PLAIN)
            return
        saved, undo = last
        whole = undo.draft
        undo = replace(undo, draft=whole.change_servers(without_new_copies))
        said = words.undo_lines(saved, undo, self.app.clock())
        if undo.draft != whole:
            said.append(cell("An MCP server that was there twice stays there once.", Tone.WARN))
        missing = any(problem.stops for problem in problems(undo.draft, self.record.server))
        if missing or not undo.draft.edited:
            dialog.action_cancel()
            await self._show_undone(undo.draft, said, missing=missing)
            return
        result = await self._store(undo.draft, dialog, said)
        if result.meant is not None or result.error:
            self._show(result, endpoint)
        else:
            self.bar(cell("Not undone; all is as it was.", Tone.MUTED))

    async def _show_undone(self, draft: Draft, said: Sequence[Cell], *, missing: bool) -> None:
        """Show why an undo is not sent: nothing can be undone, or something must be typed first."""
        title = "Nothing of the last save can be undone"
        if missing:
            self.record.put(draft)
            self.form.go_to_error()
            title = "The last save, taken back as edits"
            said = [*said, cell("Type what is missing at the marked rows; ctrl+s then shows it all again.")]
        await self.app.push_screen(PageDialog(title, said))

    async def _store(self, draft: Draft, dialog: ReviewDialog, preface: Sequence[Cell] = ()) -> SaveResult:
        """Save a draft: the dialog asks, and further dialogs ask each time there is something new to agree to.

        `preface` is shown above the review.
        """
        store, endpoint, session = self.record.store, self.record.endpoint, self.app.session
        if store is None or session is None:
            return SaveResult(draft, "Not saved; the settings are not loaded.", error=True)
        change = self.app.state.change

        def tell(step: str) -> None:
            self.bar(cell(step, Tone.BUSY))
            dialog.tell(step)

        async def settle(conflict: Conflict) -> Side | None:
            if dialog.cancelled:
                return None
            self.bar(cell("Changed elsewhere, too", Tone.WARN))
            return await self.app.push_screen_wait(conflict_dialog(conflict, draft.field_at(conflict.key)))

        async def agree(review: Review, request: PreparedRequest | None, why: str) -> bool:
            nonlocal dialog
            if dialog.cancelled:
                return False
            if not dialog.waits:
                dialog = ReviewDialog(REVIEW_TITLE)
                await self.app.push_screen(dialog)
            dialog.show(review, request, why, preface)
            return await dialog.answer

        async def note(noted: Callable[[Journal], Journal]) -> Journal:
            journal = await change(Journal, endpoint.about, noted)
            self.record.has_save = bool(journal.saves)
            return journal

        keep = partial(change, DisabledServers, endpoint.about)
        sending = partial(session.writes.under_way, "save of the settings")
        self.under_way = True
        try:
            if not dialog.is_mounted:
                await self.app.push_screen(dialog)
            return await save(draft, store, Caller(settle, agree, note, keep, self.app.clock, sending, tell))
        finally:
            self.under_way = False
            if not dialog.answer.done():
                dialog.action_cancel()

    def _show(self, result: SaveResult, endpoint: Connection) -> None:
        """Show the result of a save, and continue with its draft, unless the settings of another server are shown."""
        if self.record.endpoint.place != endpoint.place:
            elsewhere = text.line(f"The save of the settings of {endpoint.name}: {result.words}")
            self.say(elsewhere, Tone.BAD if result.error else Tone.PLAIN)
            self.bar(EMPTY)
            return
        self.record.put(result.draft)
        if result.seen is not None:
            self.record.read_at = self.app.clock()
        kept = result.error and result.draft.edited
        told = f"{result.words.rstrip('.')}. Your edits are kept." if kept else result.words
        said, now = text.line(told), self.app.clock().astimezone()
        if result.error:
            tone = Tone.BAD
            self.say(said, Tone.BAD)
            if self.app.session is not None:
                self.app.session.server.doubt()  # it may be another one
        else:
            tone = Tone.GOOD if result.saved else Tone.MUTED
            inactive = "" if result.meant is None else no_longer_active(result.meant.base, result.draft.base)
            self.say(f"{self._until_when(result)} {inactive}".strip(), Tone.PLAIN)
        self.bar(((Shown(f"{now:%H:%M} "), Tone.MUTED), (said, tone)))
        if result.complaints:
            self.form.complain(result.complaints)
        if result.seen is not None and result.seen.differences:
            lines = words.difference_lines(result.seen.differences)
            self.app.push_screen(PageDialog("What the server holds is not what was saved", lines))

    def _until_when(self, result: SaveResult) -> str:
        """Return who uses what was saved, and from when on."""
        session = self.app.session
        if session is None or session.server.kind is None or result.meant is None:
            return ""
        conversations = session.conversations.records.values()
        running = sum(each.sandbox_status == SandboxStatus.RUNNING for each in conversations)
        said = until_when(result.meant, session.server.kind, running)
        return f"What is saved is for {said}." if said else ""
