"""A page of lines to read: a detail, the request log, or the keys of a screen."""

from collections.abc import Callable, Sequence

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
    """Lines that scroll; `said` is called again each second. `label` is the width of the label before a line.

    So is `titled`, which returns the title as it is by now; an empty one leaves what stands there.
    """

    BINDINGS = bindings({"q,enter,question_mark": "cancel"})
    HINTS = (SCROLL, ("esc", "close"))

    def __init__(
        self,
        title: str,
        said: Callable[[], Sequence[Cell]],
        *,
        titled: Callable[[], str] = lambda: "",
        label: int = 0,
        wide: bool = False,
    ) -> None:
        super().__init__(title, label=label, wide=wide)
        self._lines_now = said
        self._title_now = titled

    def on_mount(self) -> None:
        """Show the lines, and update them."""
        self._show()
        self.set_interval(1.0, self._show)

    def _show(self) -> None:
        self.introduce(self._lines_now())
        self.retitle(self._title_now() or self._title)


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
    return PageDialog(f"Keys: {place}", lambda: lines, label=KEYS_WIDE)


def _command_line(command: Command) -> Cell:
    keys = " ".join(map(shown_key, command.keys.split(",")))
    return _help_line(keys or ":", command.help if keys else f"{command.label}. {command.help}")


def _help_line(keys: str, words: str) -> Cell:
    return ((Shown(f"{keys:<{KEYS_WIDE}}"), Tone.KEY), (Shown(words), Tone.PLAIN))
