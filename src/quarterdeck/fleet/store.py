"""Records by id in the server's order, and what a reading changed in them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar


class Identified(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> str:
        """What it is known by, unique in its list."""
        ...


R = TypeVar("R", bound=Identified)


class Changes(NamedTuple, Generic[R]):
    """What one reading did to the records; false when it changed none.

    `read` holds every record the reading told of, changed or not, for whoever counts readings.
    """

    added: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    read: tuple[R, ...] = ()
    all_known: bool = False
    """The whole list was known before: what was added had not been there."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.gone)


class Store(Generic[R]):
    """The records of one list; one that reads equal to the one held is not replaced, so `is` tells of no change."""

    def __init__(self) -> None:
        self._by_id: dict[str, R] = {}

    @property
    def by_id(self) -> Mapping[str, R]:
        """The records in the server's order; one that is new stands last until the whole list has been read."""
        return self._by_id

    def take(self, records: Iterable[R]) -> Changes[R]:
        """Take records as they were read, whoever asked for them."""
        read = tuple(records)
        added, changed = set(), set()
        for record in read:
            held = self._by_id.get(record.id)
            if held is None:
                added.add(record.id)
            elif held is record or held == record:
                continue
            else:
                changed.add(record.id)
            self._by_id[record.id] = record
        return Changes(frozenset(added), frozenset(changed - added), read=read)

    def take_batch(self, ids: Sequence[str], answers: Sequence[R | None]) -> Changes[R]:
        """Take the answers to a question for these ids, in the same order; None takes the record away."""
        changes = self.take(record for record in answers if record is not None)
        gone = frozenset(i for i, record in zip(ids, answers, strict=False) if record is None and i in self._by_id)
        for record_id in gone:
            del self._by_id[record_id]
        return changes._replace(gone=gone)

    def keep_only(self, listed: Iterable[str]) -> Changes[R]:
        """Take the order of the whole list, as it was just read, and drop what is not in it."""
        ordered = {record_id: self._by_id[record_id] for record_id in listed if record_id in self._by_id}
        gone = frozenset(self._by_id.keys() - ordered.keys())
        self._by_id = ordered
        return Changes(gone=gone)
