"""What is written to the terminal for changed spans of the screen."""

import re
from collections.abc import Callable
from functools import partial

from rich.console import Console
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.tui.terminal.narrow_updates import NarrowCompositor, NarrowUpdate, Piece
from quarterdeck.tui.terminal.pen import Pen


def written(*spans: tuple[int, int, int]) -> str:
    """The update of these spans of a line of two widgets."""
    line = [Piece(0, 9, Strip([Segment("left side")]), 0), Piece(9, 19, Strip([Segment("漢字 right")]), 9)]
    console = Console(color_system=None)
    return NarrowUpdate(Pen(console), Size(19, 1), {0: line}, spans).render_segments(console)


def test_a_span_is_cut_at_both_ends() -> None:
    assert written((0, 2, 4)) == "\x1b[1;3Hft"


def test_a_span_over_two_widgets_is_written_for_each() -> None:
    assert written((0, 5, 11)) == "\x1b[1;6Hside漢"


def test_two_spans_of_a_line_leave_what_is_between() -> None:
    assert written((0, 0, 1), (0, 14, 16)) == "\x1b[1;1Hl\x1b[15Gri"


class Narrow(Screen[None]):
    def __init__(self) -> None:
        super().__init__()
        self._compositor = NarrowCompositor(Pen(Console(color_system=None)))

    def compose(self) -> ComposeResult:
        yield Static("something long")


async def test_a_changed_region_of_a_widget_is_all_that_a_screen_updates() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        await app.push_screen(Narrow())
        await pilot.pause()
        compositor, part = app.screen._compositor, app.screen.query_one(Static)
        part.refresh(Region(5, 0, 3, 1))
        compositor.update_widgets({part})
        update = compositor.render_partial_update()
        assert update is not None
        console = Console(color_system=None, width=80)
        assert re.sub(r"\x1b\[[\d;]*m", "", update.render_segments(console)) == "\x1b[1;6Hhin"


class Counted(Widget):
    """Says of each line how often it was drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.drawn.append(y)
        return Strip([Segment(f"{self.drawn.count(y)}{'x' * 9}")])


class Beside(Narrow):
    """Two widgets side by side, of which the second hangs over the end of what shows it."""

    CSS = "Horizontal { height: 6; } Counted { width: 10; } VerticalScroll { width: 10; } #long { height: 20; }"

    def compose(self) -> ComposeResult:
        yield Static("title")
        with Horizontal():
            yield Counted()
            with VerticalScroll():
                tall = Counted()
                tall.id = "long"
                yield tall


async def test_only_changed_lines_are_drawn_wherever_they_are() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        await app.push_screen(Beside())
        await pilot.pause()
        left, right = app.screen.query(Counted)
        app.screen.query_one(VerticalScroll).scroll_to(y=3, animate=False, immediate=True)
        await pilot.pause()
        left.drawn.clear()
        right.drawn.clear()
        title, compositor = app.screen.query_one(Static), app.screen._compositor
        title.refresh(Region(0, 0, 1, 1))
        left.refresh(Region(0, 1, 10, 1))
        right.refresh(Region(2, 4, 3, 1), Region(0, 7, 10, 1), Region(0, 19, 10, 1))
        compositor.update_widgets({title, left, right})
        update = compositor.render_partial_update()
        assert update is not None
        written = update.render_segments(Console(color_system=None, width=80))
        assert re.findall(r"\x1b\[[\d;]+[HG]", written) == ["\x1b[1;1H", "\x1b[3;1H", "\x1b[13G", "\x1b[6;11H"]
        assert (left.drawn, right.drawn) == ([1], [4, 7])


async def test_what_is_beside_a_change_or_behind_it_is_not_drawn() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        await app.push_screen(Beside())
        await pilot.pause()
        left, right = app.screen.query(Counted)
        asked: list[object] = []
        for widget in (app.screen, app.screen.query_one(Horizontal), left, right):
            widget.render_lines = partial(drawing, widget, widget.render_lines, asked)  # type: ignore[method-assign]
        left.refresh(Region(0, 1, 4, 1))
        app.screen._compositor.update_widgets({left})
        assert app.screen._compositor.render_partial_update() is not None
        assert asked == [(left, Region(0, 1, 10, 1))]


async def test_what_others_hide_is_not_drawn_in_a_full_update_either() -> None:
    app: App[None] = App()
    async with app.run_test(size=(20, 7)) as pilot:
        await app.push_screen(Beside())
        await pilot.pause()
        asked: list[object] = []
        hidden = app.screen, app.screen.query_one(Horizontal), app.screen.query_one("#long").parent
        for widget in (*hidden, *app.screen.query(Counted)):
            assert isinstance(widget, Widget)
            widget.render_lines = partial(drawing, widget, widget.render_lines, asked)  # type: ignore[method-assign]
        update = app.screen._compositor.render_full_update()
        left, right = app.screen.query(Counted)
        assert asked == [(right, Region(0, 0, 8, 6)), (left, Region(0, 0, 10, 6))]
        written = update.render_segments(Console(color_system=None))
        line = written.partition("\x1b[2;1H")[2].partition("\x1b[3;1H")[0]
        assert line == "1xxxxxxxxx1xxxxxxx  "


def drawing(widget: Widget, draw: Callable[[Region], list[Strip]], asked: list[object], crop: Region) -> list[Strip]:
    asked.append((widget, crop))
    return draw(crop)
