"""What to do with edits that are not saved, before leaving them."""

from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList, Static

from quarterdeck.draft.words import counted
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import content, plain
from quarterdeck.tui.text import Shown


class LeaveEdits(StrEnum):
    """The three answers; the value is its key."""

    KEEP = "k"
    SAVE = "s"
    DISCARD = "d"


_WORDS = {
    LeaveEdits.KEEP: (Shown("Keep editing"), Shown("stay here, nothing is sent")),
    LeaveEdits.SAVE: (Shown("Save"), Shown("review and save them, then leave")),
    LeaveEdits.DISCARD: (Shown("Discard"), Shown("drop them and leave")),
}


class LeaveEditsDialog(Dialog[LeaveEdits]):
    """Ask; keeping is the default, and what escape means."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(answer, f"answer('{answer}')", answer.name.capitalize(), show=False) for answer in LeaveEdits
    ]
    HINTS = (("enter", "take"), ("k s d", "at once"), ("esc", "keep editing"))

    def __init__(self, edits: int) -> None:
        super().__init__(Shown("Unsaved settings"))
        self._edits = edits

    def body(self) -> Iterable[Widget]:
        """How many edits, and the answers."""
        said = Shown(f"You have {counted(self._edits, 'edit')} that the server does not know of.")
        yield Static(plain(said), classes="value")
        yield OptionList(
            *(
                content(((Shown(f"{key}  "), Tone.KEY), (Shown(f"{label:<14}"), Tone.STRONG), (said, Tone.MUTED)))
                for key, (label, said) in _WORDS.items()
            ),
            compact=True,
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the answer under the cursor."""
        self.dismiss(tuple(LeaveEdits)[event.option_index])

    def action_answer(self, answer: str) -> None:
        """Take an answer by its key."""
        self.dismiss(LeaveEdits(answer))
