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


def _theme(name: str, *, dark: bool, base: dict[str, str], tones: dict[Tone, str], rows: dict[str, str]) -> Theme:
    chrome = {
        "block-cursor-background": rows[ROW_CURSOR],
        "block-cursor-foreground": tones[Tone.STRONG],
        "block-cursor-blurred-background": rows[ROW_BLURRED],
        "border-blurred": base["edge"],
        "scrollbar": base["edge"],
        "scrollbar-hover": tones[Tone.MUTED],
        "scrollbar-background": base["background"],
        "input-cursor-background": base["accent"],
        "input-selection-background": rows[ROW_CURSOR],
        "link-color": tones[Tone.BUSY],
        "edge": base["edge"],
    }
    return Theme(
        name=name,
        dark=dark,
        primary=base["primary"],
        secondary=base["secondary"],
        accent=base["accent"],
        success=tones[Tone.GOOD],
        warning=tones[Tone.WARN],
        error=tones[Tone.BAD],
        foreground=tones[Tone.PLAIN],
        background=base["background"],
        surface=base["surface"],
        panel=base["panel"],
        variables={**{tone_variable(tone): colour for tone, colour in tones.items()}, **rows, **chrome},
    )


DARK = _theme(
    "quarterdeck-dark",
    dark=True,
    base={
        "background": "#10151c",
        "surface": "#151c25",
        "panel": "#1b2430",
        "edge": "#324153",
        "primary": "#6cb6c9",
        "secondary": "#8fa8c8",
        "accent": "#d9b26f",
    },
    tones={
        Tone.PLAIN: "#c9d3de",
        Tone.STRONG: "#eef3f8",
        Tone.MUTED: "#90a0b1",
        Tone.GOOD: "#7fbf8e",
        Tone.BUSY: "#6cb6c9",
        Tone.REST: "#93a9cb",
        Tone.WARN: "#e5a35c",
        Tone.BAD: "#ef857a",
        Tone.EDITED: "#d9b26f",
        Tone.KEY: "#d9b26f",
    },
    rows={
        ROW_CURSOR: "#1f3547",
        ROW_BLURRED: "#1a232e",
        ROW_MARKED: "#262319",
        TABLE_HEADER: "#93a9cb",
        TABLE_HEADER_BACKGROUND: "#151c25",
    },
)

LIGHT = _theme(
    "quarterdeck-light",
    dark=False,
    base={
        "background": "#f6f4ef",
        "surface": "#efece4",
        "panel": "#e5e1d6",
        "edge": "#bfb9aa",
        "primary": "#1f6f86",
        "secondary": "#47617f",
        "accent": "#8a5f14",
    },
    tones={
        Tone.PLAIN: "#26303a",
        Tone.STRONG: "#0d1620",
        Tone.MUTED: "#59636d",
        Tone.GOOD: "#256b3e",
        Tone.BUSY: "#176178",
        Tone.REST: "#47617f",
        Tone.WARN: "#8a4f00",
        Tone.BAD: "#a8322a",
        Tone.EDITED: "#7c5410",
        Tone.KEY: "#7c5410",
    },
    rows={
        ROW_CURSOR: "#cfe2e6",
        ROW_BLURRED: "#e9e6dd",
        ROW_MARKED: "#f3e9d2",
        TABLE_HEADER: "#47617f",
        TABLE_HEADER_BACKGROUND: "#efece4",
    },
)

THEMES = (DARK, LIGHT)
