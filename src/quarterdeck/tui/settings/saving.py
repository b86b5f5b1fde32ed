"""Saving and taking a save back: the review, what both sides changed, what is noted here, and what became of it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.settings import PreparedRequest
from quarterdeck.config.connections import Connection
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.kept import DisabledServers, Journal, disabled_in, exchanged, last, undone, with_save
from quarterdeck.settings.merge import Conflict, Side, merge
from quarterdeck.settings.review import Review, problems, until_when
from quarterdeck.settings.save import Questions, SaveResult, Tell, save
from quarterdeck.settings.typed_secrets import RememberingStore
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.conflicts import ConflictsDialog
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.dialogs.review import ReviewDialog
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
        store, server, endpoint = self._record.store, self._record.server, self._record.endpoint
        if server is None or store is None or endpoint is None:
            return None
        self.under_way = True
        try:
            return await Saving(self._app, endpoint, store, server, self._tell, dialog, preface).run(draft)
        finally:
            self.under_way = False

    def _tell(self, step: str) -> None:
        self._bar(cell(text.line(step), Tone.BUSY))

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


@dataclass
class Saving:
    """One save: where it goes, and whom it asks. Used inside a worker."""

    app: Deck
    endpoint: Connection
    store: RememberingStore
    server: Server
    tell: Tell
    dialog: ReviewDialog
    preface: Sequence[Cell] = ()
    """What stands above the review of a save that is taken back."""

    async def run(self, draft: Draft) -> SaveResult:
        """Save a draft."""
        prepared: list[Draft] = []
        if not self.dialog.is_mounted:
            await self.app.push_screen(self.dialog)

        async def settle(conflicts: Sequence[Conflict]) -> Sequence[Side] | None:
            return await self.app.push_screen_wait(ConflictsDialog(conflicts, draft.fields))

        async def agree(review: Review, request: PreparedRequest | None, why: str) -> bool:
            under_way.close()
            return await self._agree(review, request, why)

        async def prepare(agreed: Draft) -> None:
            await self._keep_disabled(agreed.disabled, agreed.servers.to_keep_here, at_once=False)
            prepared.append(agreed)
            if self.app.session is not None:
                under_way.enter_context(self.app.session.writes.under_way("save of the settings"))

        try:
            with ExitStack() as under_way:
                result = await save(draft, self.store, self.server, Questions(settle, agree, prepare), self._tell)
        finally:
            if not self.dialog.answer.done():
                self.dialog.action_cancel()
        try:
            return await self._settle(result, prepared[-1] if prepared else None)
        except ServiceError as error:
            return replace(result, words=f"{result.words} · {error.words}", error=True)

    def _tell(self, step: str) -> None:
        self.tell(step)
        self.dialog.tell(step)

    async def _agree(self, review: Review, request: PreparedRequest | None, why: str) -> bool:
        if not self.dialog.waits:
            self.dialog = ReviewDialog(REVIEW_TITLE)
            await self.app.push_screen(self.dialog)
        self.dialog.show(review, request, why, self.preface)
        return await self.dialog.answer

    async def _settle(self, result: SaveResult, prepared: Draft | None) -> SaveResult:
        """Note down what was done; what was kept here for a save that was refused, or not needed any more, goes."""
        if result.meant is not None and result.meant.changes:
            await self._note(result, result.meant)
        if prepared is None or prepared.disabled == prepared.servers.to_keep_here:
            return result
        before, after = prepared.disabled, prepared.servers.to_keep_here
        if result.meant is None:
            await self._keep_disabled(after, before)
        if result.meant is None or not result.saved:
            return result
        await self._keep_disabled(before, after)
        kept = disabled_in(await self.app.state.read(DisabledServers, self.endpoint.about))
        return replace(result, draft=merge(result.draft, result.draft.base, kept).draft)

    async def _keep_disabled(
        self, before: tuple[McpServer, ...], after: tuple[McpServer, ...], *, at_once: bool = True
    ) -> None:
        """Keep some servers here in place of others, or (not `at_once`) first of all beside them."""
        if before != after:
            gone = before if at_once else ()
            await self.app.state.change(DisabledServers, self.endpoint.about, lambda kept: exchanged(kept, gone, after))

    async def _note(self, result: SaveResult, meant: Draft) -> None:
        now = self.app.clock()
        note: Callable[[Journal | None], Journal] = lambda kept: with_save(kept, meant, result.found, now)  # noqa: E731
        await self.app.state.change(Journal, self.endpoint.about, note)
