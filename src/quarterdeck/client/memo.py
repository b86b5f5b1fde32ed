"""Remembering what an answer was read as, so that the same bytes are read once."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

A = TypeVar("A")


def digest(body: bytes) -> tuple[int, int]:
    """A short stand-in for bytes, good for one process; two different answers with the same one do not occur."""
    return len(body), hash(body)


class Memo(Generic[A]):
    """The last answer to each of the latest `size` questions, with what it was made from."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[Hashable, tuple[Hashable, A]] = OrderedDict()

    def same(self, question: Hashable, source: Hashable, make: Callable[[A | None], A]) -> A:
        """Return the answer made last time if it was made from an equal `source`, else make and remember it.

        `make` is given the answer to the same question before, None when there was none.
        """
        known = self._answers.get(question)
        if known is None or known[0] != source:
            known = (source, make(None if known is None else known[1]))
            self._answers[question] = known
        self._answers.move_to_end(question)
        self.keep_latest(self._size)
        return known[1]

    def keep_latest(self, size: int) -> None:
        """Forget all but the answers to so many questions."""
        while len(self._answers) > size:
            self._answers.popitem(last=False)
