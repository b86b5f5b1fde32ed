"""The sandboxes: watch them, start, pause, resume and delete them, sweep the idle ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.bulk import plan
from quarterdeck.fleet.sandbox_state import Action, SandboxState, StateWord, why_not_open, why_not_pause, why_not_resume
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Command, Place, bindings_at
from quarterdeck.tui.copying import Copyable, sandbox_json
from quarterdeck.tui.dialogs.start_sandbox import pick_spec
from quarterdeck.tui.lists.live_rows import found
from quarterdeck.tui.lists.sandbox_detail import own_requests, timeline
from quarterdeck.tui.lists.sandboxes import SandboxListing
from quarterdeck.tui.screens.sandbox_actions import SandboxActions
from quarterdeck.tui.text import Shown

RULES: dict[str, Callable[[SandboxState], str | None]] = {
    "pause": why_not_pause,
    "resume": why_not_resume,
    "open_url": why_not_open,
}
"""What the state of a sandbox says about a command."""
BULK = frozenset({"pause", "resume", "delete", "notify_me"})
"""Commands that act on the marked rows when there are any."""


class SandboxesScreen(SandboxActions[SandboxRow]):
    """The list of sandboxes."""

    PLACE = Place.SANDBOXES
    BINDINGS: ClassVar[list[BindingType]] = bindings_at(Place.SANDBOXES)

    def __init__(self) -> None:
        super().__init__(SandboxListing())

    def why_not(self, command: Command) -> str | None:
        """What a command needs of the row under the cursor; marked rows are sorted out when it is done."""
        reason = super().why_not(command)
        row = self.table.cursor_row
        if reason is not None or row is None or (command.name in BULK and self.table.marks):
            return reason
        rule = RULES.get(command.name)
        refusal = rule(row.state(self.app.clock())) if rule is not None else None
        if refusal is not None:
            return f"{row.short_id}: {refusal}"
        if command.name in ("other", "notify_me") and not row.conversations:
            return f"{row.short_id}: no conversation lives in it."
        return None

    def counts(self) -> Cell:
        """What is marked, how many are in which state, and how many the server lets run."""
        session = self.app.session
        cap = session.cap if session is not None else None
        running = self.rows.counts[StateWord.RUNNING]
        if cap is None or running > cap:
            return super().counts()
        return (*super().counts(), *cell(Shown(f"running {running} of about {cap}"), Tone.MUTED))

    # Pause, resume, delete

    @work(group="change")
    async def action_pause(self) -> None:
        """Pause the sandbox, or all marked ones."""
        if (session := self.app.session) is not None:
            await self.change(session, "Pause", *self.targets())

    @work(group="change")
    async def action_resume(self) -> None:
        """Resume the sandbox, or all marked ones."""
        if (session := self.app.session) is not None:
            await self.change(session, "Resume", *self.targets())

    @work(exclusive=True, group="dialog")
    async def action_delete(self) -> None:
        """Delete the sandbox, or all marked ones, once that has been typed."""
        if (session := self.app.session) is not None:
            await self.delete_rows(session, *self.targets())

    # Start

    @work(exclusive=True, group="dialog")
    async def action_start(self) -> None:
        """Choose a spec and start a sandbox from it."""
        session = self.app.session
        if session is None:
            return
        costs = self.forecast_line(session, Action.START)
        spec = await self.app.push_screen_wait(
            pick_spec(session.client.sandboxes.specs, [cell(costs, Tone.WARN)] if costs else ())
        )
        if spec is not None:
            self._start_from(session, spec.id)

    @work(group="change")
    async def _start_from(self, session: Session, spec: str) -> None:
        self.say(text.line(f"Starting a sandbox from {spec}…"), Tone.BUSY)
        try:
            record = await session.start(spec)
        except ServiceError as error:
            self.say_error(error)
        else:
            self.app.wanted = record.id
            if record.status == SandboxStatus.ERROR:
                self.say(text.line(f"The server made {record.id}, but it failed to start."), Tone.BAD)
            else:
                self.say(text.line(f"Started {record.id}"), Tone.GOOD)

    # Sweep

    @work(exclusive=True, group="dialog")
    async def action_quiet_sandboxes(self) -> None:
        """Find what is up and does nothing, and pause it once somebody said yes."""
        from quarterdeck.tui.dialogs.quiet import QuietDialog

        session = self.app.session
        if session is None:
            return
        swept = await self.app.push_screen_wait(QuietDialog(lambda: found(self.rows, list(self.rows)), self.app.clock))
        if swept is None:
            return
        now = self.app.clock()
        planned = plan([idle.row for idle in swept.rows], lambda row: why_not_pause(row.state(now)))
        await self.change_many(session, "Pause", planned, sweep=True)

    # One row

    def full_detail_of(self, row: SandboxRow) -> list[Cell]:
        """What the server tells of it, what happened to it, and what was asked about it."""
        session, said = self.app.session, self.detail_of(row)
        return said if session is None else [*said, *own_requests(row.id, session.client.log)]

    def detail_of(self, row: SandboxRow) -> list[Cell]:
        """What the server tells of it, and what happened to it."""
        session, said = self.app.session, super().detail_of(row)
        if session is None:
            return said
        return [*said, *timeline(session.memories.timelines.of(row.id), self.app.clock())]

    def copies_of(self, row: SandboxRow) -> Sequence[Copyable]:
        """Its id, the address of its agent server, all of it as JSON."""
        address = self._agent_server(row)
        known = (Copyable(Shown("agent URL"), address[1]),) if address is not None else ()
        return (Copyable(Shown("id"), row.id), *known, Copyable(Shown("JSON"), sandbox_json(row.record)))

    def _agent_server(self, row: SandboxRow) -> tuple[str, str] | None:
        """The address of its agent server, or its first one: whole, and as it may be shown."""
        secret = row.memory.agent_server
        urls = [url for url in row.memory.urls if secret is None or url.url == secret]
        return (urls[0].url.get_secret_value(), urls[0].address) if urls else None

    def action_other(self) -> None:
        """Go to the newest conversation in it."""
        row = self.table.cursor_row
        if row is not None and row.conversations:
            self.go_to(Place.CONVERSATIONS, row.conversations[0].id)

    def watched_of(self, row: SandboxRow) -> str | None:
        """The newest conversation in it."""
        return row.conversations[0].id if row.conversations else None

    def action_open_url(self) -> None:
        """Open the address of its agent server, or its first one."""
        row = self.table.cursor_row
        address = self._agent_server(row) if row is not None else None
        if address is None:
            self.say(Shown("It has no address."), Tone.WARN)
        else:
            self.open_address(*address)
