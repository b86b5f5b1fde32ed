"""The floor, a plain Textual app around a DataTable, and the same app around a LiveTable.

Keys: `f` takes the whole list in reverse, `down` moves, `q` leaves. The signal USR1 gives a row on the screen another
status: what changes by itself is not paid for with a key.
"""

import argparse
import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from textual import getters
from textual.app import App, ComposeResult
from textual.coordinate import Coordinate
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Header

from quarterdeck.tui import theme
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.terminal.app import TerminalApp
from quarterdeck.tui.terminal.narrow_updates import NarrowCompositor
from quarterdeck.tui.text import line
from quarterdeck.tui.widgets.live_table import Column, LiveTable

STATUSES = {"RUNNING": Tone.GOOD, "PAUSED": Tone.REST, "STARTING": Tone.BUSY, "ERROR": Tone.BAD, "MISSING": Tone.MUTED}
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
    words = list(STATUSES)
    return [
        Row(
            f"row-{n}",
            words[n % 5],
            f"user-{n % 89}",
            "agent-server:1.6.0",
            "2025-01-01T00:00:00Z",
            f"2025-01-01T00:{n % 60:02}:00Z",
        )
        for n in range(count)
    ]


def next_status(row: Row) -> Row:
    """The record with the status after its own."""
    words = list(STATUSES)
    return replace(row, status=words[(words.index(row.status) + 1) % len(words)])


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


def column(name: str, width: int) -> Column[Row]:
    def shown(row: Row, _now: datetime) -> Cell:
        value = getattr(row, name)
        return cell(line(value), STATUSES.get(value, Tone.PLAIN))

    return Column(name, name, width, shown)


class Narrow(Screen[None]):
    """A screen drawn as those of the deck are."""

    app = getters.app(TerminalApp)

    def __init__(self) -> None:
        super().__init__()
        self._compositor = NarrowCompositor(self.app.pen)


class Live(TerminalApp):
    """The table of the deck, on its screen and its terminal."""

    BINDINGS = [("f", "fill"), ("q", "quit")]

    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_theme(theme.DARK)
        self.theme = theme.DARK.name
        self.records = made_up(count)
        self.table = LiveTable([column(name, width) for name, width in WIDTHS.items()], clock=lambda: datetime.now(UTC))

    def get_default_screen(self) -> Screen[None]:
        return Narrow()

    def on_mount(self) -> None:
        self.screen.mount(self.table)
        self.table.focus()
        self.action_fill()
        on_change(self.change)

    def action_fill(self) -> None:
        self.records.reverse()
        self.table.show(self.records)

    def change(self) -> None:
        row = self.records[CHANGING] = next_status(self.records[CHANGING])
        self.table.patch({row.id: row})


PROGRAMS: dict[str, Callable[[int], App[None] | TerminalApp]] = {"floor": Floor, "live": Live}


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--rows", type=int, default=100)
    arguments = parser.parse_args()
    PROGRAMS[arguments.program](arguments.rows).run()


if __name__ == "__main__":
    main()
