"""The keys that work on a screen."""

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import Command, Place, commands_at, shown_key
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.text import Shown

MOVES = (
    ("↑ ↓ j k", "Move by a row"),
    ("pgup pgdn ^u ^d", "Move by a page, by half a page"),
    ("g G", "Go to the first row, to the last"),
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


def help_page(place: Place) -> PageDialog:
    """The keys that work at a place."""
    lines = help_lines(place)
    return PageDialog(Shown(f"Keys: {place}"), lambda: lines, label=KEYS_WIDE)
