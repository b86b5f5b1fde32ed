"""What a terminal shows where screens of the deck and screens of Textual follow each other."""

import pyte
from textual.app import ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.screen import Screen
from textual.widgets import Static

from quarterdeck.tui.terminal.app import TerminalApp
from quarterdeck.tui.terminal.screen import TerminalScreen

SIZE = (12, 2)


class Terminal(HeadlessDriver):
    """Shows what is written."""

    is_headless = False
    shown: pyte.Screen
    bold_first_cells: list[bool]
    """Whether the first cell was bold after each time something was written."""

    def write(self, data: str) -> None:
        pyte.Stream(self.shown).feed(data)
        self.bold_first_cells.append(self.shown.buffer[0][0].bold)


class Loud(TerminalScreen[None]):
    """A screen whose last line is bold to its end."""

    def compose(self) -> ComposeResult:
        yield Static("first")
        yield Static("[bold]to the end!!")


class Plain(Screen[None]):
    """A screen that Textual writes."""

    def compose(self) -> ComposeResult:
        yield Static("plain")


class Both(TerminalApp):
    """Begins with the loud one."""

    def get_driver_class(self) -> type[Terminal]:
        return Terminal

    def get_default_screen(self) -> Screen[None]:
        return Loud()


async def test_a_screen_of_textual_begins_with_the_style_of_the_terminal_and_not_with_what_was_written_last() -> None:
    Terminal.shown, Terminal.bold_first_cells = pyte.Screen(*SIZE), []
    app = Both()
    async with app.run_test(headless=False, size=SIZE) as pilot:
        assert Terminal.shown.buffer[1][0].bold
        assert Terminal.shown.cursor.attrs.bold
        await app.push_screen(Plain())
        await pilot.pause()
        assert Terminal.shown.display[0] == "plain".ljust(SIZE[0])
        assert not any(Terminal.bold_first_cells)
