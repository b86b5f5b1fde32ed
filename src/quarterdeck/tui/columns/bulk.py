"""A command for several rows in words: what it will do to which, and how far it is."""

from collections.abc import Iterable, Sequence
from itertools import islice

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.fleet.bulk import BulkJob, BulkRow, N, Named, Plan, RowState, counts
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell, indented
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown

LISTED = 200
"""Rows of one kind that are named one by one."""
_DONE_WORDS = {"Pause": "paused", "Resume": "resumed", "Delete": "deleted"}
STRANDS = "Pausing in the middle of a step can leave its run stuck after the resume."


def plan_lines(verb: str, planned: Plan[N], *, with_hidden: bool = False) -> list[Cell]:
    """Which rows it will be done to, which it leaves out and why, and which are marked behind the filter."""
    rows = planned.with_hidden().rows if with_hidden else planned.rows
    word = _DONE_WORDS[verb]
    said = [cell(Shown(f"{len(rows):,} will be {word}"), Tone.STRONG)]
    said += _named(((row, "") for row in rows), len(rows), Tone.PLAIN)
    if planned.hidden:
        anyway = (
            "included although the filter hides them" if with_hidden else "marked, but hidden by the filter: left out"
        )
        said += [EMPTY, cell(Shown(f"{len(planned.hidden):,} {anyway}"), Tone.WARN)]
        said += _named(((row, "") for row in planned.hidden), len(planned.hidden), Tone.MUTED)
    if planned.skipped:
        said += [EMPTY, cell(Shown(f"{len(planned.skipped):,} skipped"), Tone.STRONG)]
        said += _named(planned.skipped, len(planned.skipped), Tone.MUTED)
    return said


def _named(pairs: Iterable[tuple[Named, str]], count: int, tone: Tone) -> list[Cell]:
    named = [indented(name_of(row, why), tone) for row, why in islice(pairs, LISTED)]
    return [*named, cell(Shown(f"  and {count - LISTED:,} more"), Tone.MUTED)] if count > LISTED else named


def name_of(row: Named, why: str = "") -> Shown:
    """The short id of a row, and what it is about or why it is left out."""
    return Shown(f"{text.line(row.short_id):<7} {text.line(why or row.name)}")


def busy_line(row: SandboxRow) -> Shown | None:
    """Why a pause should be asked about: an agent in it works, or waits for a person; None when neither does."""
    for record, told in zip(row.conversations, row.told, strict=True):
        title = record.title or "a conversation"
        if told == ExecutionStatus.RUNNING:
            return text.line(f"The agent of {title} is at work. {STRANDS}")
        if told == ExecutionStatus.WAITING_FOR_CONFIRMATION:
            return text.line(f"The agent of {title} waits for an answer. {STRANDS}")
    return None


def busy_lines(rows: Iterable[SandboxRow]) -> list[Cell]:
    """How many of several sandboxes a pause may leave stuck."""
    busy = [row for row in rows if busy_line(row) is not None]
    if not busy:
        return []
    words = f"In {len(busy):,} of them an agent works or waits for an answer. {STRANDS}"
    return [cell(Shown(words), Tone.WARN), EMPTY]


def gone_with(rows: Sequence[SandboxRow]) -> list[Cell]:
    """What a deletion takes along, and what it leaves behind."""
    titles = [title for row in rows for title in row.conversation_titles]
    whose, it = ("Its workspace", "it") if len(rows) == 1 else ("Their workspaces", "them")
    said = [cell(Shown(f"{whose} and all files in {it} go too. Nothing brings them back."))]
    if titles:
        said += [EMPTY, cell(Shown(f"Conversations that live in {it} stay listed, without a sandbox:"))]
        said += [indented(text.line(title) or Shown("(untitled)"), Tone.MUTED) for title in titles[:LISTED]]
    return said


# How far it is

WORDS = {
    RowState.DONE: "done",
    RowState.FAILED: "failed",
    RowState.UNCHANGED: "unchanged",
    RowState.UNDONE: "undone",
    RowState.GONE: "gone",
    RowState.SENT: "asked for",
    RowState.WAITING: "waiting",
    RowState.STOPPED: "stopped",
    RowState.SKIPPED: "skipped",
}
"""How far a row is, in a word that has a sign and a tone."""


def counts_cell(job: BulkJob) -> Cell:
    """How many rows have come how far."""
    said = [
        (Shown(f"{count:,} {WORDS[state]}  "), glyph(WORDS[state])[1])
        for state, count in counts(job.rows.values()).items()
    ]
    if not job.ended and (waits := job.waits) > 0:
        said.append((Shown(f"the server asked to wait {waits:.0f}s"), Tone.WARN))
    return tuple(said)


def state_cell(row: BulkRow) -> Cell:
    """Sign and word of how far a row is."""
    word = WORDS[row.state]
    sign, tone = glyph(word)
    return ((Shown(f"{sign} {word}"), tone),)
