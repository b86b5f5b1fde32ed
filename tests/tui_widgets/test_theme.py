"""The deck's own themes: every tone can be read on every background a table paints."""

from itertools import pairwise

import pytest
import rich.color
from textual.color import Color
from textual.theme import Theme

from quarterdeck.config.connections import Colour, Connection
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.paint import GROUNDS, INK
from quarterdeck.tui.text import Shown
from quarterdeck.tui.theme import ROW_BLURRED, ROW_CURSOR, ROW_MARKED, THEMES, tone_variable
from quarterdeck.tui.widgets.bars import HeaderState, right_side

READABLE = 4.5
"""WCAG 2.2, 1.4.3: the least contrast of text."""

PALE = {3, 7, *range(9, 16)}
"""The numbers of the terminal's own colours that are seen on black, not on white."""


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))))
    return (light + 0.05) / (dark + 0.05)


def grounds(theme: Theme) -> dict[str, str]:
    rows = {name: theme.variables[name] for name in (ROW_CURSOR, ROW_BLURRED, ROW_MARKED)}
    return {"background": str(theme.background), "surface": str(theme.surface), "panel": str(theme.panel), **rows}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("tone", Tone)
def test_every_tone_is_readable_on_every_background(theme: Theme, tone: Tone) -> None:
    colour = theme.variables[tone_variable(tone)]
    ratios = {name: round(contrast(colour, ground), 2) for name, ground in grounds(theme).items()}
    assert min(ratios.values()) >= READABLE, ratios


@pytest.mark.parametrize("tone", [each for each in Tone if each is not Tone.WARN])
def test_with_sixteen_colours_a_tone_is_neither_pale_on_white_nor_dark_on_black(tone: Tone) -> None:
    dark, light = (
        rich.color.Color.parse(theme.variables[tone_variable(tone)]).downgrade(rich.color.ColorSystem.STANDARD).number
        for theme in THEMES
    )
    assert dark in PALE
    assert light not in PALE


@pytest.mark.parametrize("colour", Colour)
def test_a_band_can_be_read_and_is_seen_in_both_themes(colour: Colour) -> None:
    assert contrast(GROUNDS[colour], INK) >= READABLE
    assert all(contrast(GROUNDS[colour], str(theme.panel)) >= 3 for theme in THEMES)


@pytest.mark.parametrize("colour", [None, Colour.RED])
def test_the_name_is_shortened_before_it_goes_and_read_only_goes_after_it(colour: Colour | None) -> None:
    connection = Connection("production", colour=colour, read_only=True)
    state = HeaderState(connection, Shown("1.11.0"), cell(Shown("live now"), Tone.GOOD))
    texts = [right_side(state, room).plain for room in range(61)]
    assert "production" in texts[60]
    assert "1.11.0" in texts[60]
    assert not any("READ-ONLY  " in text for text in texts)
    assert any("prod" in text and "production" not in text and "READ-ONLY" in text for text in texts)
    away = state._replace(health=cell(Shown("offline, stale 3m, retry in 12s"), Tone.BAD))
    assert all("pro" in right_side(away, room).plain for room in range(35, 61))
    for room, (text, with_more_room) in enumerate(pairwise(texts)):
        assert len(text) <= min(room, len(with_more_room))
        assert "prod" not in text or "READ-ONLY" in text
