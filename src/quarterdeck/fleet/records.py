"""Records by id in the server's order, and what a reading changed in them."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Generic, NamedTuple, Protocol, TypeVar

from quarterdeck.client.models.page import Page


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
    reordered: bool = False
    read: tuple[R, ...] = ()
    all_known: bool = False
    """The whole list was known before: what was added had not been there."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.gone or self.reordered)


class Records(Generic[R]):
    """The records known, changed by batch readings here and by whole readings through `FullPass`.

    A record that reads equal to the one held is not replaced, so `is` tells its users that nothing changed.
    """

    def __init__(self) -> None:
        self._by_id: dict[str, R] = {}
        self._pages: tuple[Page[R], ...] = ()
        """The pages that say exactly what is held; empty after a change they do not know of."""
        self._batches = 0
        """How many batch readings changed something."""

    @property
    def by_id(self) -> Mapping[str, R]:
        """The records in the server's order; one that is new stands last until its pass is complete."""
        return self._by_id

    def apply_batch(self, ids: Sequence[str], answers: Sequence[R | None]) -> Changes[R]:
        """Take the answers to a question for these ids, in the same order; None takes the record away."""
        read = tuple(record for record in answers if record is not None)
        changes = self.take(read)
        gone = frozenset(i for i, record in zip(ids, answers, strict=False) if record is None and i in self._by_id)
        for record_id in gone:
            del self._by_id[record_id]
        if changes or gone:
            self._pages = ()
            self._batches += 1
        return Changes(changes.added, changes.changed, gone, read=read)

    def take(self, records: Sequence[R]) -> Changes[R]:
        """Take records as they were read, whoever asked for them."""
        read = tuple(records)
        added, changed = set(), set()
        for record in read:
            held = self._by_id.get(record.id)
            if held is record:
                continue
            if held is None:
                added.add(record.id)
            elif held == record:
                continue
            else:
                changed.add(record.id)
            self._by_id[record.id] = record
        if added or changed:
            self._pages = ()
        return Changes(frozenset(added), frozenset(changed - added), read=read)


class FullPass(Generic[R]):
    """One reading of the whole list: `add` each page as it comes, `complete` once the last one is in.

    A pass that is dropped half way has updated what it read and removed nothing. A page that is the very object of the
    pass before it is not looked into for as long as all pages before it are too.
    """

    def __init__(self, records: Records[R]) -> None:
        self._records = records
        self._batches = records._batches
        self._pages: list[Page[R]] = []

    @property
    def pages(self) -> int:
        """How many pages came so far."""
        return len(self._pages)

    @property
    def unreadable(self) -> int:
        """How many records of these pages could not be read."""
        return sum(page.unreadable for page in self._pages)

    @property
    def empty(self) -> bool:
        """Whether no page held a record."""
        return not any(page.items for page in self._pages)

    def add(self, page: Page[R]) -> Changes[R]:
        """Take the next page."""
        at = len(self._pages)
        self._pages.append(page)
        held = self._records._pages
        if at < len(held) and page is held[at]:
            return Changes(read=page.items)
        return self._records.take(page.items)

    def complete(self) -> Changes[R]:
        """Remove what no page listed and put the rest in the order of the pages."""
        records, pages = self._records, tuple(self._pages)
        if len(pages) == len(records._pages) and all(map(operator.is_, pages, records._pages)):
            return Changes()
        gone, reordered, told_once = frozenset[str](), False, True
        if not all(map(operator.eq, chain(self._ids, (None,)), chain(records._by_id, (None,)))):
            gone, reordered, told_once = self._put_in_order()
        # Pages say what is held only when no batch and no later page told something else of the same record.
        records._pages = pages if told_once and records._batches == self._batches else ()
        return Changes(gone=gone, reordered=reordered)

    @property
    def _ids(self) -> Iterator[str]:
        return (record.id for page in self._pages for record in page.items)

    def _put_in_order(self) -> tuple[frozenset[str], bool, bool]:
        """Drop what is not listed; gives it, whether the rest stood in another order, and whether no id came twice."""
        held, listed = self._records._by_id, dict.fromkeys(self._ids)
        gone = held.keys() - listed.keys()
        for record_id in gone:
            del held[record_id]
        ordered = {record_id: held[record_id] for record_id in listed if record_id in held}
        reordered = any(map(operator.ne, ordered, held))
        if reordered:
            self._records._by_id = ordered
        return frozenset(gone), reordered, len(listed) == sum(len(page.items) for page in self._pages)
