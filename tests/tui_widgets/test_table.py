"""A table: keys and mouse, the cursor and the marks, how little is painted for a change, and columns by width."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip

from quarterdeck.tui import theme
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.table import Table
from quarterdeck.tui.widgets.table_layout import GAP, GUTTER, MARGIN, Column, Keyed, fit

NOON = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
STATES = {"Running": Tone.GOOD, "Paused": Tone.REST, "Starting": Tone.BUSY, "Error": Tone.BAD, "Missing": Tone.MUTED}
TITLES = ("Fix login bug", "Migrate the schema to v2", "修复登录错误并添加测试 🎉", "Cafe\u0301 menu import")


@dataclass(frozen=True)
class Box:
    """A made-up sandbox."""

    id: str
    state: str
    title: str


def boxes(count: int) -> dict[str, Box]:
    """Made-up sandboxes `box-0` ... in every state."""
    states = list(STATES)
    return {f"box-{n}": Box(f"box-{n}", states[n % 5], TITLES[n % len(TITLES)]) for n in range(count)}


def title_cell(box: Box, _now: datetime) -> Cell:
    return ((line(box.title), Tone.PLAIN), (Shown(" +2" if box.id.endswith("3") else ""), Tone.MUTED))


COLUMNS = (
    Column[Box](
        "state", "STATUS", 12, lambda box, _: cell(line(box.state), STATES[box.state]), sort=lambda box: box.id
    ),
    Column[Box]("id", "SANDBOX", 10, lambda box, _: cell(line(box.id), Tone.STRONG)),
    Column[Box]("title", "CONVERSATION", 20, title_cell, sort=lambda box: box.title, flex=1),
    Column[Box]("for", "FOR", 7, lambda box, now: cell(Shown("3h12m")), sort=lambda box: box.id, right=True),
)


class PaintedTable(Table[Box]):
    """The table, noting each line it is asked to paint."""

    def __init__(self) -> None:
        self.painted_lines: list[int] = []
        super().__init__(COLUMNS, clock=lambda: NOON, id="table")

    def render_line(self, y: int) -> Strip:
        self.painted_lines.append(y)
        return super().render_line(y)


class Demo(App[int]):
    """The table alone on a screen."""

    CSS = "Screen { background: $background; color: $foreground; }"

    def __init__(self, theme_name: str = "quarterdeck-dark", count: int = 60) -> None:
        super().__init__()
        for own in theme.THEMES:
            self.register_theme(own)
        self.theme = theme_name
        self.table = PaintedTable()
        self.pilot = Pilot(self)
        self.heard: list[Message] = []
        self.show(boxes(count))

    def show(self, rows: dict[str, Box]) -> None:
        """Show these boxes."""
        self.boxes = rows
        self.table.show(list(rows), rows, anew=True)

    def become(self, box_id: str, state: str) -> None:
        """Let a box have another state."""
        self.boxes[box_id] = replace(self.boxes[box_id], state=state)
        self.table.redraw_changed()

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.set_focus(self.table)

    @on(Table.Highlighted)
    @on(Table.Chosen)
    @on(Table.Marked)
    @on(Table.Seen)
    @on(Table.SortAsked)
    def hear(self, message: Message) -> None:
        self.heard.append(message)

    def count(self, kind: type[Message]) -> int:
        """How many messages of a kind were heard."""
        return sum(isinstance(message, kind) for message in self.heard)

    def lines(self) -> list[str]:
        """What the table shows, line by line."""
        return [strip.text for strip in self.table.render_lines(self.table.size.region)]

    async def settle(self) -> None:
        """Let everything be painted, and begin to note painted lines and messages anew."""
        await self.pilot.pause()
        self.table.painted_lines.clear()
        self.heard.clear()


SIZE = (80, 24)
PAGE = 23


@pytest_asyncio.fixture
async def app() -> AsyncIterator[Demo]:
    """The table, which runs."""
    demo = Demo()
    async with demo.run_test(size=SIZE):
        yield demo


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (["down", "j", "j", "up", "k"], 1),
        (["up"], 0),
        (["end", "down"], 59),
        (["G", "g"], 0),
        (["G", "home"], 0),
        (["pagedown", "pagedown", "pageup"], PAGE - 1),
        (["ctrl+d", "ctrl+d", "ctrl+u"], 11),
    ],
)
async def test_keys_move_the_cursor_and_it_stays_in_sight(app: Demo, keys: list[str], cursor: int) -> None:
    await app.pilot.press(*keys)
    assert app.table.cursor_id == f"box-{cursor}"
    assert app.table.cursor_id in app.table.visible_ids
    assert [f" box-{cursor} " in line for line in app.lines() if line.startswith("▌")] == [True]


async def test_a_vanished_row_leaves_the_cursor_on_its_line_and_says_so(app: Demo) -> None:
    await app.pilot.press("j", "j")
    await app.settle()
    app.show({box_id: box for box_id, box in app.boxes.items() if box_id != "box-2"})
    await app.pilot.pause()
    assert (app.table.cursor_id, app.count(Table.Highlighted)) == ("box-3", 1)
    app.show({})
    await app.pilot.pause()
    assert (app.table.cursor_id, app.table.cursor_row, app.count(Table.Highlighted)) == (None, None, 2)


async def test_a_click_moves_a_double_click_opens_the_gutter_marks_and_a_title_sorts() -> None:
    app = Demo(count=9)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(app.table, offset=(20, 5))
        assert (app.table.cursor_id, app.count(Table.Chosen)) == ("box-4", 0)
        await pilot.double_click(app.table, offset=(20, 6))
        assert (app.table.cursor_id, app.count(Table.Chosen)) == ("box-5", 1)
        await pilot.click(app.table, offset=(1, 2))
        assert (set(app.table.marks), app.count(Table.Marked)) == ({"box-1"}, 1)
        await app.settle()
        await pilot.click(app.table, offset=(20, 15))
        assert app.heard == [], "there is no row"
        await pilot.click(app.table, offset=(5, 0))
        await pilot.click(app.table, offset=(18, 0))
        assert [message.key for message in app.heard if isinstance(message, Table.SortAsked)] == ["state"]


async def test_the_header_says_what_the_table_is_sorted_by_without_colour(app: Demo) -> None:
    app.table.sorted_by("title")
    await app.pilot.pause()
    assert "CONVERSATION ▲" in app.lines()[0]
    app.table.sorted_by("for", reverse=True)
    await app.pilot.pause()
    header = app.table.render_line(0)
    assert [segment.text.strip() for segment in header if segment.style and segment.style.reverse] == ["FOR ▼"]


async def test_it_tells_which_rows_are_on_the_screen_and_the_wheel_leaves_the_cursor(app: Demo) -> None:
    await app.settle()
    app.become("box-1", "Error")
    await app.pilot.press("j")
    assert app.count(Table.Seen) == 0
    app.table.scroll_to(y=30, animate=False)
    await app.pilot.pause()
    assert (app.table.cursor_id, app.table.visible_ids[0]) == ("box-1", "box-30")
    await app.pilot.press("j")
    assert "box-2" in app.table.visible_ids
    await app.pilot.press("G")
    assert app.count(Table.Seen) > 0
    assert app.table.visible_ids == tuple(f"box-{n}" for n in range(60 - PAGE, 60))
    await app.pilot.resize_terminal(80, 12)
    await app.pilot.pause()
    assert len(app.table.visible_ids) == 11
    assert app.table.cursor_id in app.table.visible_ids


async def test_every_line_is_as_wide_as_the_table_whatever_the_script(app: Demo) -> None:
    for width in (30, 61, 80, 133):
        await app.pilot.resize_terminal(width, 24)
        await app.pilot.pause()
        assert {cell_len(line) for line in app.lines()} == {app.table.size.width}


async def test_columns_grow_and_become_narrower_only_where_they_are_fitted_anew() -> None:
    app = Demo()
    app.show({row_id: replace(box, state="Error") for row_id, box in app.boxes.items()})
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        narrow = app.lines()[0]
        app.become("box-1", "Starting")
        await pilot.pause()
        wide = app.lines()[0]
        assert wide.index("SANDBOX") > narrow.index("SANDBOX")
        app.become("box-1", "Error")
        await pilot.pause()
        assert app.lines()[0] == wide
        boxes = app.boxes
        app.show({})
        app.table.sorted_by(None)
        await pilot.pause()
        app.show(boxes)
        await pilot.pause()
        assert app.lines()[0] == wide, "a moment without rows changes nothing"
        app.table.fit_anew()
        await pilot.pause()
        assert app.lines()[0] == narrow


async def test_only_what_changed_in_sight_is_painted(app: Demo) -> None:
    await app.settle()
    app.become("box-40", "Error")
    app.show(app.boxes)
    app.table.redraw_changed()
    await app.pilot.pause()
    assert app.table.painted_lines == []
    app.become("box-3", "Paused")
    await app.pilot.pause()
    assert app.table.painted_lines == [4]
    assert "Paused" in app.lines()[4]
    await app.pilot.press("G")
    assert "Error" in next(line for line in app.lines() if " box-40 " in line)


async def test_a_hundred_thousand_rows_are_shown_without_drawing_those_out_of_sight() -> None:
    app = Demo(count=0)
    async with app.run_test(size=SIZE) as pilot:
        await app.settle()
        app.show(boxes(100_000))
        await pilot.pause()
        assert max(app.table.painted_lines) < SIZE[1]
        await pilot.press("G")
        assert app.table.cursor_id == "box-99999"


async def test_another_theme_colours_the_lines_to_their_very_edge() -> None:
    app, begun_light = Demo(), Demo("quarterdeck-light")
    async with begun_light.run_test(size=SIZE) as pilot:
        await pilot.pause()
        expected = begun_light.table.render_lines(begun_light.table.size.region)
    async with app.run_test(size=SIZE) as pilot:
        await app.settle()
        app.theme = "quarterdeck-light"
        await pilot.pause()
        assert app.table.render_lines(app.table.size.region) == expected


async def test_without_colour_the_cursor_stands_in_reverse_video(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert all(segment.style and segment.style.reverse for segment in app.table.render_line(1))
        assert not any(segment.style and segment.style.reverse for segment in app.table.render_line(2))


def column(width: int, *, flex: int = 0, priority: int = 0, key: str = "key") -> Column[Keyed]:
    return Column(key, "TITLE", width, lambda _row, _now: EMPTY, flex=flex, priority=priority)


def shown(columns: Sequence[Column[Keyed]], room: int) -> list[int]:
    return [place.number for place in fit(columns, room)]


def widths(columns: Sequence[Column[Keyed]], room: int, content: Mapping[str, int] | None = None) -> list[int]:
    return [place.width for place in fit(columns, room, content)]


def room_for(*sizes: int) -> int:
    return GUTTER + sum(sizes) + GAP * (len(sizes) - 1) + MARGIN


LAYOUTS = st.lists(
    st.builds(column, st.integers(1, 40), flex=st.integers(0, 3), priority=st.integers(0, 4)), min_size=1, max_size=10
)


def test_the_highest_priority_number_is_dropped_first() -> None:
    columns = [column(10), column(10, priority=1), column(10, priority=3), column(10, priority=2)]
    assert shown(columns, room_for(10, 10, 10, 10)) == [0, 1, 2, 3]
    assert shown(columns, room_for(10, 10, 10, 10) - 1) == [0, 1, 3]
    assert shown(columns, room_for(10, 10, 10) - 1) == [0, 1]
    assert shown(columns, room_for(10, 10) - 1) == [0]


def test_a_column_with_a_share_takes_what_it_wants_and_the_largest_share_the_rest() -> None:
    columns = [column(10), column(10, flex=1, key="place"), column(10, flex=2, key="title")]
    content = {"key": 10, "place": 14, "title": 16}
    assert widths(columns, room_for(10, 10, 10) + 8, content) == [10, 12, 16]
    assert widths(columns, room_for(10, 10, 10) + 20, content) == [10, 14, 26]
    columns = [column(4, key="age"), column(10, flex=1, key="state"), column(20, flex=2, key="title")]
    narrow = fit(columns, room_for(7, 10, 9), {"age": 3, "state": 10, "title": 20}, "age")
    assert [place.width for place in narrow] == [len("TITLE ▲"), 10, 9], "the arrow costs the largest share"


def test_a_column_is_as_wide_as_what_stands_in_it_and_one_without_gives_its_place_away() -> None:
    columns = [column(20, key="state"), column(16, key="place", priority=1), column(9, key="cost", priority=2)]
    assert widths(columns, 120, {"state": 9, "place": 0, "cost": 7}) == [9, 7]
    assert widths(columns, 120, {"state": 30, "place": 0, "cost": 1}) == [20, len("TITLE")]
    assert shown(columns, 120) == [0, 1, 2], "a table without rows shows all of its titles"


@given(LAYOUTS, st.integers(0, 250))
def test_columns_never_overlap_nor_leave_the_table(columns: list[Column[Keyed]], room: int) -> None:
    edge = GUTTER
    for place in fit(columns, room):
        assert place.x >= edge
        assert place.width >= 1
        edge = place.x + place.width + GAP
        assert place.x + place.width + MARGIN <= room
    assert set(shown(columns, room)) <= set(shown(columns, room + 1)), "a wider table shows no fewer"
