"""The deck's own themes: every tone can be read on every background a table paints."""

import pytest
from textual.color import Color
from textual.theme import Theme

from quarterdeck.tui.cells import Tone
from quarterdeck.tui.theme import (
    ROW_BLURRED,
    ROW_CURSOR,
    ROW_MARKED,
    THEMES,
    tone_variable,
)

READABLE = 4.5
"""WCAG 2.2, 1.4.3: the least contrast of text."""


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
