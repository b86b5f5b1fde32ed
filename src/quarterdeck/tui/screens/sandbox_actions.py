"""What can be done to sandboxes, one or many, from either list: asked about, carried out, confirmed by readings.

What only a command needs is imported by it: the first frame waits for all that is imported here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from textual import work

from quarterdeck.client.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import Command
from quarterdeck.tui.lists.job_cells import counts_cell
from quarterdeck.tui.lists.listing import R
from quarterdeck.tui.screens.listing import ListScreen
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.fleet.bulk import BulkJob, N, Order, Plan
    from quarterdeck.fleet.sandbox_state import Action
    from quarterdeck.fleet.sandboxes import SandboxRow
    from quarterdeck.fleet.session import Session


class SandboxActions(ListScreen[R]):
    """A list from which sandboxes are paused, resumed and deleted."""

    def why_not(self, command: Command) -> str | None:
        """A job can be looked at once there is one."""
        reason = super().why_not(command)
        if reason is None and command.name == "bulk_job" and (self.app.session is None or self.app.session.job is None):
            return "Nothing was done to several rows yet; space marks rows, p pauses their sandboxes."
        return reason

    def resting_line(self) -> Cell:
        """How far a job is, while it goes on out of sight."""
        job = self.app.session.job if self.app.session is not None else None
        if job is None or job.ended:
            return super().resting_line()
        return (*cell(Shown(f"{job.title}: "), Tone.BUSY), *counts_cell(job), *cell(Shown(" B shows it."), Tone.MUTED))

    # Leaving

    @property
    def unsaved(self) -> bool:
        """Whether a command for several rows that was asked for here has not come to its end."""
        job = self.app.session.job if self.app.session is not None else None
        return job is not None and job.place == self.PLACE and not job.ended

    async def may_leave(self) -> bool:
        """Ask whether the rest of that command is given up."""
        from quarterdeck.tui.dialogs.confirm import ConfirmDialog

        job = self.app.session.job if self.app.session is not None else None
        if job is None:
            return True
        said = [counts_cell(job), cell(Shown("What is still waiting is not asked for then."), Tone.WARN)]
        asked = ConfirmDialog(Shown(f"Leave in the middle of this? {job.title}"), said)
        return await self.app.push_screen_wait(asked) is True

    # Asking for it

    def order(self, session: Session, verb: str) -> Order:
        """What is meant by a verb."""
        from quarterdeck.fleet.bulk import Order, change_verdict, delete_verdict
        from quarterdeck.fleet.sandbox_state import Action

        memories = session.memories.by_id
        if verb == "Delete":
            return Order(verb, session.delete_sandbox, lambda row_id: delete_verdict(memories.get(row_id)))
        action = Action.PAUSE if verb == "Pause" else Action.RESUME
        act = session.pause if action is Action.PAUSE else session.resume
        return Order(verb, act, lambda row_id: change_verdict(memories.get(row_id), action))

    async def change(self, session: Session, verb: str, rows: Sequence[SandboxRow], hidden: Collection[str]) -> None:
        """Pause or resume sandboxes: one at once unless there is something to ask, several after a plan."""
        from quarterdeck.fleet.bulk import plan
        from quarterdeck.fleet.sandbox_state import why_not_pause, why_not_resume

        now, rule = self.app.clock(), why_not_pause if verb == "Pause" else why_not_resume
        planned = plan(rows, lambda row: rule(row.state(now)), hidden)
        if len(rows) == 1 and planned.rows:
            if await self._asked(verb, *self._doubts(session, verb, planned.rows[0])):
                await self._do_one(self.order(session, verb), planned.rows[0])
        elif rows:
            await self.change_many(session, verb, planned)

    def _doubts(self, session: Session, verb: str, row: SandboxRow) -> tuple[Shown, Shown | None]:
        """The question before a change of one sandbox, and the reason to ask it, if there is one."""
        from quarterdeck.tui.lists.plans import busy_line

        question = text.line(f"{verb} {row.short_id}?")
        if verb == "Pause":
            return question, busy_line(row, session.last_statuses)
        return question, self._resume_forecast(session, 1) or None

    async def _asked(self, verb: str, question: Shown, doubt: Shown | None) -> bool:
        if doubt is None:
            return True
        from quarterdeck.tui.dialogs.confirm import ConfirmDialog

        asked = ConfirmDialog(question, [cell(doubt, Tone.WARN)])
        return await self.app.push_screen_wait(asked) is True

    def forecast_line(self, session: Session, action: Action, count: int = 1) -> Shown:
        """What a start or resume will likely do to others; empty when nothing."""
        from quarterdeck.fleet.displacement import forecast

        rows = filter(None, (session.sandbox_row(sandbox_id) for sandbox_id in session.sandboxes.records))
        return text.line(forecast(rows, self.app.clock(), session.cap, action, count=count).words)

    def _resume_forecast(self, session: Session, count: int) -> Shown:
        from quarterdeck.fleet.sandbox_state import Action

        return self.forecast_line(session, Action.RESUME, count)

    async def _do_one(self, order: Order, row: SandboxRow) -> None:
        # Servers answer a deletion of a paused one only after ten seconds and more (contract section e).
        self.say(text.line(f"{order.verb} of {row.short_id}: asking the server…"), Tone.BUSY)
        try:
            await order.act(row.id)
        except ServiceError as error:
            self.say(text.line(f"{order.verb} {row.short_id}: {error.words} {error.advice}"), Tone.BAD)
        else:
            self.say(self.asked_words(order.verb, row))

    def asked_words(self, verb: str, row: SandboxRow) -> Shown:
        """What to say once something was asked for; the readings say when it is done."""
        return text.line(f"{verb} of {row.short_id} asked for; the list shows when it is done.")

    # Several

    async def change_many(self, session: Session, verb: str, planned: Plan[SandboxRow], *, sweep: bool = False) -> None:
        """Show what will be done, and do it once somebody said yes."""
        from quarterdeck.tui.dialogs.bulk import PlanDialog
        from quarterdeck.tui.lists.plans import busy_lines

        if self.busy_with_another(session):
            return
        warnings: list[Cell] = []
        if verb == "Pause":
            warnings = busy_lines(planned.rows, session.last_statuses)
        elif line := self._resume_forecast(session, len(planned.rows)):
            warnings = [cell(line, Tone.WARN), EMPTY]
        title = Shown(f"{verb} {len(planned.rows):,} sandbox{'' if len(planned.rows) == 1 else 'es'}?")
        agreed = await self.app.push_screen_wait(PlanDialog(title, verb, planned, warnings))
        if agreed is not None:
            await self._carry_out(session, self.order(session, verb), agreed, sweep=sweep)

    async def delete_rows(self, session: Session, rows: Sequence[SandboxRow], hidden: Collection[str]) -> None:
        """Delete sandboxes once the short id of the one, or the number of the many, has been typed."""
        from quarterdeck.fleet.bulk import plan
        from quarterdeck.tui.dialogs.confirm import TypedConfirmDialog
        from quarterdeck.tui.lists.plans import gone_with

        planned = plan(rows, lambda row: None, hidden)
        if len(rows) == 1:
            (row,) = rows
            word = text.line(row.short_id)
            said = [cell(text.line(row.id), Tone.STRONG), *gone_with(rows)]
            one = TypedConfirmDialog(Shown(f"Delete sandbox {word}?"), said, word)
            if await self.app.push_screen_wait(one):
                await self._do_one(self.order(session, "Delete"), row)
            return
        await self.delete_many(session, self.order(session, "Delete"), planned, gone_with(planned.rows))

    async def delete_many(self, session: Session, order: Order, planned: Plan[N], goes_with: Sequence[Cell]) -> None:
        """Delete the rows of a plan once their number has been typed; `goes_with` says what goes with them."""
        from quarterdeck.tui.dialogs.confirm import TypedConfirmDialog
        from quarterdeck.tui.lists.plans import plan_lines

        if self.busy_with_another(session):
            return
        if not planned.rows:
            hidden = "The filter hides every marked row; esc shows them, u unmarks them."
            self.say(Shown(hidden if planned.hidden else "None of the marked rows can be deleted."), Tone.WARN)
            return
        word = Shown(str(len(planned.rows)))
        said = [*plan_lines("Delete", planned), EMPTY, *goes_with]
        asked = TypedConfirmDialog(Shown(f"Delete {order.noun.counted(len(planned.rows))}?"), said, word)
        if await self.app.push_screen_wait(asked):
            await self._carry_out(session, order, planned)

    def busy_with_another(self, session: Session) -> bool:
        """Whether the last command for several is still going on, which is said then."""
        busy = session.job is not None and not session.job.ended
        if busy:
            self.say(Shown("Another command for several is still going on; B shows it."), Tone.WARN)
        return busy

    async def _carry_out(self, session: Session, order: Order, planned: Plan[N], *, sweep: bool = False) -> None:
        from quarterdeck.fleet.bulk import BulkJob

        job = BulkJob(order, planned, place=self.PLACE, sweep=sweep)
        self.table.set_marks(())
        session.begin(job)
        await self._show_job(session, job)

    @work(exclusive=True, group="dialog")
    async def action_bulk_job(self) -> None:
        """Show how far the last command for several is, and what became of each."""
        session = self.app.session
        if session is not None and session.job is not None:
            await self._show_job(session, session.job)

    async def _show_job(self, session: Session, job: BulkJob) -> None:
        from quarterdeck.tui.dialogs.bulk import ProgressDialog

        wish = await self.app.push_screen_wait(ProgressDialog(job, session.begin))
        if wish is not None:
            await self.save(wish.what)
