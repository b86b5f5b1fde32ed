"""Commands of both lists for sandboxes, one or several: questions where needed, execution and progress.

Readings confirm what was done, never the server's response. Dialogs open before anything is awaited.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.bulk import CHECK_EVERY, BulkAction, BulkJob, N, NamedRow, Plan, RowState, plan
from quarterdeck.fleet.sandbox_state import Action, SandboxState, StateWord, why_not
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.copying import copy
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.bulk import (
    PlanDialog,
    ProgressDialog,
    counts_cell,
    gone_with,
    name_of,
    plan_lines,
    stranding,
)
from quarterdeck.tui.dialogs.confirm import ConfirmDialog, TypedConfirmDialog
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown

NAMED = 3
"""How many conversations that share a sandbox are named."""
REMEDIES: Mapping[StateWord, str] = {StateWord.PAUSED: "r resumes it.", StateWord.RUNNING: "p pauses it."}
"""The key that changes a sandbox, by state, in both lists."""


def refusal(
    command: str, state: SandboxState, remedies: Mapping[StateWord, str] = REMEDIES, subject: str = "It"
) -> str | None:
    """Return why a command cannot be applied to a sandbox, with the key that helps; None if it can."""
    reason = why_not(command, state, subject)
    key = remedies.get(state.known, "") if state.known is not None else "ctrl+r reads it again."
    return None if reason is None else f"{reason} {key}".strip()


def _warnings(session: Session, action: Action, rows: Sequence[SandboxRow]) -> list[Cell]:
    """Return what a person should know before pausing or resuming these; empty if no question is needed."""
    if action is Action.PAUSE:
        return stranding(_as_now(session, rows))
    displaced = session.displacement.forecast(len(rows))
    return [cell(displaced, Tone.WARN), EMPTY] if displaced else []


def _as_now(session: Session, rows: Sequence[SandboxRow]) -> list[SandboxRow]:
    """Return these sandboxes with the conversations that are in them now: an agent may begin to work meanwhile."""
    return [row._replace(conversations=session.by_sandbox.of(row.id)) for row in rows]


def _unread(session: Session) -> list[Cell]:
    """Return a warning before a command for several while a list is not read to its end."""
    if not (session.sandboxes.health.incomplete or session.conversations.health.incomplete):
        return []
    return [cell("Not everything is read yet; what is still to come is left out.", Tone.WARN), EMPTY]


@dataclass(frozen=True)
class SandboxCommands:
    """Commands of a `screen` for the sandboxes returned by `targets`, which also returns the ids hidden by the filter.

    `unmark` removes the marks once a command was given.
    """

    screen: DeckScreen
    targets: Callable[[], tuple[Sequence[SandboxRow], Collection[str]]]
    unmark: Callable[[], None]

    # Pause and resume

    async def action_pause(self) -> None:
        """Pause the sandbox of the row, or those of all marked rows."""
        await self._change(Action.PAUSE)

    async def action_resume(self) -> None:
        """Resume the sandbox of the row, or those of all marked rows."""
        await self._change(Action.RESUME)

    async def _change(self, action: Action) -> None:
        """Pause or resume: a single one at once unless a question is needed, several after showing a plan."""
        session, now = self.screen.app.session, self.screen.app.clock()
        rows, hidden = self.targets()
        if session is None or not rows:
            self.screen.say("None of their sandboxes is in the list.", Tone.WARN)
            return
        bulk_action = session.bulk_action(action)
        planned = plan(rows, lambda row: why_not(action.verb.lower(), row.state(now)), hidden)
        if not planned.rows and not planned.hidden:
            reasons = Counter(reason for _, reason in planned.skipped).most_common()
            why = " ".join(f"{count:,}: {reason}" for reason, count in reasons)
            self.screen.say(f"{action.verb}: it applies to none of these. {why}", Tone.WARN)
        elif not planned.alone:
            await self.change_many(action, planned)
        elif _warnings(session, action, planned.rows):
            question = ConfirmDialog(
                f"{action.verb} {rows[0].short_id}?", lambda: _warnings(session, action, planned.rows)
            )
            await ask(self.screen.app, question, lambda agreed: self._carry_out(session, bulk_action, planned))
        else:
            await self._carry_out(session, bulk_action, planned)

    async def change_many(self, action: Action, planned: Plan[SandboxRow], *, pauses_quiet: bool = False) -> None:
        """Show the plan, and run it if the person agrees."""
        session = self.screen.app.session
        if session is not None and not self._is_busy():
            bulk_action = replace(session.bulk_action(action), pauses_quiet=pauses_quiet)
            dialog = PlanDialog(
                action.verb, planned, lambda rows: (*_unread(session), *_warnings(session, action, rows))
            )
            await ask(self.screen.app, dialog, lambda agreed: self._carry_out(session, bulk_action, dialog.planned))

    # Delete

    async def action_delete(self) -> None:
        """Delete the sandbox with its workspace, or all marked ones."""
        session = self.screen.app.session
        rows, hidden = self.targets()
        if session is not None and rows:
            planned = plan(rows, lambda row: None, hidden)

            def goes_with() -> Sequence[Cell]:
                return gone_with(_as_now(session, planned.rows))

            await self.delete(session, session.bulk_action(Action.DELETE), planned, goes_with)

    async def delete(
        self, session: Session, bulk_action: BulkAction, planned: Plan[N], goes_with: Callable[[], Sequence[Cell]]
    ) -> None:
        """Delete rows after the person typed the short id of the only one, or the number of several."""
        rows = planned.rows
        if not planned.alone and self._is_busy():
            return
        if not rows:
            hidden = "The filter hides every marked row; esc shows them, - unmarks them."
            self.screen.say(hidden if planned.hidden else "None of the marked rows can be deleted.", Tone.WARN)
            return

        def said() -> Sequence[Cell]:
            if planned.alone:
                return [name_of(rows[0], tone=Tone.STRONG), EMPTY, *goes_with()]
            return [*goes_with(), EMPTY, *_unread(session), *plan_lines("Delete", planned)]

        word = text.line(rows[0].short_id) if planned.alone else Shown(str(len(rows)))
        which = f"{bulk_action.noun.one} {word}" if planned.alone else bulk_action.noun.counted(len(rows))
        question = TypedConfirmDialog(f"Delete {which}?", said, word)
        await ask(self.screen.app, question, lambda agreed: self._carry_out(session, bulk_action, planned))

    # Running commands

    async def _carry_out(self, session: Session, bulk_action: BulkAction, planned: Plan[N]) -> None:
        self.unmark()
        if planned.alone and not bulk_action.pauses_quiet:
            self.screen.run_worker(self._do_one(bulk_action, planned.rows[0]), group="change")
            return
        session.begin(BulkJob(bulk_action, planned))
        await self.action_bulk_job()

    async def _do_one(self, bulk_action: BulkAction, row: NamedRow) -> None:
        # For a paused sandbox, servers respond only after ten seconds or more (SERVERS.md: slow calls).
        say, what = self.screen.say, f"{bulk_action.verb} of {row.short_id}"
        say(f"{what}: asking the server…", Tone.BUSY)
        try:
            await bulk_action.act(row.id)
        except ServiceError as error:
            say(f"{bulk_action.verb} {row.short_id}: {error.sentences}", Tone.BAD)
        else:
            others = ""
            if isinstance(row, SandboxRow) and row.others and len(row.conversation_titles) > 1:
                titles = ", ".join(each or "untitled" for each in row.others[:NAMED])
                more = f", and {len(row.others) - NAMED:,} more" if len(row.others) > NAMED else ""
                others = f" {'Also in it' if row.chosen else 'In it'}: {titles}{more}."
            await self.say_until_done(what, partial(bulk_action.verdict, row.id), others)

    async def say_until_done(self, what: str, verdict: Callable[[], RowState | None], others: str = "") -> None:
        """Say that something was asked for, and what came of it if a reading tells while that is still said."""
        asked = f"{what} asked for; the list shows when it is done.{others}"
        self.screen.say(asked)
        while self.screen.message_line.message == cell(asked):
            if (state := verdict()) is not None:
                self.screen.say(f"{what}: {state}.{others}", Tone.GOOD if state is RowState.DONE else Tone.WARN)
            await asyncio.sleep(CHECK_EVERY)

    def _is_busy(self) -> bool:
        """Whether the last bulk command is still running; shows a message if so."""
        is_busy = self.screen.app.running_job is not None
        if is_busy:
            self.screen.say("Another command for several is still going on; B shows it.", Tone.WARN)
        return is_busy

    # The bulk job

    async def action_bulk_job(self) -> None:
        """Show the progress and results of the last bulk command."""
        session = self.screen.app.session
        if session is not None and session.job is not None:

            def begin(job: BulkJob) -> None:
                self.screen.say("")  # its end, said before, is none
                session.begin(job)

            dialog = ProgressDialog(session.job, begin)
            await ask(self.screen.app, dialog, partial(copy, self.screen))
            self.screen.refresh_frame()
        else:
            words = "Nothing was done to several rows yet; space marks rows, p pauses their sandboxes."
            self.screen.say(words, Tone.WARN)

    @property
    def job_line(self) -> Cell:
        """The progress of a running bulk job, for the message line; empty where its dialog shows it."""
        job = self.screen.app.running_job
        if job is None or isinstance(self.screen.app.screen, ProgressDialog):
            return ()
        return ((Shown(f"{job.title}: "), Tone.BUSY), *counts_cell(job), *cell(". B shows it.", Tone.MUTED))
