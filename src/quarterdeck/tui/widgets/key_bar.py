"""The bottom line: the keys that work here now; a dimmed one says why when it is pressed."""

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

Hint = tuple[str, str, bool]
"""Key, label, and whether it works now."""


def hint_cell(key: str, label: str, *, works: bool) -> Cell:
    """One hint of the bar."""
    if works:
        return ((Shown(f" {key}"), Tone.KEY), (Shown(f" {label} "), Tone.PLAIN))
    return ((Shown(f" {key} {label} "), Tone.MUTED),)


def fit(hints: Sequence[Hint], width: int) -> Content:
    """As many hints as fit, in their order."""
    bar = Content("")
    for key, label, works in hints:
        more = content(hint_cell(key, label, works=works))
        if bar.cell_length + more.cell_length > width:
            break
        bar += more
    return bar


class KeyBar(Widget):
    """The keys that work now."""

    ALLOW_SELECT = False
    hints: reactive[tuple[Hint, ...]] = reactive(())

    def render(self) -> Content:
        """The hints that fit the width."""
        return fit(self.hints, self.size.width)
