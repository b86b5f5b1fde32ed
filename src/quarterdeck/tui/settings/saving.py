"""Saving and taking a save back: the review, what both sides changed, what is noted here, and what became of it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.kept import DisabledServers, Journal, disabled_in, exchanged, last, undone, with_save
from quarterdeck.settings.merge import Conflict, Side, merge
from quarterdeck.settings.review import Review, problems, until_when
from quarterdeck.settings.save import Questions, SaveResult, save
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.dialogs.saving import ConflictsDialog, ReviewDialog
from quarterdeck.tui.settings import words
from quarterdeck.tui.settings.record import Record
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.form import SettingsForm

REVIEW_TITLE = Shown("Review the changes")
UNDO_TITLE = Shown("Undo the last save")


class Saves:
    """The saves of the form's draft; `bar` is told each step and the outcome, `say` what there is to know."""

    def __init__(
        self,
        app: Deck,
        record: Record,
        form: SettingsForm,
        bar: Callable[[Cell], None],
        say: Callable[[Shown, Tone], None],
    ) -> None:
        self._app = app
        self._record = record
        self._form = form
        self._bar = bar
        self._say = say
        self.under_way = False

    async def save(self) -> bool:
        """Review the edits and save them; True when all that was meant is stored. Runs inside a worker."""
        error = self._form.go_to_error()
        if error is not None:
            label = self._form.draft.field_at(error.key).label if error.row is None else "MCP server"
            self._say(text.line(f"{label}: {error.words}"), Tone.BAD)
            return False
        result = await self._store(self._form.draft, ReviewDialog(REVIEW_TITLE))
        if result is not None:
            self._show(result)
        return result is not None and result.saved

    async def undo(self) -> None:
        """Show what takes back the last save, and send it when agreed to. Runs inside a worker."""
        store, endpoint = self._record.store, self._record.endpoint
        if store is None or endpoint is None:
            return
        dialog = ReviewDialog(UNDO_TITLE)
        await self._app.push_screen(dialog)
        dialog.tell("Reading what is stored now…")
        try:
            saved = last(await self._app.state.read(Journal, endpoint.about))
            found = await store.load()
        except ServiceError as error:
            dialog.action_cancel()
            self._say(text.line(f"{error.words} {error.advice}"), Tone.BAD)
            return
        if dialog.answer.done():
            return
        if saved is None:
            dialog.action_cancel()
            self._say(Shown("No save from here is noted, so there is nothing to undo."), Tone.PLAIN)
            return
        fresh = replace(self._form.draft, base=found, past=(), future=())
        undo = undone(saved, fresh)
        said = words.undo_lines(saved, undo, self._app.clock())
        missing = any(problem.stops for problem in problems(undo.draft, self._record.server))
        if not undo.draft.edited or missing:
            dialog.action_cancel()
            await self._show_undone(undo.draft, said, missing=missing)
            return
        result = await self._store(undo.draft, dialog, said)
        if result is not None and (result.meant is not None or result.error):
            self._show(result)
        elif result is not None:
            self._record.put(fresh)
            self._bar(cell(Shown("Not undone; all is as it was."), Tone.MUTED))

    async def _show_undone(self, draft: Draft, said: Sequence[Cell], *, missing: bool) -> None:
        """Say why an undo is not sent: nothing can be taken back, or something has to be typed first."""
        title = Shown("Nothing of the last save can be undone")
        if missing:
            self._record.put(draft)
            self._form.go_to_error()
            title = Shown("The last save, taken back as edits")
            said = [*said, cell(Shown("Type what is missing at the marked rows; ctrl+s then shows it all again."))]
        await self._app.push_screen(PageDialog(title, lambda: said))

    async def _store(self, draft: Draft, dialog: ReviewDialog, preface: Sequence[Cell] = ()) -> SaveResult | None:
        """Save a draft: the dialog asks, and after it another one each time there is something new to agree to.

        `preface` stands above the review of a save that is taken back.
        """
        store, server, endpoint = self._record.store, self._record.server, self._record.endpoint
        if server is None or store is None or endpoint is None:
            return None
        session, prepared = self._app.session, list[Draft]()

        def tell(step: str) -> None:
            self._bar(cell(text.line(step), Tone.BUSY))
            dialog.tell(step)

        async def settle(conflicts: Sequence[Conflict]) -> Sequence[Side] | None:
            return await self._app.push_screen_wait(ConflictsDialog(conflicts, draft.fields))

        async def agree(review: Review, request: PreparedRequest | None, why: str) -> bool:
            nonlocal dialog
            under_way.close()
            if not dialog.waits:
                dialog = ReviewDialog(REVIEW_TITLE)
                await self._app.push_screen(dialog)
            dialog.show(review, request, why, preface)
            return await dialog.answer

        async def prepare(agreed: Draft) -> None:
            if agreed.disabled != agreed.servers.to_keep_here:
                await self._exchange(endpoint.about, (), agreed.servers.to_keep_here)
                prepared.append(agreed)
            if session is not None:
                under_way.enter_context(session.writes.under_way("save of the settings"))

        self.under_way = True
        try:
            if not dialog.is_mounted:
                await self._app.push_screen(dialog)
            with ExitStack() as under_way:
                result = await save(draft, store, server, Questions(settle, agree, prepare), tell)
            return await self._settle(endpoint.about, result, prepared)
        finally:
            self.under_way = False
            if not dialog.answer.done():
                dialog.action_cancel()

    def _show(self, result: SaveResult) -> None:
        """Say what became of a save, and go on with its draft."""
        self._record.put(result.draft)
        tone = Tone.BAD if result.error else Tone.GOOD if result.saved else Tone.MUTED
        now = self._app.clock().astimezone()
        self._bar(((Shown(f"{now:%H:%M} "), Tone.MUTED), (text.line(result.words), tone)))
        if result.error:
            self._say(text.line(result.words), Tone.BAD)
        else:
            self._say(text.line(self._until_when(result)), Tone.PLAIN)
        if result.complaints:
            self._form.complain(result.complaints)
        if result.differences:
            said = words.difference_lines(result.differences)
            self._app.push_screen(PageDialog(Shown("What the server holds is not what was saved"), lambda: said))

    def _until_when(self, result: SaveResult) -> str:
        """Who goes by what was saved, and from when on."""
        session = self._app.session
        if session is None or session.server.kind is None or result.meant is None:
            return ""
        conversations = session.conversations.records.values()
        running = sum(each.sandbox_status == SandboxStatus.RUNNING for each in conversations)
        said = until_when(result.meant, session.server.kind, running)
        return f"For {said}." if said else ""

    # What is noted here

    async def _settle(self, about: str, result: SaveResult, prepared: Sequence[Draft]) -> SaveResult:
        """Note down what was done; what was kept here for a save that was refused, or not needed any more, goes."""
        try:
            if result.meant is not None and result.meant.changes:
                note = partial(with_save, meant=result.meant, found=result.found, when=self._app.clock())
                await self._app.state.change(Journal, about, note)
            agreed = prepared[-1] if prepared else None
            if agreed is not None and result.meant is None:
                await self._exchange(about, agreed.servers.to_keep_here, agreed.disabled)
            elif agreed is not None and result.saved:
                await self._exchange(about, agreed.disabled, agreed.servers.to_keep_here)
                kept = disabled_in(await self._app.state.read(DisabledServers, about))
                return replace(result, draft=merge(result.draft, result.draft.base, kept).draft)
        except ServiceError as error:
            return replace(result, words=f"{result.words} · {error.words}", error=True)
        return result

    async def _exchange(self, about: str, gone: Sequence[McpServer], new: Sequence[McpServer]) -> None:
        """Keep some MCP servers on this machine in place of others."""
        await self._app.state.change(DisabledServers, about, lambda kept: exchanged(kept, gone, new))
