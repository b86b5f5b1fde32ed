"""The deck's two themes, with the colour variables that give each `Tone` its colour.

The contrast of every tone is at least 4.5:1 on the backgrounds of a table (WCAG 2.2, success criterion 1.4.3); a test
computes it.
"""

from textual.theme import Theme

from quarterdeck.tui.cells import Tone

ROW_CURSOR = "row-cursor"
ROW_BLURRED = "row-cursor-blurred"
ROW_MARKED = "row-marked"
TABLE_HEADER = "table-header"
TABLE_HEADER_BACKGROUND = "table-header-background"


def tone_variable(tone: Tone) -> str:
    """Return the name of the variable, without the `$`, that holds a tone's colour."""
    return f"tone-{tone.value}"


COLOURS: dict[str, tuple[str, str]] = {
    "background": ("#10151c", "#f6f4ef"),
    "surface": ("#151c25", "#efece4"),
    "panel": ("#1b2430", "#e5e1d6"),
    "edge": ("#324153", "#bfb9aa"),
    "primary": ("#6cb6c9", "#1f6f86"),
    "secondary": ("#8fa8c8", "#47617f"),
    "accent": ("#d9b26f", "#8a5f14"),
    Tone.PLAIN: ("#c9d3de", "#26303a"),
    Tone.STRONG: ("#eef3f8", "#0d1620"),
    Tone.MUTED: ("#90a0b1", "#59636d"),
    Tone.GOOD: ("#7fbf8e", "#256b3e"),
    Tone.BUSY: ("#6cb6c9", "#176178"),
    Tone.REST: ("#93a9cb", "#47617f"),
    Tone.WARN: ("#e5a35c", "#8a4f00"),
    Tone.BAD: ("#ef857a", "#a82222"),
    Tone.EDITED: ("#d9b26f", "#6f4a1c"),
    Tone.KEY: ("#d9b26f", "#6f4a1c"),
    ROW_CURSOR: ("#1f3547", "#cfe2e6"),
    ROW_BLURRED: ("#1a232e", "#e9e6dd"),
    ROW_MARKED: ("#262319", "#f3e9d2"),
    TABLE_HEADER: ("#93a9cb", "#47617f"),
    TABLE_HEADER_BACKGROUND: ("#151c25", "#efece4"),
}
"""Each colour in the dark theme and in the light one."""


def _theme(name: str, colours: dict[str, str], *, dark: bool) -> Theme:
    rows = (ROW_CURSOR, ROW_BLURRED, ROW_MARKED, TABLE_HEADER, TABLE_HEADER_BACKGROUND)
    return Theme(
        name=name,
        dark=dark,
        primary=colours["primary"],
        secondary=colours["secondary"],
        accent=colours["accent"],
        success=colours[Tone.GOOD],
        warning=colours[Tone.WARN],
        error=colours[Tone.BAD],
        foreground=colours[Tone.PLAIN],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        variables={
            **{tone_variable(tone): colours[tone] for tone in Tone},
            **{row: colours[row] for row in rows},
            "block-cursor-background": colours[ROW_CURSOR],
            "block-cursor-foreground": colours[Tone.STRONG],
            "block-cursor-blurred-background": colours[ROW_BLURRED],
            "border-blurred": colours["edge"],
            "scrollbar": colours["edge"],
            "scrollbar-hover": colours[Tone.MUTED],
            "scrollbar-background": colours["background"],
            "input-cursor-background": colours["accent"],
            "input-selection-background": colours[ROW_CURSOR],
            "screen-selection-background": colours[ROW_CURSOR],
            "text-disabled": colours[Tone.MUTED],
            "link-color": colours[Tone.BUSY],
            "edge": colours["edge"],
        },
    )


THEMES = (
    _theme("quarterdeck-dark", {name: dark for name, (dark, _) in COLOURS.items()}, dark=True),
    _theme("quarterdeck-light", {name: light for name, (_, light) in COLOURS.items()}, dark=False),
)
