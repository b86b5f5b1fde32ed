"""What a scrollbar asks to be painted, against how it looks before and after."""

from collections.abc import Callable

from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from tests.tui_widgets.demo import Demo, boxes

SIZE = (80, 24)


def looks(bar: ScrollBar) -> list[Strip]:
    """Every line of it."""
    bar._styles_cache.clear()
    return bar.render_lines(Region(0, 0, *bar.size))


async def test_no_more_is_painted_than_looks_otherwise() -> None:
    app = Demo(count=1000)
    async with app.run_test(size=SIZE) as pilot:
        await app.settle(pilot)
        table, bar = app.table, app.table.vertical_scrollbar
        changes: list[Callable[[], object]] = [
            lambda: table.show(boxes(1001)),
            lambda: table.action_page(8.0),
            lambda: table.action_last(),
            lambda: table.action_first(),
            lambda: table.show(boxes(40)),
        ]
        painted = []
        for change in changes:
            before = looks(bar)
            bar._exchange_repaint_regions()
            change()
            asked = {region.y for region in bar._exchange_repaint_regions()}
            assert asked == {y for y, line in enumerate(looks(bar)) if line != before[y]}
            painted.append(len(asked))
            await pilot.pause()
        one_row_more, eight_pages, *_ = painted
        assert one_row_more == 0
        assert 0 < eight_pages < bar.size.height / 2
