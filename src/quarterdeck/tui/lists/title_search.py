"""Titles that only the server knows yet: what it is asked for, and what is said of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck.fleet.filters import Filter, Kind
from quarterdeck.tui import text
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session

SETTLED = 0.4
"""Seconds without a key after which what is typed is asked for."""
SHORTEST = 2
"""Letters from which a word is worth asking for."""


def title_words(typed: Filter) -> str:
    """The longest word of a filter that a title may have; empty where there is none, or it is turned round."""
    words = [term.texts[0] for term in typed.terms if term.kind is Kind.WORD and not term.inverted]
    longest = max(words, key=len, default="")
    return longest if len(longest) >= SHORTEST else ""


async def ask(session: Session, typed: Filter) -> Shown:
    """Have the server look, and say what came of it and how much of the list is still unread; raises ServiceError.

    Empty where there is nothing to ask for.
    """
    wanted = title_words(typed)
    if not wanted:
        return Shown("")
    found = await session.find_titles(wanted)
    read, left = len(session.conversations.records), session.conversations_left
    rest = f"{read:,} of {read + left:,} conversations are read so far." if left else "All conversations are read now."
    more = f"{found:,} more" if found else "no other"
    return text.line(f"The server was asked for titles with \u201c{wanted}\u201d and knows {more}. {rest}")
