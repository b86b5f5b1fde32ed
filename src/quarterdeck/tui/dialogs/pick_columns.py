"""Which columns a list shows, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList, Static

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.picking import PickingDialog, option_list
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown

NOTE = Shown("The first one is always shown; where there is little room the last ones go first.")


@dataclass(frozen=True)
class ChosenColumns:
    """The names of the columns in their order; None for the default."""

    columns: tuple[str, ...] | None


class PickColumnsDialog(PickingDialog[ChosenColumns]):
    """Toggle columns and move them; what is at the top stands at the left and is dropped last."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "Show or hide", show=False, priority=True),
        Binding("J,shift+down,right_square_bracket", "carry(1)", "Later", show=False),
        Binding("K,shift+up,left_square_bracket", "carry(-1)", "Earlier", show=False),
        Binding("d", "default", "Default", show=False),
    ]
    HINTS = (("space", "show or not"), ("J K", "move"), ("d", "default"), ("enter", "apply"), ("esc", "cancel"))

    def __init__(self, columns: Sequence[tuple[str, str]], chosen: Sequence[str] | None) -> None:
        super().__init__(Shown("Columns"))
        self._titles = dict(columns)
        self._names = [name for name, _ in columns]
        self._offered = list(self._names)
        self._chosen = set(self._names)
        if chosen is not None:
            self._names.sort(key=lambda name: chosen.index(name) if name in chosen else len(chosen))
            self._chosen = set(chosen)

    def body(self) -> Iterable[Widget]:
        """One line a column."""
        yield option_list([self._line(name) for name in self._names])
        yield Static(plain(NOTE, Tone.MUTED))

    def _line(self, name: str) -> Cell:
        on = name in self._chosen
        box = (Shown("[x] " if on else "[ ] "), Tone.KEY if on else Tone.MUTED)
        return (box, (Shown(self._titles[name]), Tone.PLAIN if on else Tone.MUTED))

    def _show(self) -> None:
        for at, name in enumerate(self._names):
            self.choices.replace_option_prompt_at_index(at, content(self._line(name)))
        self.complain(None)

    def action_switch(self) -> None:
        """Show the column under the cursor, or leave it out."""
        at = self.choices.highlighted
        if at is not None:
            self._chosen ^= {self._names[at]}
            self._show()

    def action_carry(self, step: int) -> None:
        """Move the column under the cursor."""
        at = self.choices.highlighted
        if at is None or not 0 <= at + step < len(self._names):
            return
        self._names[at], self._names[at + step] = self._names[at + step], self._names[at]
        self._show()
        self.choices.highlighted = at + step

    def action_default(self) -> None:
        """Back to the default: all of them, as many as there is room for."""
        self._names = list(self._offered)
        self._chosen = set(self._names)
        self._show()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Apply what is chosen."""
        columns = tuple(name for name in self._names if name in self._chosen)
        if not columns:
            self.complain(Shown("A list needs a column; space shows one."))
            return
        self.dismiss(ChosenColumns(None if list(columns) == self._offered else columns))
