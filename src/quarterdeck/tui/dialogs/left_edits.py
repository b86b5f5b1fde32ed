"""Edits that an earlier run of the deck left behind: take them up, or drop them."""

from datetime import datetime
from enum import StrEnum

from quarterdeck.settings.unsaved import Run
from quarterdeck.settings.words import counted
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.dialogs.choose import Choice, ChooseDialog
from quarterdeck.tui.text import Shown


class LeftEdits(StrEnum):
    """The three answers; the value is its key."""

    TAKE_UP = "t"
    LATER = "l"
    DROP = "D"


_CHOICES = tuple(
    Choice(answer, answer.value, Shown(label), Shown(said))
    for answer, label, said in (
        (LeftEdits.TAKE_UP, "Take them up", "they are edits again; nothing is sent"),
        (LeftEdits.LATER, "Later", "they stay kept on this machine"),
        (LeftEdits.DROP, "Drop them", "they are gone for good"),
    )
)


class LeftEditsDialog(ChooseDialog[LeftEdits]):
    """Ask; later is what escape means."""

    HINTS = (("enter", "take"), ("t l D", "at once"), ("esc", "later"))

    def __init__(self, kept: Run, now: datetime) -> None:
        said = Shown(f"{counted(kept.edits, 'edit')} from {when(kept.at, now)} never reached the server.")
        secrets = cell(Shown("Secrets that were typed are not kept: type them again."), Tone.MUTED)
        super().__init__(Shown("Edits that were not saved"), (cell(said), secrets), _CHOICES)


def when(moment: datetime, now: datetime) -> str:
    """A moment as people say it: its time, and the day unless it is today."""
    moment, now = moment.astimezone(), now.astimezone()
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment:%d %b %Y, %H:%M}"
