"""A page of lines to read: a detail, the request log, or the keys of a screen."""

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import COMMANDS, Command, Place, bindings, commands_at, shown_key
from quarterdeck.tui.dialogs.base import SCROLL, Dialog
from quarterdeck.tui.text import Shown

MOVES = (
    ("↑ ↓ j k", "Move by a row"),
    ("pgup pgdn ^u ^d", "Move by a page, by half a page"),
    ("g G", "Go to the first row, to the last"),
)
KEYS_WIDE = 18


class PageDialog(Dialog[None]):
    """Lines that scroll."""

    BINDINGS = bindings({"q,enter,question_mark": "cancel"})
    HINTS = (SCROLL, ("esc", "close"))


def help_page(place: Place) -> PageDialog:
    """Return the page with the keys that work at a place: its own, how to move, and those that work everywhere."""
    own = COMMANDS[place]
    lines = [
        *map(_command_line, own),
        (),
        *(_help_line(keys, words) for keys, words in MOVES),
        (),
        *map(_command_line, commands_at(place)[len(own) :]),
    ]
    return PageDialog(f"Keys: {place}", lines)


def _command_line(command: Command) -> Cell:
    keys = " ".join(map(shown_key, command.keys.split(",")))
    return _help_line(keys or ":", command.help if keys else f"{command.label}. {command.help}")


def _help_line(keys: str, words: str) -> Cell:
    return ((Shown(f"{keys:<{KEYS_WIDE}}"), Tone.KEY), (Shown(words), Tone.PLAIN))
