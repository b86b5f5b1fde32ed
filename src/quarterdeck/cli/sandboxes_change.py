"""`quarterdeck sandboxes pause`, `resume` and `delete`: the plan of the deck, done and verified by reading."""

import asyncio
import random
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import NOTHING_MATCHED, table, typed_filter, utc_now, with_client
from quarterdeck.cli.output import CommandError, as_json, note, say
from quarterdeck.cli.sandboxes import (
    GRAMMAR,
    Reading,
    asks_about_conversations,
    read_all,
    read_some,
    rows_of,
)
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.config.load import Config
from quarterdeck.fleet import bulk
from quarterdeck.fleet.bulk import BulkAction, BulkJob, BulkRow, Plan, RowState, change_verdict, counted
from quarterdeck.fleet.filters import Filter, kept
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import UP, Action, StateWord, why_not
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.watch import backoff

EVERY = 0.5
"""Seconds between two readings of what was asked for."""
NOT_DONE = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.GONE, RowState.STOPPED})
"""Ends of a row that was to be changed, and was not."""


class Verb(NamedTuple):
    """Something that can be done to sandboxes that are there."""

    action: Action
    already: frozenset[StateWord] = frozenset()
    """States in which there is nothing left to do."""


VERBS = {
    "pause": Verb(Action.PAUSE, frozenset({StateWord.PAUSED})),
    "resume": Verb(Action.RESUME, UP),
    "delete": Verb(Action.DELETE),
}


def run(arguments: CommandLine, config: Config) -> int:
    """Do it to each sandbox that is meant; 0 only when all of them were read so afterwards, 3 when none is meant."""
    ids, wanted = tuple(dict.fromkeys(arguments.ids)), typed_filter(arguments.filter, GRAMMAR)
    verb = VERBS[arguments.verb]
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
        planned = bulk.plan(read.rows, lambda row: why_not(arguments.verb, row.state(utc_now())))
        if arguments.dry_run or (arguments.verb == "delete" and not arguments.yes):
            await _foretell(client, planned, read, arguments)
            return 1 if read.unknown or read.unreadable else 0
        rows = await _do(client, planned, read, arguments)
        before = {row.id: row.state(utc_now()).known for row in read.rows}
        undone = [
            row
            for row in rows
            if row.state in NOT_DONE
            # One that was left out counts only if it was named and is not as it was to be.
            or (row.state is RowState.SKIPPED and row.id in ids and before[row.id] not in verb.already)
        ]
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


async def _foretell(client: Client, planned: Plan[SandboxRow], read: Reading, arguments: CommandLine) -> None:
    """Say what would be done, and do nothing; raises CommandError (status 2) for a deletion without its word."""
    verb, statuses = arguments.verb, {row.id: row.record.status for row in read.rows}
    rows = _in_order(bulk.rows_of(planned), read, arguments)
    if arguments.json:
        _print_json(rows, statuses)
    else:
        plans = (verb if row.state is RowState.WAITING else "skip" for row in rows)
        cells = [(row.id, statuses.get(row.id), does, _why(row)) for row, does in zip(rows, plans, strict=True)]
        table(("ID", "STATUS", "PLAN", "WHY"), cells)
    if not arguments.dry_run:
        words = f"Nothing was deleted; with --yes it is: {len(planned.rows)} of {len(read.rows)}."
        advice = "A workspace goes with its sandbox; conversations stay listed without one."
        raise CommandError(words, advice, status=2)
    note(f"Nothing was done; without --dry-run it is: {verb} {len(planned.rows)} of {len(read.rows)}.")


