"""`quarterdeck sandboxes pause`, `resume` and `delete`: the deck's bulk commands, verified by reading."""

import asyncio
import sys
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import ENDINGS, NOTHING_MATCHED, refuse_unknown_status, session_for, table, typed_filter
from quarterdeck.cli.output import CommandError, answer, heeded, note, print_json, say
from quarterdeck.cli.sandboxes import GRAMMAR, read
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import utc_now
from quarterdeck.fleet.bulk import BulkJob, BulkRow, RowState, counted, plan
from quarterdeck.fleet.filters import kept
from quarterdeck.fleet.sandbox_state import Action, StateWord, why_not
from quarterdeck.fleet.session import Session

NOT_DONE = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.GONE, RowState.STOPPED})
"""States of rows that should have been changed but were not."""


async def run(arguments: CommandLine, config: Config) -> int:
    """Change each chosen sandbox; 0 only if all were verified by reading, 3 if none is chosen and all could be read."""
    ids, wanted = tuple(dict.fromkeys(arguments.ids)), typed_filter(arguments.filter, GRAMMAR)
    if not ids and not wanted:  # an empty choice never means all
        advice = "Give ids, or --filter with at least one condition, like status:running."
        raise CommandError("No sandbox is named.", advice, status=2)
    async with session_for(arguments, config) as session:
        unreadable, now = await read(session, wanted, ids), utc_now()
        if unreadable:
            note(f"Records that could not be read and are left alone: {unreadable:,}.")
        known = {row.id: row for row in session.sandbox_rows}
        refuse_unknown_status(wanted, StateWord, known.values())
        rows = kept([known[each] for each in ids or known if each in known], wanted, now)
        unknown = [each for each in ids if each not in known]
        if not rows and not unknown:
            note("No sandbox matches the filter.")
            return 1 if unreadable else NOTHING_MATCHED

        def tell(row: BulkRow) -> None:
            """Print the result of a row: success on standard output, the rest on standard error."""
            if row.state is RowState.DONE and not arguments.json:
                say(row.id, "Deleted" if arguments.verb == "delete" else _word(session, row.id))
                sys.stdout.flush()  # what was done is known even if the program is ended
            elif row.state in NOT_DONE or row.state is RowState.SKIPPED:
                note(f"{row.id}: {row.words or row.state}")

        bulk_action = session.bulk_action(Action[arguments.verb.upper()])
        job = BulkJob(bulk_action, plan(rows, lambda row: why_not(arguments.verb, row.state(now))), progress=tell)
        found = job.rows | {each: BulkRow(each, RowState.GONE, "There is no sandbox of this id.") for each in unknown}
        job.rows = {each: found[each] for each in ids or known if each in found}
        if arguments.dry_run or (arguments.verb == "delete" and not arguments.yes):
            _print_plan(job, session, arguments)
            return 1 if unknown or unreadable else 0
        for each in ids:
            if each in found:
                tell(found[each])
        await _carry_out(job, session)
        if arguments.json:
            print_json(_plain(job, session))
        elif len(job.rows) > 1:
            note(f"{counted(job.rows.values())}.")
        undone = [
            row
            for row in job.rows.values()
            if row.state in NOT_DONE
            # A skipped row counts as an error only if it was named and is not in the requested state.
            or (row.state is RowState.SKIPPED and row.id in ids and bulk_action.verdict(row.id) is not RowState.DONE)
        ]
        return 1 if undone or unreadable else 0


def _print_plan(job: BulkJob, session: Session, arguments: CommandLine) -> None:
    """Print what would be done; raises CommandError for a deletion without --yes (status 2, if --yes would help)."""
    verb, planned = arguments.verb, sum(row.state is RowState.WAITING for row in job.rows.values())
    cells = [
        (row.id, _word(session, row.id), verb if row.state is RowState.WAITING else "skip", row.words)
        for row in job.rows.values()
    ]
    answer(arguments, _plain(job, session), table(("ID", "STATUS", "PLAN", "WHY"), cells))
    read_only = session.client.transport.access.read_only
    if not arguments.dry_run and read_only:
        raise CommandError("Nothing was deleted: this connection is read-only.")
    if not arguments.dry_run:
        words = f"Nothing was deleted; --yes deletes {planned} of {len(job.rows)}."
        advice = "A workspace goes with its sandbox; conversations stay listed without one."
        raise CommandError(words, advice, status=2)
    if read_only:
        note("This connection is read-only: without --dry-run nothing is done either.")
    else:
        note(f"Nothing was done; without --dry-run: {verb} {planned} of {len(job.rows)}.")


async def _carry_out(job: BulkJob, session: Session) -> None:
    """Run the job while polling; the first signal stops further requests, the second one exits at once."""
    loop = asyncio.get_running_loop()

    def heed_no_more() -> None:
        for number in ENDINGS:
            loop.remove_signal_handler(number)

    def stop() -> None:
        heed_no_more()
        note("Stopping; what was asked for already is read to its end.", "Interrupt again to leave now.")
        job.stop()

    reading = asyncio.create_task(session.sandboxes.run())
    for number in heeded(ENDINGS):
        loop.add_signal_handler(number, stop)
    try:
        await job.run()
    finally:
        heed_no_more()
        reading.cancel()


def _status(session: Session, sandbox_id: str) -> str | None:
    """Return the status of a sandbox in the last reading, None if it is not listed."""
    memory = session.memories.by_id.get(sandbox_id)
    return memory.status if memory is not None else None


def _word(session: Session, sandbox_id: str) -> str:
    """Return the status of a sandbox as lists show it."""
    return (_status(session, sandbox_id) or "").capitalize()


def _plain(job: BulkJob, session: Session) -> list[dict[str, Any]]:
    """Return the result or plan of each row, with its last status."""
    return [
        {
            "id": row.id,
            "done": row.state is RowState.DONE,
            "status": _status(session, row.id),
            "result": "planned" if row.state is RowState.WAITING else row.state.value,
            "why": row.words,
        }
        for row in job.rows.values()
    ]
