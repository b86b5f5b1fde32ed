"""How far a command for several rows is, as cells."""

from __future__ import annotations

from quarterdeck.fleet.bulk import BulkJob, BulkRow, RowState, counts
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.text import Shown

LOOKS: dict[RowState, tuple[str, str, Tone]] = {
    RowState.DONE: ("✓", "done", Tone.GOOD),
    RowState.FAILED: ("✕", "failed", Tone.BAD),
    RowState.UNCHANGED: ("!", "unchanged", Tone.WARN),
    RowState.UNDONE: ("↺", "undone", Tone.WARN),
    RowState.GONE: ("○", "gone", Tone.WARN),
    RowState.SENT: ("◔", "asked for", Tone.BUSY),
    RowState.WAITING: ("·", "waiting", Tone.PLAIN),
    RowState.STOPPED: ("■", "stopped", Tone.MUTED),
    RowState.SKIPPED: ("-", "skipped", Tone.MUTED),
}
"""Sign, word and tone of how far a row is."""


def counts_cell(job: BulkJob) -> Cell:
    """How many rows have come how far."""
    said = [
        (Shown(f"{count:,} {LOOKS[state][1]}  "), LOOKS[state][2]) for state, count in counts(job.rows.values()).items()
    ]
    if not job.ended and (waits := job.waits) > 0:
        said.append((Shown(f"the server asked to wait {waits:.0f}s"), Tone.WARN))
    return tuple(said)


def state_cell(row: BulkRow) -> Cell:
    """Sign and word of how far a row is."""
    sign, word, tone = LOOKS[row.state]
    return ((Shown(f"{sign} {word}"), tone),)
