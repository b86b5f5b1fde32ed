"""How a connection's colour looks: its name on a band of it.

Each ground stands out from the header of both themes by 3:1, and white from each ground by 4.5:1 (WCAG 2.2, success
criteria 1.4.11 and 1.4.3); a test computes it. The name says the same without colour.
"""

from textual.content import Content

from quarterdeck.config.connections import Colour
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import STYLES
from quarterdeck.tui.text import Shown

INK = "#ffffff"
GROUNDS: dict[Colour, str] = {
    Colour.RED: "#d03b35",
    Colour.ORANGE: "#b15916",
    Colour.GREEN: "#348047",
    Colour.TEAL: "#217d85",
    Colour.BLUE: "#3872c2",
    Colour.VIOLET: "#915ab8",
    Colour.GREY: "#68737f",
}


def band(name: Shown, colour: Colour | None) -> Content:
    """A name on the band of its colour, or just the name."""
    if colour is None or not name:
        return Content.assemble((name, STYLES[Tone.STRONG]))
    return Content.assemble((f" {name} ", f"bold {INK} on {GROUNDS[colour]}"))


def mark(colour: Colour | None) -> Content:
    """Two cells that go before a name in a list."""
    return Content("  ") if colour is None else Content.assemble(("▌", GROUNDS[colour]), " ")
