"""The same app as the floor around a LiveTable, with the same keys and the same signal."""

from datetime import UTC, datetime

from textual.screen import Screen

from quarterdeck.tui import theme
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.terminal.app import TerminalApp
from quarterdeck.tui.terminal.screen import TerminalScreen
from quarterdeck.tui.text import line
from quarterdeck.tui.widgets.live_table import Column, LiveTable
from tests.benchmarks.floor import CHANGING, WIDTHS, Row, made_up, next_status, on_change, rows_asked_for

TONES = {"RUNNING": Tone.GOOD, "PAUSED": Tone.REST, "STARTING": Tone.BUSY, "ERROR": Tone.BAD, "MISSING": Tone.MUTED}


def column(name: str, width: int) -> Column[Row]:
    def shown(row: Row, _now: datetime) -> Cell:
        value = getattr(row, name)
        return cell(line(value), TONES.get(value, Tone.PLAIN))

    return Column(name, name, width, shown)


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
        return TerminalScreen()

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


if __name__ == "__main__":
    Live(rows_asked_for(__doc__)).run()
