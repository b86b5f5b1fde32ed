"""The requests made so far, newest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.client.request import LoggedRequest


def logged_line(request: LoggedRequest) -> Cell:
    """One request: when, how it ended, how long it took, what it was."""
    if request.status is not None:
        ended, tone = str(request.status), Tone.GOOD if request.status < 400 else Tone.BAD
    else:
        ended, tone = request.error or "left", Tone.BAD if request.error else Tone.MUTED
    return (
        (Shown(f"{request.when.astimezone():%H:%M:%S}  "), Tone.MUTED),
        (text.line(f"{ended:<8.8}"), tone),
        (Shown(f" {request.ms:>7.0f} ms  "), Tone.MUTED),
        (Shown(f"{request.method:<6} "), Tone.KEY),
        (text.line(request.path), Tone.PLAIN),
    )


def log_lines(log: Callable[[], Sequence[LoggedRequest]]) -> list[Cell]:
    """All requests, newest first."""
    return [logged_line(request) for request in reversed(log())] or [cell(Shown("No request yet."), Tone.MUTED)]
