"""The band of a connection, and how a header that is short of room names it."""

from itertools import pairwise, product

import pytest

from quarterdeck.config.connections import Colour, Connection
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.paint import GROUNDS, INK
from quarterdeck.tui.text import Shown
from quarterdeck.tui.theme import THEMES
from quarterdeck.tui.widgets.bars import HeaderState, right_side
from tests.tui_widgets.test_theme import contrast


@pytest.mark.parametrize(("colour", "theme"), product(Colour, THEMES), ids=str)
def test_a_band_can_be_read_and_is_seen_in_both_themes(colour: Colour, theme: object) -> None:
    panels = [each.panel for each in THEMES if each is theme and each.panel]
    assert contrast(GROUNDS[colour], INK) >= 4.5
    assert all(contrast(GROUNDS[colour], panel) >= 3 for panel in panels)
    assert panels


@pytest.mark.parametrize("colour", [None, Colour.RED])
def test_the_name_is_shortened_before_it_goes_and_read_only_goes_after_it(colour: Colour | None) -> None:
    connection = Connection("production", colour=colour, read_only=True)
    state = HeaderState(connection, Shown("1.11.0"), cell(Shown("live now"), Tone.GOOD))
    texts = [right_side(state, room).plain for room in range(60, 0, -1)]
    assert "production" in texts[0]
    assert "1.11.0" in texts[0]
    assert any("prod" in text and "production" not in text and "READ-ONLY" in text for text in texts)
    for text, shorter in pairwise(texts):
        assert len(shorter) <= len(text)
    for room, text in zip(range(60, 0, -1), texts, strict=True):
        assert len(text) <= room
        assert "prod" not in text or "READ-ONLY" in text
