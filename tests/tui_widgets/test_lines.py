"""Lines of a detail in a small app: what is shown, and how little is painted for it."""

from collections.abc import Iterable
from typing import Self

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Region

from quarterdeck.tui import theme
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.lines import Lines


class Watched(Lines):
    """Lines that note what they ask to have painted, and whether they ask for a new layout."""

    asked: tuple[Region | None, ...] = ()

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        self.asked += (None,) if layout else regions
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self


class Page(App[None]):
    """A page 20 cells wide and 6 lines high."""

    def __init__(self, hang: int = 0) -> None:
        super().__init__()
        self._hang = hang

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Watched(hang=self._hang)

    def on_mount(self) -> None:
        self.register_theme(theme.DARK)
        self.theme = theme.DARK.name

    @property
    def lines(self) -> Watched:
        return self.query_one(Watched)

    def shown(self) -> list[str]:
        strips = self.lines.render_lines(self.lines.size.region)
        return [strip.text.rstrip() for strip in strips]


def said(*texts: str) -> list[Cell]:
    return [cell(Shown(text), Tone.MUTED) for text in texts]


def painted(asked: Iterable[Region | None]) -> list[int | None]:
    return [None if region is None else region.y for region in asked]


async def test_only_the_lines_that_changed_are_painted() -> None:
    page = Page()
    async with page.run_test(size=(20, 6)) as pilot:
        page.lines.say(said("one", "two", "three"))
        await pilot.pause()
        page.lines.asked = ()
        page.lines.say([*said("one"), (*cell(Shown("two ")), *cell(Shown("more"), Tone.BAD)), *said("three", "four")])
        assert painted(page.lines.asked) == [1, 3]
        await pilot.pause()
        assert page.shown() == ["one", "two more", "three", "four", "", ""]


async def test_fewer_lines_leave_nothing_behind_and_equal_ones_paint_nothing() -> None:
    page = Page()
    async with page.run_test(size=(20, 6)) as pilot:
        page.lines.say(said("one", "two", "three"))
        await pilot.pause()
        page.lines.asked = ()
        page.lines.say(said("one", "two", "three"))
        assert page.lines.asked == ()
        page.lines.say([*said("one"), EMPTY])
        await pilot.pause()
        assert page.shown() == ["one", "", "", "", "", ""]
        assert None not in page.lines.asked


async def test_lines_that_do_not_fit_are_wrapped_and_scrolled() -> None:
    page = Page()
    async with page.run_test(size=(20, 6)) as pilot:
        page.lines.say(said("a sentence that is longer than the page", *"bcdefgh"))
        await pilot.pause()
        assert page.lines.size.height > 6
        assert page.shown()[0] == "a sentence that is"
        assert page.shown()[-1] == "h"
        page.lines.say(said("short"))
        await pilot.pause()
        assert page.lines.size.height == 6


async def test_what_does_not_fit_beside_a_first_span_goes_on_below_itself() -> None:
    page = Page(hang=5)
    async with page.run_test(size=(20, 6)) as pilot:
        keys = cell(Shown("^r   "), Tone.KEY)
        page.lines.say([(*keys, *cell(Shown("read again"))), (*keys, *cell(Shown("put all rows into their places")))])
        await pilot.pause()
        assert page.shown()[:3] == ["^r   read again", "^r   put all rows", "     into their"]


async def test_a_first_span_of_another_width_is_wrapped_with_the_rest_and_nothing_is_lost() -> None:
    page = Page(hang=5)
    async with page.run_test(size=(20, 6)) as pilot:
        wide = cell(Shown("漢字漢字x"), Tone.KEY)
        page.lines.say([(*wide, *cell(Shown(" put all rows into their places")))])
        await pilot.pause()
        assert page.shown()[:3] == ["漢字漢字x put all", "rows into their", "places"]
