"""One answer out of a few, each with a key of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import Command, shown_key
from quarterdeck.tui.dialogs.base import Dialog, Hints
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown

KEY_WIDTH = 6
LABEL_WIDTH = 15
HINTS = (("enter", "take"), ("escape", "cancel"))
Offer = tuple[Command, str, str | None]
"""A command, the word for it on this row, and why it can't be done now."""


@dataclass(frozen=True)
class Choice:
    """An answer, its key, and what it means; one that does not `work` says why instead."""

    answer: str
    key: str
    label: Shown
    said: Shown
    works: bool = True


class ChooseDialog(Dialog[str]):
    """Ask for one of a few answers; the first one that works is under the cursor, and escape gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [  # of the dialog, not of its list: the key of an answer goes before
        Binding("j", "move('down')", "Down", show=False),
        Binding("k", "move('up')", "Up", show=False),
    ]

    def __init__(self, title: Shown, said: Iterable[Cell], choices: Sequence[Choice], hints: Hints = HINTS) -> None:
        super().__init__(title)
        self._said = tuple(said)
        self._choices = tuple(choices)
        self._hints = hints

    def body(self) -> Iterable[Widget]:
        """What it is about, and the answers."""
        if self._said:
            yield Static(lines(self._said), classes="value")
        yield OptionList(*(Option(_prompt(one), disabled=not one.works) for one in self._choices), compact=True)

    def on_mount(self) -> None:
        """Begin at the first answer that works, and say which keys there are."""
        self.query_one(OptionList).action_first()
        self.hint(self._hints)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Its keys are answers, whatever they are bound to elsewhere."""
        return self._named(key, character) is not None

    def _named(self, key: str, character: str | None) -> Choice | None:
        """The answer of a key; enter takes the one under the cursor."""
        return next((each for each in self._choices if each.key in (key, character) and key != "enter"), None)

    def on_key(self, event: events.Key) -> None:
        """Take an answer by its key."""
        choice = self._named(event.key, event.character)
        if choice is None:
            return
        event.stop()
        if choice.works:
            self.dismiss(choice.answer)
        else:
            self.complain(choice.said)

    async def action_move(self, way: str) -> None:
        """Move as the arrows do."""
        await self.query_one(OptionList).run_action(f"cursor_{way}")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the answer under the cursor."""
        self.dismiss(self._choices[event.option_index].answer)


def menu(title: str, offers: Sequence[Offer]) -> ChooseDialog:
    """All that can be done with a row, each with its key, else with a number; the answer is the name of a command."""
    numbers = iter("123456789")
    choices = [
        Choice(
            command.name,
            command.keys.split(",", maxsplit=1)[0] or next(numbers, ""),
            text.line(label),
            text.line(reason or command.help),
            works=reason is None,
        )
        for command, label, reason in offers
    ]
    return ChooseDialog(text.line(title), (), choices, (("enter", "do it"), ("escape", "close")))


def _prompt(choice: Choice) -> Content:
    key, label = Shown(f"{shown_key(choice.key):<{KEY_WIDTH}}"), Shown(f"{choice.label:<{LABEL_WIDTH}} ")
    tones = (Tone.KEY, Tone.STRONG) if choice.works else (Tone.MUTED, Tone.MUTED)
    return content(((key, tones[0]), (label, tones[1]), (choice.said, Tone.MUTED)))
