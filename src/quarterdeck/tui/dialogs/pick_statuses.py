"""Which statuses a list shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.picking import PickingDialog, option_list
from quarterdeck.tui.look import glyph
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

WORD_WIDE = 20


class PickStatusesDialog(PickingDialog[tuple[str, ...]]):
    """Toggle statuses; with none chosen, all are shown. Dismisses with the words chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "Show or hide", show=False, priority=True),
        Binding("d,u", "all", "All", show=False),
    ]
    HINTS = (("space", "show or not"), ("enter", "apply"), ("d", "all"), ("esc", "cancel"))

    def __init__(self, counts: Counter[str], chosen: Collection[str]) -> None:
        super().__init__(Shown("Which statuses are shown"))
        self._counts = counts
        present = [word for word, count in counts.most_common() if count]
        asked = {value: value for value in chosen if not any(value in word.casefold() for word in present)}
        self._words: Sequence[str] = [*present, *asked]
        self._chosen = {word for word in self._words if any(value in word.casefold() for value in chosen)}

    def body(self) -> Iterable[Widget]:
        """One line a status."""
        yield option_list([self._line(word) for word in self._words])

    def _line(self, word: str) -> Cell:
        sign, tone = glyph(word)
        box = Shown("[x] " if word in self._chosen else "[ ] ")
        return (
            (box, Tone.KEY if word in self._chosen else Tone.MUTED),
            (Shown(f"{sign} {text.line(word):<{WORD_WIDE}}"), tone),
            (Shown(f"{self._counts[word]:>6,}"), Tone.MUTED),
        )

    def _show(self) -> None:
        for at, word in enumerate(self._words):
            self.choices.replace_option_prompt_at_index(at, content(self._line(word)))

    def action_switch(self) -> None:
        """Show the status under the cursor, or leave it out."""
        at = self.choices.highlighted
        if at is not None:
            self._chosen ^= {self._words[at]}
            self._show()

    def action_all(self) -> None:
        """Show all statuses."""
        self._chosen.clear()
        self._show()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Apply what is chosen."""
        self.dismiss(tuple(word for word in self._words if word in self._chosen))
