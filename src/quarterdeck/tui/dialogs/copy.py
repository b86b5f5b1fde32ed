"""What to copy of a row, and where to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList, Static

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.copying import Copyable
from quarterdeck.tui.dialogs.picking import PickingDialog, option_list
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown

NAME_WIDE = 12
PREVIEW = 50
"""Characters of a value that are shown before it is copied."""
NOTE = Shown("Copies go through the terminal (OSC 52). Where yours takes none, f saves to a file.")


@dataclass(frozen=True)
class CopyWish:
    """What to copy, and whether to a file."""

    what: Copyable
    to_file: bool = False


def _begins(value: str) -> Shown:
    """How a value begins, in one line."""
    whole = text.line(value[: 2 * PREVIEW])
    return whole if len(whole) <= PREVIEW else Shown(f"{whole[: PREVIEW - 1]}…")


class CopyDialog(PickingDialog[CopyWish]):
    """Choose what to copy; nothing that is offered holds a secret."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f", "to_file", "Save to a file", show=False)]
    HINTS = (("enter", "copy"), ("f", "save to a file"), ("esc", "cancel"))

    def __init__(self, title: Shown, offered: Sequence[Copyable]) -> None:
        super().__init__(Shown(f"Copy of {title}"))
        self._offered = offered

    def body(self) -> Iterable[Widget]:
        """What can be copied, and how copies get out."""
        yield option_list([self._line(each) for each in self._offered])
        yield Static(plain(NOTE, Tone.MUTED))

    def _line(self, each: Copyable) -> Cell:
        return ((Shown(f"{each.name:<{NAME_WIDE}}"), Tone.KEY), (_begins(each.value), Tone.PLAIN))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Copy the line under the cursor."""
        self.dismiss(CopyWish(self._offered[event.option_index]))

    def action_to_file(self) -> None:
        """Save the line under the cursor to a file."""
        at = self.choices.highlighted
        if at is not None:
            self.dismiss(CopyWish(self._offered[at], to_file=True))
