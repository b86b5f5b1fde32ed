"""The sandboxes: watch them, start, pause and resume them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import work
from textual.binding import BindingType

from quarterdeck.fleet.plan import plan
from quarterdeck.fleet.sandbox_rules import why_not_open, why_not_pause, why_not_resume
from quarterdeck.fleet.sandbox_state import SandboxState
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.service.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.bulk import do_all, plan_lines, result_words
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell, indented
from quarterdeck.tui.commands import Command, Place, bindings_at
from quarterdeck.tui.dialogs.confirm import ConfirmDialog, TypedConfirmDialog
from quarterdeck.tui.dialogs.pick_spec import PickSpecDialog
from quarterdeck.tui.lists.sandboxes import SandboxListing
from quarterdeck.tui.screens.listing import ListScreen
from quarterdeck.tui.session import Session
from quarterdeck.tui.text import Shown

Rule = Callable[[SandboxState], str | None]

RULES: dict[str, Rule] = {"pause": why_not_pause, "resume": why_not_resume, "open_url": why_not_open}
"""What the state of a sandbox says about a command."""
BULK = frozenset({"pause", "resume"})
"""Commands that act on the marked rows when there are any."""


class SandboxesScreen(ListScreen[SandboxRow]):
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
        if command.name == "other" and not row.conversations:
            return f"{row.short_id}: no conversation lives in it."
        return None

    # Pause and resume

    def action_pause(self) -> None:
        """Pause the sandbox, or all marked ones."""
        if (session := self.app.session) is not None:
            self._change("Pause", why_not_pause, session.pause)

    def action_resume(self) -> None:
        """Resume the sandbox, or all marked ones."""
        if (session := self.app.session) is not None:
            self._change("Resume", why_not_resume, session.resume)

    def _targets(self) -> list[SandboxRow]:
        marked = [self.all[row_id] for row_id in self.table.marks if row_id in self.all]
        row = self.table.cursor_row
        return marked or ([row] if row is not None else [])

    @work(group="change")
    async def _change(self, verb: str, rule: Rule, act: Callable[[str], Awaitable[None]]) -> None:
        now, rows = self.app.clock(), self._targets()
        planned = plan(rows, lambda row: rule(row.state(now)))
        if len(rows) > 1:
            question = ConfirmDialog(Shown(f"{verb} {len(planned.rows)} sandboxes?"), plan_lines(verb, planned))
            if not planned.rows or not await self.app.push_screen_wait(question):
                return
            self.table.set_marks(())
        self.say(*result_words(verb, await do_all(planned.rows, act)))

    # Start and delete

    @work(exclusive=True, group="dialog")
    async def action_start(self) -> None:
        """Choose a spec and start a sandbox from it."""
        session = self.app.session
        if session is None:
            return
        try:
            specs = await session.client.sandboxes.specs()
        except ServiceError as error:
            self.say_error(error)
            return
        if not specs:
            self.say(Shown("The server offers no spec to start from."), Tone.WARN)
            return
        spec = await self.app.push_screen_wait(PickSpecDialog(specs))
        if spec is not None:
            self._start(session, spec)

    @work(group="change")
    async def _start(self, session: Session, spec: str) -> None:
        self.say(text.line(f"Starting a sandbox from {spec}…"), Tone.BUSY)
        try:
            record = await session.start(spec)
        except ServiceError as error:
            self.say_error(error)
        else:
            self.app.wanted = record.id
            self.say(text.line(f"Started {record.id}"), Tone.GOOD)

    @work(exclusive=True, group="dialog")
    async def action_delete(self) -> None:
        """Delete the sandbox under the cursor, once its short id has been typed."""
        session, row = self.app.session, self.table.cursor_row
        if session is None or row is None:
            return
        word = text.line(row.short_id)
        asked = TypedConfirmDialog(Shown(f"Delete sandbox {word}?"), self._delete_lines(row), word)
        if not await self.app.push_screen_wait(asked):
            return
        try:
            await session.delete_sandbox(row.id)
        except ServiceError as error:
            self.say_error(error)
        else:
            self.say(Shown(f"Deleted {word}"), Tone.GOOD)

    def _delete_lines(self, row: SandboxRow) -> list[Cell]:
        said = [cell(text.line(row.id), Tone.STRONG), cell(Shown("Its workspace and all files in it go with it."))]
        if row.conversations:
            said += [EMPTY, cell(Shown("Conversations that live in it stay listed, without a sandbox:"))]
            said += [indented(text.line(title or "(untitled)"), Tone.MUTED) for title in row.conversation_titles]
        return said

    # Elsewhere

    def action_other(self) -> None:
        """Go to the newest conversation in it."""
        row = self.table.cursor_row
        if row is not None and row.conversations:
            self.go_to(Place.CONVERSATIONS, row.conversations[0].id)

    def action_open_url(self) -> None:
        """Open the address of its agent server, or its first one."""
        row = self.table.cursor_row
        if row is None:
            return
        secret = row.memory.agent_server
        urls = [url for url in row.memory.urls if secret is None or url.url == secret]
        if urls:
            self.open_address(urls[0].url.get_secret_value(), urls[0].address)
        else:
            self.say(Shown("It has no address."), Tone.WARN)
