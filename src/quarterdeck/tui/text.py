"""The only place where a server's text becomes safe to show.

Terminals obey control characters, and Textual passes most of them on. Terminals also disagree on the width of some
characters, which shifts everything behind them. Both are made visible or removed here. The result is `Shown`. What
shows a line or a sentence (`cell`, a message, a title) makes it safe itself; everything else that paints accepts only
`Shown`, so that a type checker finds text that was not made safe.
"""

import json
import re
import unicodedata
from functools import lru_cache
from typing import NewType

Shown = NewType("Shown", str)
"""Text that is safe to paint: no control or invisible characters, no doubtful width; newlines only from `block`."""

_SPACES = re.compile(r"[ \n]+")
_LINE_ENDS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_JOINTS = re.compile(r"\s*\n\s*|\t")
LONGEST_NAME = 100
"""Characters of a name in a sentence, so that what is said about it is in sight, too."""
LONGEST = 20_000
"""Characters of one text that are painted at most; the rest is cut off with an ellipsis."""
_JOINER = "\u200d"
_REPLACEMENT = "\ufffd"
_BREAKS = "\t\r\x85\u2028\u2029"
_ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode: controls, format characters, surrogates, separators of lines and paragraphs."""
_IN_DOUBT = frozenset(
    "\u115f\u1160\u3164\uffa0"  # fillers: letters that are invisible
    "\u20e3\U0001171e"  # the combining key cap; a mark that some terminals give a cell
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # variation selectors
    + "".join(map(chr, range(0x1F3FB, 0x1F400)))  # skin tones
)
"""Characters that change the previous character or its width in some terminals only."""
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_VIRAMA = 9
"""The combining class of signs that join two letters of Indic scripts."""


def line(value: str) -> Shown:
    """Return any text as one safe line: line breaks and runs of whitespace become a space, control characters go."""
    if len(value) <= LONGEST and value.isascii() and value.isprintable() and "  " not in value:
        return Shown(value.strip())  # the usual case
    return Shown(_SPACES.sub(" ", _harmless(_cut(value))).strip())


def name(value: str) -> Shown:
    """Return what something is called, for a sentence: one safe line, whose end is cut where it is very long."""
    shown = line(value)
    return shown if len(shown) <= LONGEST_NAME else Shown(f"{shown[: LONGEST_NAME - 1]}…")


def block(value: str) -> Shown:
    """Return safe text of several lines, with line breaks and indentation kept."""
    return whole(_cut(value))


def whole(value: str) -> Shown:
    """Return safe text of several lines, of any length."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ").split("\n")
    return Shown("\n".join(map(_harmless, lines)))


def end_of(address: Shown, cells: int) -> Shown:
    """Return as much of the end of an address as fits: its host and port tell servers apart."""
    return address if len(address) <= cells else Shown(f"…{address[1 - cells :]}")


def escaped(value: str) -> str:
    """Return a text that is safe to paste or view elsewhere: control characters are escaped as in JSON.

    Tabs, line breaks, joiners and characters of uncertain width are kept; JSON reads the same value from the result.
    """
    return "".join(map(_escaped, value))


def editable(value: str) -> str:
    """Return a text as a field holds it, and gives it back: without what acts on a terminal, otherwise unchanged."""
    return "".join(each for each in _LINE_ENDS.sub("\n", value) if not _acts(each))


def editable_line(value: str) -> str:
    """Return a text as a field of one line holds it: a space stands for each line break and tab."""
    return _JOINTS.sub(" ", editable(value).strip("\n"))


def escape_note(value: str) -> str:
    """Return a sentence to add to a message if a copy of this text differs from it; otherwise nothing."""
    return " What acts on a terminal is written as \\u escapes." if escaped(value) != value else ""


def _harmless(value: str) -> str:
    if value.isascii() and value.isprintable():
        return value
    first, *joined = value.split(_JOINER)
    return "".join(map(_visible, first + "".join(map(_unjoined, joined))))


def _unjoined(value: str) -> str:
    """Return the text after a joiner, without the symbol that was joined to the previous character."""
    return value[1:] if value and unicodedata.category(value[0]).startswith("S") else value


@lru_cache(4096)
def _visible(character: str) -> str:
    """Return a replacement of certain width: the base of a cluster is kept, its modifiers are removed."""
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


def _acts(character: str) -> bool:
    return unicodedata.category(character) in _ACTING and character not in "\t\n\u200c\u200d"


@lru_cache(4096)
def _escaped(character: str) -> str:
    if not _acts(character):
        return character
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
