"""What to do with edits that are not saved, before leaving them."""

from enum import StrEnum

from quarterdeck.settings.words import counted
from quarterdeck.tui.cells import cell
from quarterdeck.tui.dialogs.choose import Choice, ChooseDialog
from quarterdeck.tui.text import Shown


class LeaveEdits(StrEnum):
    """The three answers; the value is its key."""

    KEEP = "k"
    SAVE = "s"
    DISCARD = "d"


_CHOICES = tuple(
    Choice(answer, answer.value, Shown(label), Shown(said))
    for answer, label, said in (
        (LeaveEdits.KEEP, "Keep editing", "stay here, nothing is sent"),
        (LeaveEdits.SAVE, "Save", "review and save them, then leave"),
        (LeaveEdits.DISCARD, "Discard", "drop them and leave"),
    )
)


class LeaveEditsDialog(ChooseDialog[LeaveEdits]):
    """Ask; keeping is the default, and what escape means."""

    HINTS = (("enter", "take"), ("k s d", "at once"), ("esc", "keep editing"))

    def __init__(self, edits: int) -> None:
        said = Shown(f"You have {counted(edits, 'edit')} that the server does not know of.")
        super().__init__(Shown("Unsaved settings"), (cell(said),), _CHOICES)
