"""`quarterdeck sandboxes pause`, `resume` and `delete`: the plan of the deck, done and verified by reading."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from quarterdeck.cli.change_report import NOT_DONE, in_order, tell_end, tell_plan, tell_row, unknown_rows
from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.filtering import NOTHING_MATCHED
from quarterdeck.cli.following import Following, Verb
from quarterdeck.cli.foretelling import tell_displacement
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import note
from quarterdeck.cli.sandbox_rows import utc_now
from quarterdeck.cli.selection import Selected, Wanted, select
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.fleet.bulk import BulkRow, Plan, RowState, plan, rows_of
from quarterdeck.fleet.sandbox_state import StateWord, why_not_delete, why_not_pause, why_not_resume
from quarterdeck.fleet.sandboxes import SandboxRow

_ALREADY = {
    Verb.PAUSE: frozenset({StateWord.PAUSED}),
    Verb.RESUME: frozenset({StateWord.RUNNING, StateWord.STARTING}),
    Verb.DELETE: frozenset[StateWord](),
}
"""States in which there is nothing left to do."""


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
    rows = in_order([*rows_of(planned).values(), *unknown_rows(selected)], selected, arguments.ids)
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
