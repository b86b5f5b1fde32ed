"""The floor, a plain Textual app around a DataTable; it imports nothing of ours, for that would make it dearer.

Keys: `f` takes the whole list in reverse, `down` moves, `q` leaves. The signal USR1 gives a row on the screen another
status: what changes by itself is not paid for with a key.
"""

import argparse
import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace

from textual.app import App, ComposeResult
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Footer, Header

STATUSES = ("RUNNING", "PAUSED", "STARTING", "ERROR", "MISSING")
CHANGING = 4
"""The row that the signal changes."""


@dataclass(frozen=True)
class Row:
    """A made-up record."""

    id: str
    status: str
    owner: str
    spec: str
    created: str
    updated: str


WIDTHS = {"id": 12, "status": 10, "owner": 10, "spec": 26, "created": 21, "updated": 21}


def made_up(count: int) -> list[Row]:
    """As many different records."""
    return [
        Row(
            f"row-{n}",
            STATUSES[n % 5],
            f"user-{n % 89}",
            "agent-server:1.6.0",
            "2025-01-01T00:00:00Z",
            f"2025-01-01T00:{n % 60:02}:00Z",
        )
        for n in range(count)
    ]


def next_status(row: Row) -> Row:
    """The record with the status after its own."""
    return replace(row, status=STATUSES[(STATUSES.index(row.status) + 1) % len(STATUSES)])


def on_change(change: Callable[[], None]) -> None:
    """Have the event loop make this change at each signal."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, change)


class Floor(App[None]):
    """The floor."""

    BINDINGS = [("f", "fill"), ("q", "quit")]

    def __init__(self, count: int) -> None:
        super().__init__()
        self.records = made_up(count)

    def compose(self) -> ComposeResult:
        yield Header()
        yield DataTable[str](cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable[str])
        for name, width in WIDTHS.items():
            table.add_column(name, width=width)
        table.focus()
        self.action_fill()
        on_change(self.change)

    def action_fill(self) -> None:
        self.records.reverse()
        table = self.query_one(DataTable[str])
        table.clear()
        table.add_rows([[getattr(row, name) for name in WIDTHS] for row in self.records])

    def change(self) -> None:
        self.records[CHANGING] = next_status(self.records[CHANGING])
        self.query_one(DataTable[str]).update_cell_at(Coordinate(CHANGING, 1), self.records[CHANGING].status)


def rows_asked_for(description: str | None) -> int:
    """How many rows the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rows", type=int, default=100)
    rows: int = parser.parse_args().rows
    return rows


if __name__ == "__main__":
    Floor(rows_asked_for(__doc__)).run()
