"""What a table paints: only lines that changed, each up to what changed; the cursor and the tones in any theme."""

from dataclasses import replace

import pytest

from tests.tui_widgets.demo import Demo, boxes

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
