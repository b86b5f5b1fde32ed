"""`quarterdeck sandboxes list`, `specs` and `start`, and reading sandboxes for other commands."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import (
    NOTHING_MATCHED,
    client_for,
    refuse_unknown_status,
    session_for,
    table,
    typed_filter,
    utc_minute,
)
from quarterdeck.cli.output import CommandError, answer, columns, if_interrupted, note
from quarterdeck.client.client import Client
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.sandbox import SandboxSpec, sandbox_plain
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import age, utc_now
from quarterdeck.fleet.filters import Filter, Kind, kept
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.watch import Watch
from quarterdeck.tui.text import Shown, line

LIST_SPECS = "List them with: quarterdeck sandboxes specs."
GRAMMAR = SANDBOX_GRAMMAR.without("for", "slow")
"""The tokens of a filter in commands, without those that need to watch for a while."""
_OF_CONVERSATIONS = frozenset({"repo", "quiet", "cost", "no-conversation"})


def lists_for(session: Session, wanted: Filter[SandboxRow]) -> Sequence[Watch[Any]]:
    """Return the lists that a filter needs; plain words also match titles of conversations.

    A start tells which sandbox a new conversation is about to use.
    """
    if any(term.kind is Kind.WORD or term.name in _OF_CONVERSATIONS for term in wanted.terms):
        return session.sandboxes, session.conversations, session.start_tasks
    return (session.sandboxes,)


async def read(session: Session, wanted: Filter[SandboxRow], ids: Sequence[str] = ()) -> int:
    """Read these sandboxes, or all, with all conversations if the filter needs them.

    Returns how many records of whole lists could not be read, and so were not filtered.
    """
    watches = lists_for(session, wanted)
    batch = await session.client.sandboxes.read(ids) if ids and session.conversations not in watches else None
    if batch is not None:
        session.sandboxes.take(list(filter(None, batch)))
        return 0
    for watch in watches:
        await watch.read_all()
    return 0 if ids else sum(each.health.unreadable for each in watches)


def _quiet(row: SandboxRow, now: datetime) -> float | None:
    """Return for how many seconds it has been quiet; of one without conversations, one reading does not tell."""
    return row.quiet(now) if row.conversations else None


def row_plain(row: SandboxRow, now: datetime) -> dict[str, Any]:
    """Return a row for scripts, without secrets; values from conversations are null if those were not read."""
    quiet = _quiet(row, now)
    living = [{"id": each.id, "title": each.title} for each in row.conversations]
    return sandbox_plain(row.record) | {
        "state": row.state(now).words,
        "conversations": living if row.complete else None,
        "orphan": row.unlinked if row.complete else None,
        "spent": round(float(row.cost), 4) if row.complete else None,
        "quiet_seconds": round(quiet) if row.complete and quiet is not None else None,
    }


async def show(arguments: CommandLine, config: Config) -> int:
    """Print the matching sandboxes in the words of the deck, newest first.

    An empty result is status 0 without a filter, 3 with one.
    """
    wanted = typed_filter(arguments.filter, GRAMMAR)
    async with session_for(arguments, config) as session:
        unreadable, now = await read(session, wanted), utc_now()
        refuse_unknown_status(wanted, StateWord, session.sandbox_rows)
        found = kept(session.sandbox_rows, wanted, now)
        answer(arguments, [row_plain(row, now) for row in found], _table(found, now))
        if unreadable:
            note(f"Records that could not be read: {unreadable:,}.")
            return 1
        return NOTHING_MATCHED if wanted and not found else 0


def _table(rows: list[SandboxRow], now: datetime) -> Iterator[Shown]:
    """Return a table; values from conversations have columns only if those were read."""
    titles = ["ID", "STATUS", "SPEC", "CREATED (UTC)"]
    cells = [
        [row.id, row.state(now).words, row.record.sandbox_spec_id, utc_minute(row.record.created_at)] for row in rows
    ]
    if any(row.complete for row in rows):
        titles += ["QUIET", "SPENT", "CONVERSATION"]
        for row, row_cells in zip(rows, cells, strict=True):
            quiet = _quiet(row, now)
            living = "; ".join(title or "untitled" for title in row.conversation_titles)
            nobody = "no conversation" if row.unlinked else ""
            row_cells += ["" if quiet is None else age(quiet), f"${row.cost:,.2f}", living or nobody]
    return table(titles, cells)


async def specs(arguments: CommandLine, config: Config) -> int:
    """Print the specs of sandboxes; the first one is the default."""
    async with client_for(arguments, config) as client:
        found = await client.sandboxes.specs()
        cells = [(spec.id, " ".join(spec.command or ())) for spec in found]
        answer(arguments, [_spec_plain(spec) for spec in found], table(("ID", "COMMAND"), cells))
        return 0


async def start(arguments: CommandLine, config: Config) -> int:
    """Start a sandbox; 0 only if it is listed afterwards and has not failed."""
    async with client_for(arguments, config) as client:
        if arguments.dry_run or arguments.spec is not None:
            spec = await _known_spec(client, arguments.spec)  # servers may answer an unknown one with any failure
            if arguments.dry_run:
                words = f"would start from {spec.id}: {' '.join(spec.command or ())}"
                answer(arguments, _spec_plain(spec), [line(words)])
                note("Nothing was started.")
                return 0
        with if_interrupted("The server may go on and start one.", "`quarterdeck sandboxes list` shows it then."):
            started = await client.sandboxes.start(arguments.spec)
        found = await client.sandboxes.find(started.id)
        if found is None or found.status in (SandboxStatus.ERROR, SandboxStatus.MISSING):
            status = "not listed" if found is None else found.status
            raise CommandError(f"The sandbox {started.id} was started, but is {status}.", "Look at the server's log.")
        answer(arguments, sandbox_plain(found), [columns(found.id, found.status.capitalize())])
        return 0


async def _known_spec(client: Client, spec_id: str | None) -> SandboxSpec:
    """Return the spec with this id, or the default one; raises CommandError if there is none."""
    known = await client.sandboxes.specs()
    spec = next((one for one in known if spec_id in (None, one.id)), None)
    if spec is None:
        words = f"There is no spec {spec_id!r}." if known else "The server has nothing to start a sandbox from."
        raise CommandError(words, LIST_SPECS)
    return spec


def _spec_plain(spec: SandboxSpec) -> dict[str, Any]:
    """Return a spec, with only the names of its environment."""
    return spec.model_dump(mode="json", exclude={"initial_env"}) | {"initial_env_set": sorted(spec.initial_env)}
