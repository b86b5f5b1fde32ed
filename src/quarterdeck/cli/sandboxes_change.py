"""`quarterdeck sandboxes pause`, `resume` and `delete`: the plan of the deck, done and verified by reading."""

import asyncio
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.following import Following, Verb
from quarterdeck.cli.oneshot import NOTHING_MATCHED, typed_filter, with_client
from quarterdeck.cli.output import CommandError, as_json, note, say
from quarterdeck.cli.sandbox_rows import (
    GRAMMAR,
    Reading,
    asks_about_conversations,
    read_all,
    rows_of,
    tell_displacement,
    utc_now,
)
from quarterdeck.cli.tables import table
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.fleet.bulk import BulkRow, Plan, RowState, counted, plan
from quarterdeck.fleet.bulk import rows_of as bulk_rows_of
from quarterdeck.fleet.filters import Filter, kept
from quarterdeck.fleet.sandbox_state import StateWord, why_not_delete, why_not_pause, why_not_resume
from quarterdeck.fleet.sandboxes import SandboxRow

_ALREADY = {
    Verb.PAUSE: frozenset({StateWord.PAUSED}),
    Verb.RESUME: frozenset({StateWord.RUNNING, StateWord.STARTING}),
    Verb.DELETE: frozenset[StateWord](),
}
"""States in which there is nothing left to do."""
NOT_DONE = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.GONE, RowState.STOPPED})
"""Ends of a row that was to be changed, and was not."""


@dataclass(frozen=True)
class Wanted:
    """What a command line asks for; without ids every sandbox is looked at, without a filter those are taken."""

    ids: tuple[str, ...]
    filter: Filter

    @classmethod
    def of(cls, arguments: CommandLine) -> "Wanted":
        """Read a command line; raises CommandError (status 2) for one that names nothing: that never means all."""
        wanted = cls(tuple(dict.fromkeys(arguments.ids)), typed_filter(arguments.filter, GRAMMAR))
        if not wanted.ids and not wanted.filter:
            raise CommandError(
                "No sandbox is named.",
                "Give ids, or --filter with at least one condition, like status:running.",
                status=2,
            )
        return wanted


@dataclass(frozen=True)
class Selected:
    """The sandboxes a command is for, in the order they were named, or in their server's."""

    rows: tuple[SandboxRow, ...]
    unknown: tuple[str, ...] = ()
    """Ids that were named and that the server does not know."""
    unreadable: int = 0
    """Records that could not be read: the filter has not seen them."""

    @property
    def by_id(self) -> dict[str, SandboxRow]:
        """The rows by their ids."""
        return {row.id: row for row in self.rows}


async def select(client: Client, wanted: Wanted) -> Selected:
    """Read what is needed to find them, and find them."""
    read = await _read(client, wanted)
    found = {row.id: row for row in read.rows}
    if not wanted.ids:
        return Selected(tuple(kept(read.rows, wanted.filter, utc_now(), GRAMMAR)), (), read.unreadable)
    named = [found[one] for one in wanted.ids if one in found]
    unknown = tuple(one for one in wanted.ids if one not in found)
    return Selected(tuple(kept(named, wanted.filter, utc_now(), GRAMMAR)), unknown)


async def _read(client: Client, wanted: Wanted) -> Reading:
    """Read the sandboxes named, or all of them where there is no other way."""
    conversations = asks_about_conversations(wanted.filter)
    if wanted.ids and not conversations:
        answer = await client.sandboxes.read(wanted.ids)
        if answer is not None:
            return Reading(rows_of(client, (one for one in answer if one is not None), None))
    return await read_all(client, conversations=conversations)


def run(arguments: CommandLine, config: Config) -> int:
    """Do it to each sandbox that is meant; 0 only when all of them were read so afterwards, 3 when none is meant."""
    wanted, verb = Wanted.of(arguments), Verb(arguments.verb)

    async def change(client: Client) -> int:
        selected = await select(client, wanted)
        if selected.unreadable:
            note(f"{selected.unreadable} records could not be read; they are left alone.")
        if not selected.rows and not selected.unknown:
            note("No sandbox matches the filter.")
            return NOTHING_MATCHED
        planned = plan(selected.rows, lambda row: _why_not(verb, row))
        if arguments.dry_run or (verb is Verb.DELETE and not arguments.yes):
            return await _foretell(client, planned, selected, arguments)
        return await _do(client, planned, selected, wanted, verb, json=arguments.json)

    return with_client(arguments, config, change)


def _why_not(verb: Verb, row: SandboxRow) -> str | None:
    state = row.state(utc_now())
    match verb:
        case Verb.PAUSE:
            return why_not_pause(state)
        case Verb.RESUME:
            return why_not_resume(state)
        case Verb.DELETE:
            return why_not_delete(offered=True)


