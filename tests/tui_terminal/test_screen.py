"""When a screen is drawn that asks for it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rich.console import RenderableType
from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from quarterdeck.tui.terminal.app import TerminalApp
from quarterdeck.tui.terminal.screen import TerminalScreen
from quarterdeck.tui.widgets.bare_lines import BareLines

SIZE = (10, 3)


class BrokenError(Exception):
    """Something went wrong while a line was drawn."""


class Noting(BareLines):
    """Lines that note which of them are drawn."""

    DEFAULT_CSS = "Noting { height: 1fr; }"
    drawn: list[int]
    broken = False

    def render_line(self, y: int) -> Strip:
        if self.broken:
            raise BrokenError
        self.drawn.append(y)
        return Strip.blank(self.size.width)


class Page(TerminalScreen[None]):
    def compose(self) -> ComposeResult:
        yield Noting()


class Book(TerminalApp):
    """An app that tells of each drawing."""

    def __init__(self) -> None:
        super().__init__()
        self.drawings: asyncio.Queue[None] = asyncio.Queue()

    def get_default_screen(self) -> Screen[None]:
        return Page()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        self.drawings.put_nowait(None)

    async def next_drawing(self) -> None:
        async with asyncio.timeout(5):
            await self.drawings.get()


@pytest.fixture
def book() -> Book:
    Noting.drawn = []
    return Book()


@contextmanager
def only_these_drawn(*lines: int) -> Iterator[None]:
    Noting.drawn.clear()
    yield
    assert Noting.drawn == list(lines)


def line(y: int) -> Region:
    return Region(0, y, SIZE[0], 1)


async def test_what_is_asked_for_in_one_go_is_one_drawing_and_what_is_asked_for_after_it_another(book: Book) -> None:
    async with book.run_test(size=SIZE) as pilot:
        await pilot.pause()
        lines = book.screen.query_one(Noting)
        while not book.drawings.empty():
            await book.next_drawing()
        with only_these_drawn(0, 2):
            lines.draw_again(line(0))
            lines.draw_again(line(2))
            await book.next_drawing()
        with only_these_drawn(1):
            lines.draw_again(line(1))
            await book.next_drawing()
        assert book.drawings.empty()


async def test_lines_of_a_screen_that_was_left_ask_for_nothing(book: Book) -> None:
    async with book.run_test(size=SIZE) as pilot:
        left = Page()
        await book.push_screen(left)
        await pilot.pause()
        lines = left.query_one(Noting)
        await book.pop_screen()
        await pilot.pause()
        with only_these_drawn():
            lines.draw_again(line(0))
            await pilot.pause()


async def test_an_error_while_drawing_ends_the_app(book: Book) -> None:
    async def draw() -> None:
        async with book.run_test(size=SIZE) as pilot:
            await pilot.pause()
            lines = book.screen.query_one(Noting)
            lines.broken = True
            lines.draw_again(line(0))
            await pilot.pause()

    with pytest.raises(BrokenError):
        await draw()
