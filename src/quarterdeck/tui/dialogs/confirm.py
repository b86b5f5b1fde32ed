"""Yes-or-no dialogs in which the harmless answer is the default."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import bindings
from quarterdeck.tui.dialogs.base import SCROLL, Dialog, Now
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hints
from quarterdeck.tui.widgets.inputs import LineInput


class ConfirmDialog(Dialog[bool]):
    """Asks before something that cannot be undone: `y` does it; `n`, enter and escape do not."""

    BINDINGS = bindings({"y": "accept", "n,enter,q": "cancel"})
    HINTS: ClassVar[Hints] = (("y", "yes"), ("n", "no (enter too)"))

    def action_accept(self) -> None:
        """Close with a yes."""
        self.dismiss(result=True)


class YesNoDialog(ConfirmDialog):
    """Asks where a no is an answer of its own; enter and escape go back."""

    BINDINGS = bindings({"n": "decline"})
    HINTS: ClassVar[Hints] = (("y", "yes"), ("n", "no"), ("esc", "back (enter too)"))

    def action_decline(self) -> None:
        """Close with a no, which escape is not."""
        self.dismiss(result=False)


class TypedConfirmDialog(Dialog[bool]):
    """Asks the person to type a word before something that destroys data."""

    HINTS = (("enter", "do it"), ("esc", "cancel"), SCROLL)

    def __init__(self, title: str, said: Now[Sequence[Cell]], word: Shown) -> None:
        super().__init__(title, said)
        self._word = word

    def foot(self) -> Iterable[Widget]:
        """The field, which stays visible below a long text."""
        yield Static(plain(f"Type {self._word} to go on:", Tone.MUTED), classes="note")
        yield LineInput(id="word")

    def on_input_changed(self) -> None:
        """What was said is about another word."""
        self.complain(None)

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        """Continue only with exactly that word."""
        if event.value.strip() == self._word:
            self.dismiss(result=True)
        else:
            self.complain(f"That is not {self._word}. Nothing was done.")