async def _foretell(client: Client, planned: Plan[SandboxRow], selected: Selected, arguments: CommandLine) -> int:
    """Say what would be done, and do nothing; a deletion without its word is wrong usage."""
    verb = Verb(arguments.verb)
    rows = in_order([*bulk_rows_of(planned).values(), *unknown_rows(selected)], selected, arguments.ids)
    tell_plan(rows, selected, verb, json=arguments.json)
    if verb is Verb.RESUME:
        await tell_displacement(client, len(planned.rows))
    if not arguments.dry_run:
        words = f"Nothing was deleted; with --yes it is: {len(planned.rows)} of {len(selected.rows)}."
        advice = "A workspace goes with its sandbox; conversations stay listed without one."
        raise CommandError(words, advice, status=2)
    note(f"Nothing was done; without --dry-run it is: {verb} {len(planned.rows)} of {len(selected.rows)}.")
    return 1 if selected.unknown or selected.unreadable else 0


async def _do(
    client: Client, planned: Plan[SandboxRow], selected: Selected, wanted: Wanted, verb: Verb, *, json: bool
) -> int:
    """Do it, say what became of each, and give the exit status."""
    following = Following(client, verb, planned, lambda row, status: tell_row(row, status, json=json))
    unknown = unknown_rows(selected)
    for row in unknown:
        tell_row(row, None, json=json)
    with _stops_at_first_interrupt(following):
        await following.run()
    rows = in_order([*following.bulk.rows.values(), *unknown], selected, wanted.ids)
    skipped = {row.id: row.record.status for row, _ in planned.skipped}
    tell_end(rows, skipped | {row.id: following.status(row.id) for row in planned.rows}, json=json)
    before = selected.by_id
    undone = [row for row in rows if _undone(row, before.get(row.id), wanted, verb)]
    return 1 if undone or selected.unreadable else 0


def _undone(row: BulkRow, before: SandboxRow | None, wanted: Wanted, verb: Verb) -> bool:
    """Whether a sandbox is not as asked; one that was left out is not only if it was named and is otherwise."""
    if row.state is not RowState.SKIPPED or before is None:
        return row.state in NOT_DONE
    return row.id in wanted.ids and before.state(utc_now()).known not in _ALREADY[verb]


@contextmanager
def _stops_at_first_interrupt(following: Following) -> Iterator[None]:
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


def unknown_rows(selected: Selected) -> list[BulkRow]:
    """What is said of ids that the server does not know."""
    return [BulkRow(one, RowState.GONE, "There is no sandbox of this id.") for one in selected.unknown]


def in_order(rows: Iterable[BulkRow], selected: Selected, named: Sequence[str]) -> list[BulkRow]:
    """The rows as they were named, or as their server lists them."""
    places = {one: place for place, one in enumerate(named or selected.by_id)}
    return sorted(rows, key=lambda row: places[row.id])


def tell_plan(rows: Sequence[BulkRow], selected: Selected, verb: Verb, *, json: bool) -> None:
    """Say what would be done to each, and what would be left out and why."""
    statuses = {row.id: row.record.status for row in selected.rows}
    if json:
        as_json([_plain(row, statuses.get(row.id)) for row in rows])
        return
    cells = [
        (row.id, statuses.get(row.id), verb if row.state is RowState.WAITING else "skip", _why(row)) for row in rows
    ]
    table(("ID", "STATUS", "PLAN", "WHY"), cells)


def tell_row(row: BulkRow, status: str | None, *, json: bool) -> None:
    """Say of one row that has come to its end how it did: done on standard output, the rest on standard error."""
    if row.state is RowState.DONE and not json:
        say(f"{row.id}  {status or 'deleted'}")
    elif row.state in NOT_DONE:
        note(f"{row.id}: {row.state}. {_why(row)}")


def tell_end(rows: Sequence[BulkRow], statuses: Mapping[str, str | None], *, json: bool) -> None:
    """Say what became of all rows; `statuses` are the server's last words."""
    if json:
        as_json([_plain(row, statuses.get(row.id)) for row in rows])
    elif len(rows) > 1:
        note(f"{counted(rows)}.")


def _plain(row: BulkRow, status: str | None) -> dict[str, Any]:
    result = "planned" if row.state is RowState.WAITING else row.state.value
    return {"id": row.id, "done": row.state is RowState.DONE, "status": status, "result": result, "why": _why(row)}


def _why(row: BulkRow) -> str:
    """Why it is so; what a rule says after its semicolon names keys of the deck."""
    rule, semicolon, _ = row.words.partition(";")
    return f"{rule}." if row.state is RowState.SKIPPED and semicolon else row.words
