"""Records by id and by age; a page costs what is on it, however many there are."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from quarterdeck.local.records import Window


class Aged(Protocol):
    """A record with an id and the text of the time it was created."""

    @property
    def id(self) -> str:
        """What it is known by."""
        ...

    @property
    def created_at(self) -> str:
        """As `moments.stamp` writes it."""
        ...


R = TypeVar("R", bound=Aged)


class Shelf(Generic[R]):
    """Records that are added and removed one by one, and read newest first."""

    def __init__(self, records: Iterable[R] = ()) -> None:
        self._oldest_first = sorted(records, key=_place)
        self._by_id = {record.id: record for record in self._oldest_first}

    def __len__(self) -> int:
        return len(self._oldest_first)

    def __iter__(self) -> Iterator[R]:
        """All of them, newest first."""
        return reversed(self._oldest_first)

    def get(self, record_id: str) -> R | None:
        """The record of that id."""
        return self._by_id.get(record_id)

    def at(self, place: int) -> R:
        """The record at a place, the oldest at 0."""
        return self._oldest_first[place]

    def add(self, record: R) -> None:
        """Put one more in its place."""
        insort(self._oldest_first, record, key=_place)
        self._by_id[record.id] = record

    def remove(self, record: R) -> None:
        """Take one away."""
        del self._by_id[record.id]
        del self._oldest_first[bisect_left(self._oldest_first, _place(record), key=_place)]

    def page(self, window: Window) -> tuple[list[R], str | None]:
        """One page, newest first, and the id of the next."""
        end = len(self) - window.offset
        found = self._oldest_first[max(0, end - window.limit) : max(0, end)]
        return found[::-1], window.next_page_id(max(0, end))


def _place(record: Aged) -> tuple[str, str]:
    return record.created_at, record.id
