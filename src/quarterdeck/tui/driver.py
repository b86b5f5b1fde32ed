"""The terminal driver: Textual's, with its own handling of typed and pasted input.

Textual 8.2.8 has four faults here. An escape inside a bracketed paste ends the paste, and the rest acts as keys, so
that a pasted coloured log triggers commands. An escape and the next key count as one if they arrive together, as tmux
sends what is typed within half a second. Input ends at a byte that is not UTF-8. It loops when the terminal disappears
without a signal. All four are in the one method that is overridden here.
"""

import os
import re
import select
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver

PASTE, PASTE_END = "\x1b[200~", "\x1b[201~"
"""What a terminal sends around a paste (xterm, "Bracketed Paste Mode")."""
ESCAPE = "\x1b"
REST_WITHIN = 0.5
"""Seconds that a slow line may take between two parts of the paste marker; no key begins like that."""
AT_ONCE = 4096
"""Bytes read at a time."""
_STRINGS = "\x1b[\\]P][^\x07\x1b\r\n]*(?:\x07|\x1b\\\\)"
"""Titles, links and colours by name, in both directions (ECMA-48, OSC and DCS)."""
_CONTROLS = re.compile(f"{_STRINGS}|\x1b\\[[0-9;:?]*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Those, colours and movements (CSI), and all control characters except whitespace."""
_ANSWERS = re.compile(f"{_STRINGS}|\x1b\\[[?>=][0-9;]*c|\x1b\\[(?=[0-9;]*(?::|[0-9]{{7}}))[0-9;:]*[u~A-Z]")
"""What the terminal sends to an earlier program: replies about colours and names (OSC, DCS) and attributes (DA), and
keys with more than was asked for (kitty, "Keyboard Protocol": colons) or beyond Unicode, which end Textual's parser.
"""
_LONE_ESCAPE = re.compile("\x1b(?=[^\x00-\x1f\x7f\\[\\]\\\\OPbf])")
"""An escape that begins no sequence of a terminal; in iTerm, escape b and escape f move by a word."""
ESCAPE_KEY = "\x1b[27u"
"""An unambiguous escape key (kitty, "Keyboard Protocol")."""


class Pastes:
    """Separates pastes from typed input, whatever way the input was split."""

    def __init__(self) -> None:
        self._waiting = ""
        self._pasting = False
        self._escaped = False
        """Whether the escape at the start of `_waiting` was already passed on as a key; the marker may still follow."""

    @property
    def patience(self) -> float | None:
        """Seconds to wait for the rest of a possible paste marker; None if nothing is waiting."""
        if self._pasting or not self._waiting or (self._escaped and self._waiting == ESCAPE):
            return None
        return ESCAPE_DELAY if self._waiting == ESCAPE else REST_WITHIN

    def cut(self, text: str) -> Iterator[tuple[bool, str]]:
        """Take input and yield texts in their order, each with whether it was pasted."""
        self._waiting += text
        while (at := self._waiting.find(PASTE_END if self._pasting else PASTE)) >= 0:
            yield self._pasting, self._waiting[:at] if self._pasting else self._typed(at)
            self._waiting, self._pasting = self._waiting[at + len(PASTE) :], not self._pasting
            self._escaped = False
        if not self._pasting and (at := len(self._waiting) - _length_of_beginning(self._waiting)):
            yield False, self._typed(at)
            self._waiting, self._escaped = self._waiting[at:], False

    def give_up(self) -> str:
        """Return an incomplete paste marker as typed text, because nothing followed in time."""
        given = self._typed(len(self._waiting))
        self._escaped = self._waiting == ESCAPE
        if not self._escaped:
            self._waiting = ""
        return given

    def _typed(self, end: int) -> str:
        return self._waiting[1 if self._escaped else 0 : end]


def _length_of_beginning(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a paste marker."""
    return next(length for length in range(len(PASTE) - 1, -1, -1) if text.endswith(PASTE[:length]))


class PersonDriver(LinuxDriver):
    """The driver of a person's terminal."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._ending, self._end = os.pipe()
        """Readable when the input thread should end, which sleeps otherwise until something is typed."""

    def disable_input(self) -> None:
        """Wake and end the input thread."""
        os.write(self._end, b"\0")
        super().disable_input()
        os.read(self._ending, 1)

    def run_input_thread(self) -> None:
        """Pass on input until the deck leaves; if the terminal disappears, the deck is ended."""
        parser, pastes = XTermParser(), Pastes()
        decode = getincrementaldecoder("utf-8")("replace").decode
        wait: float | None = None
        ahead, _, _ = select.select([self.fileno], [], [], 0)
        while True:
            ready, _, _ = select.select([self.fileno, self._ending], [], [], pastes.patience or wait)
            if self._ending in ready:
                return
            if ready:
                if not (data := _read(self.fileno)):
                    end_without_terminal()
                    return
                if ahead:  # typed before the deck had the terminal, which made a line feed of enter
                    data, ahead = data.replace(b"\n", b"\r"), []
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
                wait = None
            for message in parser.tick():
                self.process_message(message)

    def _hand_on(self, parser: XTermParser, text: str) -> None:
        if typed := _ANSWERS.sub("", text):
            for message in parser.feed(_LONE_ESCAPE.sub(ESCAPE_KEY, typed)):
                self.process_message(message)


def _harmless(pasted: str) -> str:
    """Return pasted text without colours and control characters, which a terminal would obey when it is shown."""
    return _CONTROLS.sub("", pasted)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, AT_ONCE)
    except OSError:
        return b""


def end_without_terminal() -> None:
    """End the process as a closed terminal does, even if that signal did not arrive or is ignored."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGHUP)
