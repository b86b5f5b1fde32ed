"""`quarterdeck sandboxes pause`, `resume` and `delete`: the plan of the deck, done and verified by reading."""

import asyncio
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import NOTHING_MATCHED, table, typed_filter, with_client
from quarterdeck.cli.output import CommandError, as_json, note, say
from quarterdeck.cli.sandbox_rows import (
    GRAMMAR,
    Reading,
    asks_about_conversations,
    read_all,
    read_some,
    rows_of,
    tell_displacement,
    utc_now,
)
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.config.load import Config
from quarterdeck.fleet.bulk import (
    BulkJob,
    BulkRow,
    Order,
    Plan,
    RowState,
    change_verdict,
    counted,
    delete_verdict,
    plan,
)
from quarterdeck.fleet.bulk import rows_of as bulk_rows_of
from quarterdeck.fleet.filters import Filter, kept
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action, StateWord, why_not_delete, why_not_pause, why_not_resume
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.watch import backoff

EVERY = 0.5
"""Seconds between two readings of what was asked for."""


class Verb(StrEnum):
    """What can be done to sandboxes that are there."""

    PAUSE = "pause"
    RESUME = "resume"
    DELETE = "delete"


_ALREADY = {
    Verb.PAUSE: frozenset({StateWord.PAUSED}),
    Verb.RESUME: frozenset({StateWord.RUNNING, StateWord.STARTING}),
    Verb.DELETE: frozenset[StateWord](),
}
"""States in which there is nothing left to do."""
NOT_DONE = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.GONE, RowState.STOPPED})
"""Ends of a row that was to be changed, and was not."""


class BulkChange:
    """One bulk command on one server; `tell` is told of each row that changes, with the server's last word."""

    def __init__(
        self,
        client: Client,
        verb: Verb,
        plan: Plan[SandboxRow],
        tell: Callable[[BulkRow, str | None], None],
    ) -> None:
        self._client = client
        self._verb = verb
        self._tell = tell
        self._memories = SandboxMemories()
        self._memories.observe((row.record for row in plan.rows), utc_now(), beginning=False)
        order = Order(verb, self._act, self._verdict)
        self.bulk = BulkJob(order, plan, progress=self._progress)

    async def run(self) -> None:
        """Ask, and read, until every row has come to its end."""
        reading = asyncio.create_task(self._read())
        try:
            await self.bulk.run()
        finally:
            reading.cancel()

    def status(self, sandbox_id: str) -> str | None:
        """What the server last called it; None when it is not there."""
        memory = self._memories.by_id.get(sandbox_id)
        return memory.status if memory is not None else None

    def _progress(self, row: BulkRow) -> None:
        self._tell(row, self.status(row.id))

    async def _act(self, sandbox_id: str) -> None:
        resource = self._client.sandboxes
        if self._verb is not Verb.DELETE:
            self._memories.asked(sandbox_id, Action(self._verb), utc_now())
        match self._verb:
            case Verb.PAUSE:
                await resource.pause(sandbox_id)
            case Verb.RESUME:
                await resource.resume(sandbox_id)
            case Verb.DELETE:
                await resource.delete(sandbox_id)

    def _verdict(self, sandbox_id: str) -> RowState | None:
        memory = self._memories.by_id.get(sandbox_id)
        if self._verb is Verb.DELETE:
            return delete_verdict(memory)
        return change_verdict(memory, Action(self._verb))

    async def _read(self) -> None:
        """Read what was asked for again and again; a server that cannot answer is left alone for longer each time."""
        failures, rest = 0, EVERY
        while True:
            await asyncio.sleep(rest)
            sent = [row.id for row in self.bulk.rows.values() if row.state is RowState.SENT]
            try:
                records = await read_some(self._client, sent) if sent else {}
            except ServiceError as error:
                failures += 1
                rest = backoff(failures, random.random(), error.retry_after)  # noqa: S311 - no secret
                continue
            failures, rest = 0, EVERY
            self._memories.observe(
                (record for record in records.values() if record is not None), utc_now(), beginning=False
            )
            self._memories.forget([sandbox_id for sandbox_id, record in records.items() if record is None])
            self.bulk.look()


def run(arguments: CommandLine, config: Config) -> int:
    """Do it to each sandbox that is meant; 0 only when all of them were read so afterwards, 3 when none is meant."""
    ids, wanted = tuple(dict.fromkeys(arguments.ids)), typed_filter(arguments.filter, GRAMMAR)
    verb = Verb(arguments.verb)
    if not ids and not wanted:  # that never means all
        advice = "Give ids, or --filter with at least one condition, like status:running."
        raise CommandError("No sandbox is named.", advice, status=2)

    async def change(client: Client) -> int:
        read = await _select(client, ids, wanted)
        if read.unreadable:
            note(f"{read.unreadable} records could not be read; they are left alone.")
        if not read.rows and not read.unknown:
            note("No sandbox matches the filter.")
            return NOTHING_MATCHED
        planned = plan(read.rows, lambda row: _why_not(verb, row))
        if arguments.dry_run or (verb is Verb.DELETE and not arguments.yes):
            await _foretell(client, planned, read, arguments)
            return 1 if read.unknown or read.unreadable else 0
        rows = await _do(client, planned, read, verb, ids, json=arguments.json)
        before = {row.id: row for row in read.rows}
        undone = [row for row in rows if _undone(row, before.get(row.id), verb, named=row.id in ids)]
        return 1 if undone or read.unreadable else 0

    return with_client(arguments, config, change)


