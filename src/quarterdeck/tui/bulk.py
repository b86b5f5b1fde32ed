"""Doing one thing to several rows, a few at a time, and saying what became of each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from quarterdeck.fleet.plan import Plan
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.service.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell, indented
from quarterdeck.tui.text import Shown

AT_ONCE = 4
"""Requests of one command under way at a time."""
LISTED = 8
"""Rows a dialog names one by one."""


@dataclass(frozen=True)
class Result:
    """What became of one row; no error means that the server took the command, not that it is done yet."""

    row: SandboxRow
    error: ServiceError | None


async def do_all(rows: Sequence[SandboxRow], act: Callable[[str], Awaitable[None]]) -> list[Result]:
    """Do it to all rows, `AT_ONCE` at a time; the results stand in the order of the rows."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(row: SandboxRow) -> Result:
        async with gate:
            try:
                await act(row.id)
            except ServiceError as error:
                return Result(row, error)
            return Result(row, None)

    return list(await asyncio.gather(*(one(row) for row in rows)))


def plan_lines(verb: str, planned: Plan[SandboxRow]) -> list[Cell]:
    """What a command will do to which rows, and which it leaves out, for a question beforehand."""
    said = [cell(Shown(f"{verb} {len(planned.rows)} of {len(planned.rows) + len(planned.skipped)} marked sandboxes:"))]
    said += _named(((row, "") for row in planned.rows), len(planned.rows), Tone.PLAIN)
    if planned.skipped:
        said += [EMPTY, cell(Shown(f"{len(planned.skipped)} left out:"), Tone.MUTED)]
        said += _named(planned.skipped, len(planned.skipped), Tone.MUTED)
    return said


def _named(pairs: Iterable[tuple[SandboxRow, str]], count: int, tone: Tone) -> list[Cell]:
    named = [indented(text.line(f"{row.short_id} {words}"), tone) for row, words in islice(pairs, LISTED)]
    return [*named, cell(Shown(f"  and {count - LISTED} more"), Tone.MUTED)] if count > LISTED else named


def result_words(verb: str, results: Sequence[Result]) -> tuple[Shown, Tone]:
    """What became of it, in one line; a single failure is told whole."""
    failed = [result for result in results if result.error is not None]
    if not failed:
        which = text.line(results[0].row.short_id) if len(results) == 1 else Shown(f"{len(results)} sandboxes")
        return Shown(f"{verb}: {which} asked for; the list shows when it is done."), Tone.PLAIN
    error = failed[0].error
    assert error is not None
    first = f"{failed[0].row.short_id}: {error.words} {error.advice}"
    if len(results) == 1:
        return text.line(f"{verb} {first}"), Tone.BAD
    return text.line(f"{verb}: {len(failed)} of {len(results)} failed. {first}"), Tone.BAD
