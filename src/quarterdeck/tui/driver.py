"""The driver of a person's terminal: Textual's, but for how it takes in what is typed and pasted.

Textual 8.2.8 takes an escape inside a bracketed paste for the paste's end and hands the rest on as keys, so that a
pasted coloured log presses commands; it takes an escape and the key after it for one when they come together, as tmux
sends what is typed within half a second; its input ends at a byte that is no UTF-8, and spins when the terminal goes
away without a signal. All four are in the one method that is overridden here.
"""

import os
import re
import select
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterator

from textual import events
from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver

PASTE, PASTE_END = "\x1b[200~", "\x1b[201~"
"""What a terminal sends around a paste (xterm, "Bracketed Paste Mode")."""
ESCAPE = "\x1b"
REST_WITHIN = 0.5
"""Seconds that a slow line may take between two parts of what begins a paste; no key begins like that."""
AT_ONCE = 4096
"""Bytes that are read at a time."""
_CONTROLS = re.compile("\x1b\\[[0-9;:]*m|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Colours (ECMA-48, SGR), and all controls but blanks and line breaks."""
_ANSWERS = re.compile("\x1b[\\]P][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b\\[[?>=][0-9;]*c")
"""What a terminal says of itself, late, to who asked before the deck: colours and names (OSC, DCS), attributes (DA)."""
_LONE_ESCAPE = re.compile("\x1b(?=[^\x00-\x1f\x7f\\[\\]\\\\OPbf])")
"""An escape that begins nothing a terminal sends; before b and f it is the word to the left and right of iTerm."""
ESCAPE_KEY = "\x1b[27u"
"""How a terminal writes the key where it cannot be the beginning of anything else (kitty, "Keyboard Protocol")."""
LOOK = 0.1
"""Seconds between two looks whether the deck is leaving."""


class Pastes:
    """Cuts pastes out of what a terminal sends, however it was split on its way."""

    def __init__(self) -> None:
        self._waiting = ""
        self._pasting = False
        self._escaped = False
        """Whether the escape that `_waiting` begins with was given away as a key: the rest of it may come late."""

    @property
    def patience(self) -> float | None:
        """Seconds to wait for the rest of what may be the beginning of a paste; None where nothing waits."""
        if self._pasting or not self._waiting or (self._escaped and self._waiting == ESCAPE):
            return None
        return ESCAPE_DELAY if self._waiting == ESCAPE else REST_WITHIN

    def cut(self, text: str) -> Iterator[tuple[bool, str]]:
        """Take what was sent; gives texts in their order, each with whether it was pasted."""
        self._waiting += text
        while (at := self._waiting.find(PASTE_END if self._pasting else PASTE)) >= 0:
            yield self._pasting, self._waiting[:at] if self._pasting else self._typed(at)
            self._waiting, self._pasting = self._waiting[at + len(PASTE) :], not self._pasting
            self._escaped = False
        if not self._pasting and (at := len(self._waiting) - _length_of_beginning(self._waiting)):
            yield False, self._typed(at)
            self._waiting, self._escaped = self._waiting[at:], False

    def give_up(self) -> str:
        """What looked like the beginning of a paste, when nothing followed it in time."""
        given = self._typed(len(self._waiting))
        self._escaped = self._waiting == ESCAPE
        if not self._escaped:
            self._waiting = ""
        return given

    def _typed(self, end: int) -> str:
        return self._waiting[1 if self._escaped else 0 : end]


def _length_of_beginning(text: str) -> int:
    """How many characters at the end of a text may be the beginning of a paste."""
    return next(length for length in range(len(PASTE) - 1, -1, -1) if text.endswith(PASTE[:length]))


class PersonDriver(LinuxDriver):
    """Drives the terminal of a person."""

    def run_input_thread(self) -> None:
        """Hand on what is typed until the deck leaves or the terminal is gone, which ends the deck."""
        parser, pastes = XTermParser(), Pastes()
        decode = getincrementaldecoder("utf-8")("replace").decode
        wait = LOOK
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], pastes.patience or wait)[0]:
                if not (data := _read(self.fileno)):
                    end_without_terminal()
                    return
                for pasted, text in pastes.cut(decode(data)):
                    if pasted:
                        self.process_message(events.Paste(_harmless(text)))
                    elif text:
                        self._hand_on(parser, text)
                wait = ESCAPE_DELAY
            elif pastes.patience:
                given = pastes.give_up()
                self._hand_on(parser, ESCAPE_KEY if given == ESCAPE else given)
            else:
                wait = LOOK
            for message in parser.tick():
                self.process_message(message)

    def _hand_on(self, parser: XTermParser, text: str) -> None:
        if typed := _ANSWERS.sub("", text):
            for message in parser.feed(_LONE_ESCAPE.sub(ESCAPE_KEY, typed)):
                self.process_message(message)


def _harmless(pasted: str) -> str:
    """Pasted text without colours and other controls: it is shown in fields, on a terminal that would obey them."""
    return _CONTROLS.sub("", pasted)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, AT_ONCE)
    except OSError:
        return b""


def end_without_terminal() -> None:
    """End as a closed terminal ends a program, also where that signal did not come or is ignored."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGHUP)