async def _select(client: Client, ids: Sequence[str], wanted: Filter) -> Reading:
    """The sandboxes that are meant, as they were named or as their server lists them; without ids all are looked at."""
    conversations = asks_about_conversations(wanted)
    answer = await client.sandboxes.read(ids) if ids and not conversations else None
    if answer is not None:
        read = Reading(rows_of(client, (one for one in answer if one is not None), None))
    else:
        read = await read_all(client, conversations=conversations)
    found = {row.id: row for row in read.rows}
    rows = tuple(kept([found[one] for one in ids or found if one in found], wanted, utc_now(), GRAMMAR))
    return Reading(rows, 0 if ids else read.unreadable, tuple(one for one in ids if one not in found))


def _why_not(verb: Verb, row: SandboxRow) -> str | None:
    state = row.state(utc_now())
    match verb:
        case Verb.PAUSE:
            return why_not_pause(state)
        case Verb.RESUME:
            return why_not_resume(state)
        case Verb.DELETE:
            return why_not_delete(offered=True)


async def _foretell(client: Client, planned: Plan[SandboxRow], read: Reading, arguments: CommandLine) -> None:
    """Say what would be done, and do nothing; raises CommandError (status 2) for a deletion without its word."""
    verb, statuses = Verb(arguments.verb), {row.id: row.record.status for row in read.rows}
    rows = _in_order([*bulk_rows_of(planned).values(), *_unknown(read)], read, arguments.ids)
    if arguments.json:
        as_json([_plain(row, statuses.get(row.id)) for row in rows])
    else:
        plans = (verb if row.state is RowState.WAITING else "skip" for row in rows)
        cells = [(row.id, statuses.get(row.id), does, _why(row)) for row, does in zip(rows, plans, strict=True)]
        table(("ID", "STATUS", "PLAN", "WHY"), cells)
    if verb is Verb.RESUME:
        await tell_displacement(client, len(planned.rows))
    if not arguments.dry_run:
        words = f"Nothing was deleted; with --yes it is: {len(planned.rows)} of {len(read.rows)}."
        advice = "A workspace goes with its sandbox; conversations stay listed without one."
        raise CommandError(words, advice, status=2)
    note(f"Nothing was done; without --dry-run it is: {verb} {len(planned.rows)} of {len(read.rows)}.")


async def _do(
    client: Client, planned: Plan[SandboxRow], read: Reading, verb: Verb, named: Sequence[str], *, json: bool
) -> list[BulkRow]:
    """Do it, and say what became of each."""
    following = BulkChange(client, verb, planned, lambda row, status: _tell(row, status, json=json))
    unknown = _unknown(read)
    for row in unknown:
        _tell(row, None, json=json)
    with _stops_at_first_interrupt(following):
        await following.run()
    rows = _in_order([*following.bulk.rows.values(), *unknown], read, named)
    statuses: dict[str, str | None] = {row.id: row.record.status for row, _ in planned.skipped}
    statuses |= {row.id: following.status(row.id) for row in planned.rows}
    if json:
        as_json([_plain(row, statuses.get(row.id)) for row in rows])
    elif len(rows) > 1:
        note(f"{counted(rows)}.")
    return rows


def _undone(row: BulkRow, before: SandboxRow | None, verb: Verb, *, named: bool) -> bool:
    """Whether a sandbox is not as asked; one that was left out is not only if it was named and is otherwise."""
    if row.state is not RowState.SKIPPED or before is None:
        return row.state in NOT_DONE
    return named and before.state(utc_now()).known not in _ALREADY[verb]


def _unknown(read: Reading) -> list[BulkRow]:
    return [BulkRow(one, RowState.GONE, "There is no sandbox of this id.") for one in read.unknown]


def _in_order(rows: Iterable[BulkRow], read: Reading, named: Sequence[str]) -> list[BulkRow]:
    """The rows as they were named, or as their server lists them."""
    places = {one: place for place, one in enumerate(named or [row.id for row in read.rows])}
    return sorted(rows, key=lambda row: places[row.id])


@contextmanager
def _stops_at_first_interrupt(following: BulkChange) -> Iterator[None]:
    """Let the first interrupt stop what was not asked for yet, and the next one leave at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        note("Stopping; what was asked for already is read to its end.", "Interrupt again to leave now.")
        following.bulk.stop()

    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _tell(row: BulkRow, status: str | None, *, json: bool) -> None:
    """Say of one row that has come to its end how it did: done on standard output, the rest on standard error."""
    if row.state is RowState.DONE and not json:
        say(f"{row.id}  {status or 'deleted'}")
    elif row.state in NOT_DONE:
        note(f"{row.id}: {row.state}. {_why(row)}")


def _plain(row: BulkRow, status: str | None) -> dict[str, Any]:
    result = "planned" if row.state is RowState.WAITING else row.state.value
    return {"id": row.id, "done": row.state is RowState.DONE, "status": status, "result": result, "why": _why(row)}


def _why(row: BulkRow) -> str:
    """Why it is so; what a rule says after its semicolon names keys of the deck."""
    rule, semicolon, _ = row.words.partition(";")
    return f"{rule}." if row.state is RowState.SKIPPED and semicolon else row.words
