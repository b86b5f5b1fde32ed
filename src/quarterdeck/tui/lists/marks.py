"""Which rows are marked, beyond one at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown


class Marks:
    """Remembers where the last mark was set, for the range from there to the cursor."""

    def __init__(self) -> None:
        self._before: frozenset[str] = frozenset()
        self._last: str | None = None

    def marked(self, marks: frozenset[str]) -> None:
        """Take what is marked now; when one row was marked, a range begins there."""
        added = marks - self._before
        if len(added) == 1:
            (self._last,) = added
        elif not marks:
            self._last = None
        self._before = marks

    def range_to(self, ids: Sequence[str], cursor: str) -> Sequence[str]:
        """The ids from the last mark to the cursor, both included; none where no mark is among them."""
        if self._last is None or self._last not in ids:
            return ()
        first, last = sorted((ids.index(self._last), ids.index(cursor)))
        return ids[first : last + 1]


def marked_words(marks: Collection[str], shown: Collection[str], *, filtered: bool) -> Cell:
    """How many rows are marked, and how many of them the filter hides; `shown` is asked only where one does."""
    if not marks:
        return ()
    hidden = len(set(marks) - set(shown)) if filtered else 0
    words = f"✓ {len(marks)} marked" + (f", {hidden} hidden by the filter" if hidden else "")
    return cell(Shown(f"{words}  "), Tone.EDITED)
