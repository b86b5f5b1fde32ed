"""The one door through which a server's text reaches the screen.

Terminals obey control characters, and Textual passes most of them on: escape sequences, C1
controls, bidirectional overrides, zero-width and other invisible characters are made visible or taken out here, once.
What comes out is `Shown`, and everything that paints takes only `Shown`, so that a type checker finds a text that went
around the door.
"""

import re
from typing import NewType

Shown = NewType("Shown", str)
"""Text that is safe to paint: no controls, no invisible characters; newlines only where it came from `block`."""

_UNSAFE = (
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, format characters, separators, surrogates, fillers; variation selectors, whose width is unsure. A pattern
that takes long to compile: it is compiled for the first text that may need it."""
_SPACES = re.compile(r"[ \n]+")
LONGEST = 20_000
"""Characters of one text that are ever painted; more of it is cut with an ellipsis."""


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code in (0x09, 0x0D, 0x85, 0x2028, 0x2029):
        return " "
    if code == 0x1B:
        return "␛"
    if code < 0x20:
        return chr(0x2400 + code)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return ""


def line(value: str) -> Shown:
    """Make one line of any text: breaks and runs of blanks become one blank, what acts on a terminal goes."""
    if len(value) <= LONGEST and value.isascii() and value.isprintable() and "  " not in value:
        return Shown(value.strip())  # as nearly all texts are
    return Shown(_SPACES.sub(" ", _harmless(_cut(value))).strip())


def block(value: str) -> Shown:
    """Make safe text of several lines, its line breaks and indentation kept."""
    lines = _cut(value).replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ").split("\n")
    return Shown("\n".join(map(_harmless, lines)))


def _harmless(value: str) -> str:
    return value if value.isascii() and value.isprintable() else re.sub(_UNSAFE, _visible, value)


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"
