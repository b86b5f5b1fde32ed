"""The keys that work on a screen."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import Command, Place, commands_at, shown_key
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.lines import Lines

MOVES = (
    ("↑ ↓ j k", "Move by a row"),
    ("pgup pgdn ^u ^d", "Move by a page, by half a page"),
    ("g G", "Go to the first row, to the last"),
    ("^p", "Command palette: every command by its name"),
)
KEYS_WIDE = 18


def help_line(keys: str, words: str) -> Cell:
    """One line of the help: keys, then what they do."""
    return ((Shown(f"{keys:<{KEYS_WIDE}}"), Tone.KEY), (Shown(words), Tone.PLAIN))


def help_lines(place: Place) -> list[Cell]:
    """All lines of the help of a place: its own keys, how to move, and what works everywhere."""
    own = [command for command in commands_at(place) if command.place is place]
    everywhere = [command for command in commands_at(place) if command.place is Place.EVERYWHERE]
    return [
        *(_command_line(command) for command in own),
        (),
        *(help_line(keys, words) for keys, words in MOVES),
        (),
        *(_command_line(command) for command in everywhere),
    ]


def _command_line(command: Command) -> Cell:
    keys = " ".join(shown_key(key) for key in command.keys.split(","))
    return help_line(keys, command.help)


class HelpDialog(Dialog[None]):
    """What the keys do; any of the usual keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q,enter", "cancel", "Close", show=False),
        Binding("j,down", "scroll(1)", "Down", show=False),
        Binding("k,up", "scroll(-1)", "Up", show=False),
        Binding("pagedown,ctrl+d,space", "scroll(12)", "Page down", show=False),
        Binding("pageup,ctrl+u", "scroll(-12)", "Page up", show=False),
    ]
    HINTS = (("↑ ↓", "scroll"), ("esc", "close"))

    def __init__(self, place: Place) -> None:
        super().__init__(Shown(f"Keys: {place}"))
        self._place = place

    def body(self) -> Iterable[Widget]:
        """The lines of the help."""
        yield Lines(hang=KEYS_WIDE)

    def on_mount(self) -> None:
        """Say them."""
        self.query_one(Lines).say(help_lines(self._place))

    def action_scroll(self, step: int) -> None:
        """Scroll by lines."""
        self.query_one("#body").scroll_relative(y=step, animate=False)
