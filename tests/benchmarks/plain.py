"""The plain deck: `python -m tests.benchmarks.plain URL` shows the sandboxes of a server, and no more than that.

It is what Textual, httpx and pydantic reach with their public names alone: a frame that is drawn before anything is
imported for the records, and a table that draws the lines that are looked at, and again only those that changed.
"""

import asyncio
import sys
from importlib import import_module

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

WIDTHS = (16, 10, 28, 26, 26)
INTERVAL = 2.0
"""Seconds from one reading of the first page to the next."""
CURSOR = Style(bgcolor="blue", bold=True)


class Table(ScrollView, can_focus=True):
    BINDINGS = [Binding("down,j", "move(1)"), Binding("up,k", "move(-1)"), Binding("home,g", "move(-1000000)")]

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[str, ...]] = []
        self._at = 0

    def show(self, rows: list[tuple[str, ...]]) -> None:
        """Show these rows instead; draws the lines in sight that differ, or all when their number does."""
        before, self._rows = self._rows, rows
        if len(before) == len(rows):
            first = self.scroll_offset.y
            for number in range(first, min(first + self.size.height, len(rows))):
                if rows[number] != before[number]:
                    self._draw(number)
        else:
            self.virtual_size = Size(sum(WIDTHS) + len(WIDTHS), len(rows))
            self.refresh()

    def action_move(self, by: int) -> None:
        self._draw(self._at)
        self._at = min(max(self._at + by, 0), len(self._rows) - 1)
        self._draw(self._at)
        self.scroll_to_region(Region(0, self._at, 1, 1), animate=False)

    def _draw(self, number: int) -> None:
        self.refresh(Region(0, number - self.scroll_offset.y, self.size.width, 1))

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y
        if number >= len(self._rows):
            return Strip.blank(self.size.width)
        style = CURSOR if number == self._at else Style()
        words = " ".join(cell[:width].ljust(width) for cell, width in zip(self._rows[number], WIDTHS, strict=True))
        return Strip([Segment(words, style)]).adjust_cell_length(self.size.width, style)


class Plain(App[None]):
    CSS = "Table { height: 1fr; }"
    BINDINGS = [("q", "quit", "Quit")]

    def compose(self) -> ComposeResult:
        yield Static(" Plain", markup=False)
        yield Table()
        yield Static(" q quit", markup=False)

    def on_ready(self) -> None:
        self.run_worker(self._watch())

    async def _watch(self) -> None:
        records = await asyncio.to_thread(import_module, "tests.benchmarks.plain_records")
        table = self.query_one(Table)
        table.focus()
        rows: list[tuple[str, ...]] = []
        async with records.client() as client:
            async for page in records.pages(client, sys.argv[1]):
                rows = rows + page
                table.show(rows)
            while True:
                await asyncio.sleep(INTERVAL)
                page = await anext(records.pages(client, sys.argv[1]))
                rows = page + rows[len(page) :]
                table.show(rows)


if __name__ == "__main__":
    Plain().run()
