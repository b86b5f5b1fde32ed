"""What is written to the terminal for changed spans of the screen."""

import re

from rich.console import Console
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Static

from quarterdeck.tui.narrow_updates import NarrowCompositor, NarrowUpdate


def written(*spans: tuple[int, int, int]) -> str:
    """The update of these spans of a line of two widgets."""
    line: dict[int, Strip | None] = {0: Strip([Segment("left side")]), 9: Strip([Segment("漢字 right")])}
    return NarrowUpdate([line], list(spans), [[9, 19]]).render_segments(Console(color_system=None))


def test_a_span_is_cut_at_both_ends() -> None:
    assert written((0, 2, 4)) == "\x1b[1;3Hft"


def test_a_span_over_two_widgets_is_written_for_each() -> None:
    assert written((0, 5, 11)) == "\x1b[1;6Hside\x1b[1;10H漢"


def test_two_spans_of_a_line_leave_what_is_between() -> None:
    assert written((0, 0, 1), (0, 14, 16)) == "\x1b[1;1Hl\x1b[1;15Hri"


class Narrow(Screen[None]):
    def __init__(self) -> None:
        super().__init__()
        self._compositor = NarrowCompositor()

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
