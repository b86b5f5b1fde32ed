"""The one door through which a server's text reaches the screen.

Terminals obey control characters, and Textual passes most of them on; and they do not agree on how many cells some
characters take, which shifts all that stands behind them. Both are made visible or taken out here, once. What comes
out is `Shown`, and everything that paints takes only `Shown`, so that a type checker finds a text that went around it.
"""

import json
import re
import unicodedata
from functools import lru_cache
from typing import NewType

Shown = NewType("Shown", str)
"""Text that is safe to paint: no controls, nothing invisible, no width in doubt; newlines only where it came from
`block`."""

_SPACES = re.compile(r"[ \n]+")
LONGEST = 20_000
"""Characters of one text that are ever painted; more of it is cut with an ellipsis."""
_JOINER = "\u200d"
_REPLACEMENT = "\ufffd"
_BREAKS = "\t\r\x85\u2028\u2029"
_ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode: controls, format characters, surrogates, separators of lines and paragraphs."""
_IN_DOUBT = frozenset(
    "\u115f\u1160\u3164\uffa0"  # fillers, which are letters that cannot be seen
    "\u20e3\U0001171e"  # the cap of a key; a mark that takes a cell in some terminals
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # variation selectors
    + "".join(map(chr, range(0x1F3FB, 0x1F400)))  # tones of skin
)
"""What changes the character before it, or its width, in one terminal and not in another."""
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_VIRAMA = 9
"""The combining class of the signs that join two letters of the scripts of India into one."""


def line(value: str) -> Shown:
    """Make one line of any text: breaks and runs of blanks become one blank, what acts on a terminal goes."""
    if len(value) <= LONGEST and value.isascii() and value.isprintable() and "  " not in value:
        return Shown(value.strip())  # as nearly all texts are
    return Shown(_SPACES.sub(" ", _harmless(_cut(value))).strip())


def block(value: str) -> Shown:
    """Make safe text of several lines, its line breaks and indentation kept."""
    return whole(_cut(value))


def whole(value: str) -> Shown:
    """Make safe text of several lines, however long it is."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ").split("\n")
    return Shown("\n".join(map(_harmless, lines)))


def escaped(value: str) -> str:
    """Make any text safe to be pasted or looked at elsewhere: what acts on a terminal is written as JSON writes it.

    Line breaks and joiners stay, and all that only has no certain width: JSON reads the same value from it.
    """
    return "".join(map(_escaped, value))


def _harmless(value: str) -> str:
    if value.isascii() and value.isprintable():
        return value
    first, *joined = value.split(_JOINER)
    return "".join(map(_visible, first + "".join(map(_unjoined, joined))))


def _unjoined(value: str) -> str:
    """What follows a joiner, without the sign that was joined to the one before it."""
    return value[1:] if value and unicodedata.category(value[0]).startswith("S") else value


@lru_cache(4096)
def _visible(character: str) -> str:
    """A character whose width nobody doubts for any other: the base of a cluster stays, what modifies it goes."""
    code, category = ord(character), unicodedata.category(character)
    if character in _BREAKS:
        return " "
    if character == "\x1b":
        return "␛"
    if code < 0x20 and character != "\n":
        return chr(0x2400 + code)
    if category in ("Cs", "Cn", "Co"):
        return _REPLACEMENT
    if category == "Mc" or unicodedata.combining(character) == _VIRAMA or character in _IN_DOUBT:
        return ""  # rich counts no cell for a spacing mark, terminals do
    if code in _FLAG_LETTERS:
        return chr(ord("A") + code - _FLAG_LETTERS.start)
    return "" if category in _ACTING and character != "\n" else character


@lru_cache(4096)
def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _ACTING or character in "\n\u200c\u200d":
        return character
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
