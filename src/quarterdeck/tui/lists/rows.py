"""The rows of a list by id, how many are called by which word, and which of them are marked."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Generic, Protocol, TypeVar

from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown


class Row(Protocol):
    """A row of a list."""

    @property
    def id(self) -> str:
        """Its id, unique in the list."""
        ...

    @property
    def haystack(self) -> str:
        """All of its text that a filter looks into, case folded."""
        ...


R = TypeVar("R", bound=Row)


class Rows(dict[str, R], Generic[R]):
    """Every row, filtered out or not; `counts` and `unread` follow what `put` and `drop` are told."""

    def __init__(self, word: Callable[[R], str], is_unread: Callable[[R], bool]) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.unread: set[str] = set()
        """The rows of which there is news that nobody looked at."""
        self._word = word
        self._is_unread = is_unread
        self._words: dict[str, str] = {}

    def put(self, row: R) -> bool:
        """Take a row as it is now; whether it is another one than before, or called by another word."""
        before, was_called, word = self.get(row.id), self._words.get(row.id), self._word(row)
        if row is before and word == was_called:
            return False
        if was_called is not None:
            self.counts[was_called] -= 1
        self.counts[word] += 1
        self[row.id], self._words[row.id] = row, word
        if self._is_unread(row):
            self.unread.add(row.id)
        else:
            self.unread.discard(row.id)
        return True

    def drop(self, row_id: str) -> None:
        """Forget a row."""
        del self[row_id]
        self.counts[self._words.pop(row_id)] -= 1
        self.unread.discard(row_id)

    def forget_all(self) -> None:
        """Forget every row."""
        for row_id in list(self):
            self.drop(row_id)


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

    def range_to(self, ids: Sequence[str], cursor: str | None) -> Sequence[str]:
        """The ids from the last mark to the cursor, both included; none where no mark is among them."""
        if self._last is None or cursor is None or self._last not in ids:
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