async def _do(client: Client, planned: Plan[SandboxRow], read: Reading, arguments: CommandLine) -> Sequence[BulkRow]:
    """Do it, and say what became of each: at once what is done on standard output and the rest on standard error."""
    memories = SandboxMemories()
    memories.observe((row.record for row in planned.rows), utc_now(), beginning=False)

    def status(sandbox_id: str) -> str | None:
        memory = memories.by_id.get(sandbox_id)
        return memory.status if memory is not None else None

    def tell(row: BulkRow) -> None:
        if row.state is RowState.DONE and not arguments.json:
            say(f"{row.id}  {status(row.id) or 'deleted'}")
        elif row.state in NOT_DONE or row.state is RowState.SKIPPED:
            note(f"{row.id}: {row.state}. {_why(row)}")

    left_out = bulk.rows_of(planned) | _unknown(read)
    for row in (left_out[one] for one in arguments.ids if one in left_out):
        tell(row)
    job = BulkJob(_order(client, arguments.verb, memories), planned, progress=tell)
    reading = asyncio.create_task(_keep_reading(client, job, memories))
    with _stops_at_first_interrupt(job):
        try:
            await job.run()
        finally:
            reading.cancel()
    rows = _in_order(job.rows, read, arguments)
    if arguments.json:
        skipped: dict[str, str | None] = {row.id: row.record.status for row, _ in planned.skipped}
        _print_json(rows, skipped | {row.id: status(row.id) for row in planned.rows})
    elif len(rows) > 1:
        note(f"{counted(rows)}.")
    return rows


def _order(client: Client, word: str, memories: SandboxMemories) -> BulkAction:
    """What is asked of the server by a verb, and what the readings say of it."""
    sandboxes, action = client.sandboxes, VERBS[word].action
    send = {"pause": sandboxes.pause, "resume": sandboxes.resume, "delete": sandboxes.delete}[word]

    async def act(sandbox_id: str) -> None:
        memories.asked(sandbox_id, action, utc_now())
        await send(sandbox_id)

    return BulkAction(word, act, lambda one: change_verdict(memories.by_id.get(one), action))


async def _keep_reading(client: Client, job: BulkJob, memories: SandboxMemories) -> None:
    """Read what was asked for until cancelled; a server that cannot answer is left alone for longer each time."""
    failures, rest = 0, EVERY
    while True:
        await asyncio.sleep(rest)
        sent = [row.id for row in job.rows.values() if row.state is RowState.SENT]
        try:
            records = await read_some(client, sent) if sent else {}
        except ServiceError as error:
            failures += 1
            rest = backoff(failures, random.random(), error.retry_after)  # noqa: S311 - no secret
            continue
        failures, rest = 0, EVERY
        memories.observe((record for record in records.values() if record is not None), utc_now(), beginning=False)
        memories.forget([sandbox_id for sandbox_id, record in records.items() if record is None])


@contextmanager
def _stops_at_first_interrupt(job: BulkJob) -> Iterator[None]:
    """Let the first interrupt stop what was not asked for yet, and the next one leave at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        note("Stopping; what was asked for already is read to its end.", "Interrupt again to leave now.")
        job.stop()

    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _unknown(read: Reading) -> dict[str, BulkRow]:
    return {one: BulkRow(one, RowState.GONE, "There is no sandbox of this id.") for one in read.unknown}


def _in_order(rows: Mapping[str, BulkRow], read: Reading, arguments: CommandLine) -> Sequence[BulkRow]:
    """The rows, with what is not known, as they were named or as their server lists them."""
    found = {**rows, **_unknown(read)}
    order = dict.fromkeys(arguments.ids or [row.id for row in read.rows])
    return [found[one] for one in order if one in found]


def _print_json(rows: Sequence[BulkRow], statuses: Mapping[str, str | None]) -> None:
    """Print what became, or would become, of each row, with its server's last word."""
    as_json(
        [
            {
                "id": row.id,
                "done": row.state is RowState.DONE,
                "status": statuses.get(row.id),
                "result": "planned" if row.state is RowState.WAITING else row.state.value,
                "why": _why(row),
            }
            for row in rows
        ]
    )


def _why(row: BulkRow) -> str:
    """Why it is so; what a rule says after its semicolon names keys of the deck."""
    rule, semicolon, _ = row.words.partition(";")
    return f"{rule}." if row.state is RowState.SKIPPED and semicolon else row.words
