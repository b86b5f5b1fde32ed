"""The sandboxes that conversations live in, paused and resumed from the list of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.screens.sandbox_actions import SandboxActions
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.fleet.sandbox_state import SandboxState
    from quarterdeck.fleet.sandboxes import SandboxRow
    from quarterdeck.fleet.session import Session


THERE = (SandboxStatus.STARTING, SandboxStatus.RUNNING, SandboxStatus.PAUSED)


class ConversationSandboxes(SandboxActions[ConversationRow]):
    """A list of conversations from which their sandboxes are changed."""

    def why_not_change(self, name: str, row: ConversationRow) -> str | None:
        """Why its sandbox cannot be paused or resumed."""
        from quarterdeck.fleet.sandbox_state import why_not_pause, why_not_resume

        state = self._sandbox_state(row)
        if state is None:
            return self.why_no_sandbox(row)
        refusal = why_not_pause(state) if name == "pause" else why_not_resume(state)
        return None if refusal is None else f"Its sandbox: {refusal}"

    def why_no_sandbox(self, row: ConversationRow) -> str:
        """Why its sandbox is not listed: the server may have told of it where it tells of the conversation only."""
        if row.record is not None and row.record.sandbox_status in THERE:
            return "Its sandbox has not been read yet; it will be in a moment."
        return "Its sandbox is not there."

    def sandbox_id(self, row: ConversationRow) -> str | None:
        """Its sandbox, None where that is not listed."""
        sandbox_id = row.record.sandbox_id if row.record is not None else None
        known = self.app.session is not None and sandbox_id in self.app.session.sandboxes.records
        return sandbox_id if known else None

    def _sandbox_state(self, row: ConversationRow) -> SandboxState | None:
        session, sandbox_id = self.app.session, self.sandbox_id(row)
        memory = session.memories.by_id.get(sandbox_id) if session is not None and sandbox_id is not None else None
        return memory.state(self.app.clock()) if memory is not None else None

    def _sandboxes(self, session: Session) -> tuple[list[SandboxRow], frozenset[str]]:
        """The sandboxes of the marked rows, or of the one under the cursor, and which only hidden rows live in."""
        rows, out_of_sight = self.targets()
        seen = dict.fromkeys(row.sandbox_id for row in rows if row.id not in out_of_sight)
        hidden = {row.sandbox_id for row in rows if row.id in out_of_sight} - seen.keys()
        found = [session.sandbox_row(sandbox_id) for sandbox_id in (*seen, *sorted(filter(None, hidden))) if sandbox_id]
        return [row for row in found if row is not None], frozenset(filter(None, hidden))

    @work(group="change")
    async def action_pause(self) -> None:
        """Pause its sandbox, or those of the marked ones."""
        if (session := self.app.session) is not None:
            await self._change(session, "Pause")

    @work(group="change")
    async def action_resume(self) -> None:
        """Resume its sandbox, or those of the marked ones."""
        if (session := self.app.session) is not None:
            await self._change(session, "Resume")

    async def _change(self, session: Session, verb: str) -> None:
        sandboxes, hidden = self._sandboxes(session)
        if not sandboxes:
            self.say(Shown("None of these has a sandbox any more."), Tone.WARN)
            return
        await self.change(session, verb, sandboxes, hidden)

    def asked_words(self, verb: str, row: SandboxRow) -> Shown:
        """What was asked for, and how many others share the sandbox."""
        others = len(row.conversations) - 1
        shared = f" {others} other conversation{'s share' if others > 1 else ' shares'} it." if others > 0 else ""
        return text.line(f"{verb} of its sandbox asked for.{shared or ' The list shows when it is done.'}")
