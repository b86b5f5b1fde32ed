"""The screen of sandboxes: watching, starting, pausing, resuming and deleting them, and pausing quiet ones."""

from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import SandboxStatus, UrlName
from quarterdeck.client.models.sandbox import ExposedUrl, SandboxSpec, sandbox_plain
from quarterdeck.fleet.bulk import Plan, change_verdict
from quarterdeck.fleet.news import About
from quarterdeck.fleet.sandbox_state import Action, StateWord
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, QuietSandboxes, SandboxRow, short_id
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.details import text_fact
from quarterdeck.tui.columns.sandboxes import COLUMNS, counts, detail, own_requests, timeline
from quarterdeck.tui.commands import Place, bindings_at
from quarterdeck.tui.copying import Copyable, as_json
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.dialogs.quiet import QuietDialog
from quarterdeck.tui.external import open_address
from quarterdeck.tui.lists.listing import ListDefinition
from quarterdeck.tui.lists.sandbox_commands import REMEDIES, refusal
from quarterdeck.tui.lists.screen import ListScreen
from quarterdeck.tui.text import Shown


def _newest_conversation(row: SandboxRow) -> Conversation | None:
    return next(iter(row.conversations), None)


def _agent_server(row: SandboxRow) -> ExposedUrl | None:
    """Return the address of its agent server, or its first one, while it runs."""
    urls = row.memory.urls if row.memory.word == StateWord.RUNNING else ()
    return next((url for url in urls if url.name == UrlName.AGENT_SERVER), urls[0] if urls else None)


def _copies(row: SandboxRow) -> Sequence[Copyable]:
    """Return its id, the address of its agent server, and all of it as JSON."""
    url = _agent_server(row)
    known = (Copyable("agent URL", url.address),) if url is not None else ()
    return (Copyable("id", row.id), *known, Copyable("JSON", as_json(sandbox_plain(row.record))))


OWN_REMEDIES = {
    **REMEDIES,
    StateWord.ERROR: "n starts a new one from the same spec.",
    StateWord.MISSING: "n starts a new one.",
}
"""The same, plus the keys that only this list has."""


def _why_not(session: Session, name: str, row: SandboxRow, now: datetime) -> str | None:
    """Return why a command cannot be applied to a sandbox."""
    reason = refusal(name, row.state(now), OWN_REMEDIES)
    if reason is None and name in ("other", "notify_me") and not row.conversations:
        reason = "No conversation lives in it."
    return reason


SANDBOXES: ListDefinition[SandboxRow] = ListDefinition(
    About.SANDBOXES,
    none_yet=lambda server: "n starts one from a spec of the server.",
    status="status",
    statuses=tuple(StateWord),
    grammar=SANDBOX_GRAMMAR,
    columns=COLUMNS,
    watch=lambda session: session.sandboxes,
    ids=lambda session: session.sandboxes.records,
    row=Session.sandbox_row,
    word=lambda row, now: row.state(now).word,
    changes_at=lambda session, row, now: row.memory.changes_at(now),
    detail=lambda session, row, now: [*detail(row, now), *timeline(row, session.memories.timelines.of(row.id), now)],
    title=lambda row: text.line(row.id),
    copies=_copies,
    sandbox=lambda session, row: row,
    conversation=_newest_conversation,
    why_not=_why_not,
)


class SandboxesScreen(ListScreen[SandboxRow]):
    """The list of sandboxes."""

    PLACE = Place.SANDBOXES
    BINDINGS = bindings_at(Place.SANDBOXES)

    def __init__(self) -> None:
        super().__init__(SANDBOXES)

    def counts(self) -> Cell:
        """The marks, how many are read, the counts by state, and how many sandboxes the server lets run."""
        words, session = self.listing.counts, self.app.session
        coming = session is not None and session.sandboxes.health.incomplete
        read = ((Shown(f"{len(self.rows):,} read so far  "), Tone.BUSY),) if coming and self.rows else ()
        said = (*super().counts(), *read, *counts(words))
        cap = session.displacement.cap if session is not None else None
        running = words[StateWord.RUNNING]
        if cap is None or running > cap:
            return said
        return (*said, *cell(f"running {running} of about {cap}", Tone.MUTED))

    # Start

    async def action_start(self) -> None:
        """Choose a spec and start a sandbox from it."""
        session = self.app.session
        if session is None:
            return

        async def items() -> list[Item[SandboxSpec]]:
            specs = await session.client.sandboxes.specs()
            return [Item(_line(spec, is_default=not at), spec) for at, spec in enumerate(specs)]

        costs = session.displacement.forecast()
        said = (cell(costs, Tone.WARN),) if costs else ()
        dialog = PickDialog("Start a sandbox", (), read=items, take="start", about=_about, said=said)
        await ask(self.app, dialog, lambda spec: self.run_worker(self._start_from(session, spec.id), group="change"))

    async def _start_from(self, session: Session, spec: str) -> None:
        self.say(f"Starting a sandbox from {spec}…", Tone.BUSY)
        asked = self.app.wanted = uuid4().hex
        with self.saying_errors():
            record = await session.start(spec)
            if self.app.wanted == asked:
                self.app.wanted = record.id
            if record.status == SandboxStatus.ERROR:
                self.say(f"The server made {short_id(record.id)}, but it failed to start.", Tone.BAD)
            else:
                memories = session.memories.by_id
                await self.sandbox_commands.say_until_done(
                    f"Start of {short_id(record.id)}", lambda: change_verdict(memories.get(record.id), Action.START)
                )

    # Quiet sandboxes

    async def action_quiet_sandboxes(self) -> None:
        """Find sandboxes that are up and do nothing, and pause them if the person agrees."""
        if self.app.session is not None:
            await ask(self.app, QuietDialog(self.rows.values), self._pause_quiet)

    async def _pause_quiet(self, found: QuietSandboxes) -> None:
        await self.sandbox_commands.change_many(Action.PAUSE, Plan(found.rows), pauses_quiet=True)

    # A single row

    def full_detail_of(self, row_id: str) -> list[Cell]:
        """Everything about a sandbox, what happened to it, and the requests about it."""
        said, client = super().full_detail_of(row_id), self.app.client
        return said if client is None else [*said, *own_requests(row_id, client.log)]

    async def action_other(self) -> None:
        """Go to its newest conversation."""
        row = self.table.cursor_row
        if row is not None and (conversation := _newest_conversation(row)) is not None:
            await self.go_to(Place.CONVERSATIONS, conversation.id)

    def action_open_url(self) -> None:
        """Open the address of its agent server, or its first address."""
        row = self.table.cursor_row
        url = _agent_server(row) if row is not None else None
        if url is None:
            self.say("It has no address.", Tone.WARN)
        else:
            self.say(open_address(self.app, url.url.get_secret_value(), url.address))

    async def action_back(self) -> None:
        """Go back to the conversations."""
        await self.app.show(Place.CONVERSATIONS)


def _line(spec: SandboxSpec, *, is_default: bool) -> Cell:
    return (text.line(spec.id), Tone.PLAIN), (Shown("  (default)" if is_default else ""), Tone.MUTED)


def _about(spec: SandboxSpec) -> list[Cell]:
    """Return what is known of a spec; values of its environment are never shown."""
    return [
        text_fact("command", " ".join(spec.command) if spec.command else "its own"),
        text_fact("folder", spec.working_dir),
        text_fact("environment", ", ".join(sorted(spec.initial_env)) if spec.initial_env else "none"),
    ]
