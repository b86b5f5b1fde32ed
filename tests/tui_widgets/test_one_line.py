"""The lines of the frame: how little of them is painted when they change."""

from collections.abc import Iterable

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region

from quarterdeck.tui import theme
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import Place
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.header import Header, HeaderState
from quarterdeck.tui.widgets.key_bar import KeyBar
from quarterdeck.tui.widgets.one_line import OneLine

NAME, NOW = Shown("prod"), Shown("live now")


class Frame(App[None]):
    CSS = "OneLine { height: 1; }"

    def compose(self) -> ComposeResult:
        yield Header(Place.SANDBOXES)
        yield KeyBar()

    def on_mount(self) -> None:
        self.register_theme(theme.DARK)
        self.theme = theme.DARK.name


def shown(line: OneLine) -> str:
    return line.render_line(0).text


def painted(app: Frame, line: OneLine, monkeypatch: pytest.MonkeyPatch) -> list[Region]:
    """The parts of a line that are asked to be painted from now on."""
    asked: list[Region] = []

    def refresh(*regions: Region, **_: object) -> OneLine:
        asked.extend(regions or [line.size.region])
        return line

    monkeypatch.setattr(line, "refresh", refresh)
    return asked


def cells(regions: Iterable[Region]) -> int:
    return sum(region.width for region in regions)


async def test_a_header_paints_only_what_it_says_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Frame()
    async with app.run_test(size=(100, 4)) as pilot:
        header = app.query_one(Header)
        header.state = HeaderState(connection=NAME, health=NOW, health_tone=Tone.GOOD)
        await pilot.pause()
        asked = painted(app, header, monkeypatch)
        header.state = header.state._replace(health_tone=Tone.WARN)
        assert [(region.x, region.right) for region in asked] == [(91, 99)]
        header.state = header.state._replace(health=Shown("live 5s ago"))
        assert shown(header).endswith("prod · live 5s ago ")
        assert 8 < cells(asked) < 40
        asked.clear()
        header.state = header.state._replace()
        assert asked == []


async def test_a_key_that_stops_working_is_painted_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Frame()
    async with app.run_test(size=(100, 4)) as pilot:
        bar = app.query_one(KeyBar)
        bar.hints = (("n", "Start", True), ("p", "Pause", True), ("r", "Resume", True))
        await pilot.pause()
        asked = painted(app, bar, monkeypatch)
        bar.hints = (("n", "Start", True), ("p", "Pause", False), ("r", "Resume", True))
        assert [(region.x, region.right) for region in asked] == [(10, 17)]


async def test_another_theme_is_painted_whole() -> None:
    app = Frame()
    async with app.run_test(size=(100, 4)) as pilot:
        app.register_theme(theme.LIGHT)
        header = app.query_one(Header)
        await pilot.pause()
        before = header.render_line(0)
        app.theme = theme.LIGHT.name
        await pilot.pause()
        after = header.render_line(0)
        assert after.text == before.text
        assert after != before
