"""One save of the settings as a person sees it: its dialogs, and what is noted on this machine before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings import journal
from quarterdeck.settings.disabled import DisabledServers, exchanged, listed
from quarterdeck.settings.save import Questions, Request, SaveResult, save
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.conflicts import ConflictsDialog
from quarterdeck.tui.dialogs.review import review_dialog

if TYPE_CHECKING:
    from quarterdeck.client.models.mcp import McpServer
    from quarterdeck.client.models.server import Server
    from quarterdeck.config.connections import Connection
    from quarterdeck.settings.draft import Draft
    from quarterdeck.settings.merge import Conflict, Side
    from quarterdeck.settings.review import Review
    from quarterdeck.settings.save import Store, Tell
    from quarterdeck.tui.connected import ConnectedApp


@dataclass(frozen=True)
class Saving:
    """Where a save goes, and whom it asks; `preface` stands above the review. Used inside a worker."""

    app: ConnectedApp
    endpoint: Connection
    store: Store
    server: Server
    tell: Tell
    preface: Sequence[Cell] = ()

    async def run(self, draft: Draft) -> SaveResult:
        """Save a draft."""
        prepared: list[Draft] = []

        async def prepare(agreed: Draft) -> None:
            await self._keep_disabled(agreed.disabled, agreed.to_keep_here, at_once=False)
            prepared.append(agreed)
            if self.app.session is not None:
                under_way.enter_context(self.app.session.writes.under_way("save of the settings"))

        async def agree(review: Review, request: Request | None, why: str) -> bool:
            under_way.close()
            return await self._agree(review, request, why)

        async def settle(conflicts: Sequence[Conflict]) -> Sequence[Side] | None:
            return await self.app.push_screen_wait(ConflictsDialog(conflicts, draft.fields))

        with ExitStack() as under_way:
            result = await save(draft, self.store, self.server, Questions(settle, agree, prepare), self.tell)
        try:
            return await self._settle(result, prepared[-1] if prepared else None)
        except ServiceError as error:
            return replace(result, words=f"{result.words} · {error.words}", error=True)

    async def _agree(self, review: Review, request: Request | None, why: str) -> bool:
        dialog = review_dialog(review, request, why=why, preface=self.preface)
        return await self.app.push_screen_wait(dialog) is True

    async def _settle(self, result: SaveResult, prepared: Draft | None) -> SaveResult:
        """Note down what was done; what was kept here for a save that was refused, or not needed any more, goes."""
        if result.meant is not None and result.meant.changes:
            await self._note(result, result.meant)
        if prepared is None or prepared.disabled == prepared.to_keep_here:
            return result
        before, after = prepared.disabled, prepared.to_keep_here
        if result.meant is None:
            await self._keep_disabled(after, before)
            return result
        if not result.saved:
            return result
        await self._keep_disabled(before, after)
        kept = listed(await self.app.state.read(DisabledServers, self.endpoint.about))
        return replace(result, draft=result.draft.with_disabled(kept))

    async def _keep_disabled(
        self, before: tuple[McpServer, ...], after: tuple[McpServer, ...], *, at_once: bool = True
    ) -> None:
        """Keep some servers here in place of others, or (not `at_once`) first of all beside them."""
        if before != after:
            gone = before if at_once else ()
            await self.app.state.change(DisabledServers, self.endpoint.about, lambda kept: exchanged(kept, gone, after))

    async def _note(self, result: SaveResult, meant: Draft) -> None:
        release = self.app.session.release if self.app.session is not None else ""
        saved = journal.saved_of(meant, result.found, self.app.clock(), release)
        await self.app.state.change(journal.Journal, self.endpoint.about, lambda kept: journal.with_save(kept, saved))
