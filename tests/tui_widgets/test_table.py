"""Keys and mouse in a table: where the cursor goes, what is marked, chosen and told."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from quarterdeck.tui.widgets.table import Table
from tests.tui_widgets.demo import Demo, boxes

SIZE = (80, 24)
PAGE = 23


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (["down", "j", "j", "up", "k"], 1),
        (["up"], 0),
        (["G"], 59),
        (["end", "down"], 59),
        (["G", "g"], 0),
        (["G", "home"], 0),
        (["pagedown"], PAGE - 1),
        (["pagedown", "pageup"], 0),
        (["ctrl+d"], 11),
        (["ctrl+d", "ctrl+d", "ctrl+u"], 11),
    ],
)
async def test_keys_move_the_cursor_and_it_stays_in_sight(keys: list[str], cursor: int) -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*keys)
        assert app.table.cursor_id == f"box-{cursor}"
        assert app.table.cursor_row == boxes(60)[cursor]
        assert app.table.cursor_id in app.table.visible_ids
        assert [line for line in app.lines() if line.startswith("▌")] == [
            line for line in app.lines() if f" box-{cursor} " in line
        ]


async def test_a_vanished_row_leaves_the_cursor_on_its_line_and_says_so() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("j", "j")
        await app.settle(pilot)
        app.table.show([box for box in boxes(60) if box.id != "box-2"])
        await pilot.pause()
        assert (app.table.cursor_id, app.count(Table.Highlighted)) == ("box-3", 1)
        app.table.show([])
        await pilot.pause()
        assert app.table.cursor_id is None
        assert app.table.cursor_row is None
        assert app.count(Table.Highlighted) == 2


async def test_enter_and_a_double_click_choose() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("j", "enter")
        assert app.count(Table.Chosen) == 1
        await pilot.click(app.table, offset=(20, 5))
        assert (app.table.cursor_id, app.count(Table.Chosen)) == ("box-4", 1)
        await pilot.double_click(app.table, offset=(20, 6))
        assert (app.table.cursor_id, app.count(Table.Chosen)) == ("box-5", 2)


async def test_a_click_in_the_gutter_marks_and_one_below_the_rows_does_nothing() -> None:
    app = Demo(count=3)
    async with app.run_test(size=SIZE) as pilot:
        await app.settle(pilot)
        await pilot.click(app.table, offset=(1, 2))
        assert (set(app.table.marks), app.count(Table.Marked)) == ({"box-1"}, 1)
        await app.settle(pilot)
        await pilot.click(app.table, offset=(20, 10))
        assert app.heard == []


async def test_a_click_on_a_title_asks_for_sorting_where_that_means_something() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(app.table, offset=(5, 0))
        await pilot.click(app.table, offset=(18, 0))
        assert [message.key for message in app.heard if isinstance(message, Table.SortAsked)] == ["state"]


async def test_the_header_says_what_the_table_is_sorted_by_without_colour() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        app.table.sorted_by("title")
        await pilot.pause()
        assert "CONVERSATION ▲" in app.lines()[0]
        app.table.sorted_by("for", reverse=True)
        await pilot.pause()
        assert "FOR ▼" in app.lines()[0]
        header = app.table.render_line(0)
        assert [segment.text.strip() for segment in header if segment.style and segment.style.reverse] == ["FOR ▼"]


async def test_it_tells_which_rows_are_on_the_screen() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert app.table.visible_ids == tuple(f"box-{n}" for n in range(PAGE))
        await app.settle(pilot)
        app.table.patch({"box-1": replace(boxes(2)[1], state="Error")})
        await pilot.press("j")
        assert app.count(Table.Seen) == 0
        await pilot.press("G")
        assert app.count(Table.Seen) > 0
        assert app.table.visible_ids == tuple(f"box-{n}" for n in range(60 - PAGE, 60))
        await pilot.resize_terminal(80, 12)
        await pilot.pause()
        assert len(app.table.visible_ids) == 11
        assert app.table.cursor_id in app.table.visible_ids


async def test_the_wheel_scrolls_and_leaves_the_cursor() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        app.table.scroll_to(y=30, animate=False)
        await pilot.pause()
        assert app.table.cursor_id == "box-0"
        assert app.table.visible_ids[0] == "box-30"
        await pilot.press("j")
        assert "box-1" in app.table.visible_ids


async def test_every_line_is_as_wide_as_the_table_whatever_the_script() -> None:
    app = Demo()
    async with app.run_test(size=(80, 24)) as pilot:
        for width in (30, 61, 80, 133):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert {cell_len(line) for line in app.lines()} == {app.table.size.width}


SIZE = (80, 24)


async def test_one_changed_row_paints_one_line() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await app.settle(pilot)
        app.table.patch({"box-3": replace(boxes(4)[3], state="Paused")})
        await pilot.pause()
        assert app.table.painted_lines == [4]
        assert "Paused" in app.lines()[4]


async def test_equal_rows_and_rows_out_of_sight_paint_nothing() -> None:
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await app.settle(pilot)
        app.table.show(boxes(60))
        app.table.patch({"box-40": replace(boxes(41)[40], state="Missing"), "unknown": boxes(1)[0]})
        app.table.tick()
        await pilot.pause()
        assert app.table.painted_lines == []
        await pilot.press("G")
        assert "Missing" in next(line for line in app.lines() if " box-40 " in line)


async def test_a_hundred_thousand_rows_are_shown_without_drawing_those_out_of_sight() -> None:
    app = Demo(count=0)
    async with app.run_test(size=SIZE) as pilot:
        await app.settle(pilot)
        app.table.show(boxes(100_000))
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
        await app.settle(pilot)
        app.theme = "quarterdeck-light"
        await pilot.pause()
        assert app.table.render_lines(app.table.size.region) == expected


async def test_without_colour_the_cursor_stands_in_reverse_video(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Demo()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        at_cursor = app.table.render_line(1)
        below = app.table.render_line(2)
        assert all(segment.style and segment.style.reverse for segment in at_cursor)
        assert not any(segment.style and segment.style.reverse for segment in below)
