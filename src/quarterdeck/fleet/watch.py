"""The records of one list, and the loop that keeps them up to date: fetch, compare, publish, sleep."""

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.paging import Page, Record
from quarterdeck.fleet.health import Health, HealthState

IN_TRANSITION = 2.0
"""Seconds between two readings of the rows that are looked at, while one of them is in transition."""
ON_SCREEN = 5.0
HIDDEN = 30.0
FULL_PASS = 30.0
"""Seconds between two readings of a whole long list, if the visible rows are read by batch."""
ROWS_A_SECOND = 100
"""How many rows these readings read on average; so a shorter list is read more often."""
PASS_REST = 8.0
"""After reading a whole list, the minimum rest as a multiple of the time it took; so a long list is read less often."""
REFRESH = 1.0
"""Minimum seconds between two readings that were requested."""
LONGEST_BACKOFF = 60.0
LONGEST_ASKED_FOR = 120.0
"""The longest Retry-After, in seconds, that is obeyed."""
ASKED_AGAIN = 500
"""If a reading of the whole list lacks up to this many known rows, they are read by id before they count as gone."""
SLICE = 200
"""Records published at a time: a few milliseconds of work, so that key presses are handled in between."""


# The records in the server's order, and what a reading changed in them

R = TypeVar("R", bound=Record)


class Changes(NamedTuple, Generic[R]):
    """What one reading changed in the records; false if it changed none.

    `read` holds every record in the reading, changed or not, for code that counts readings.
    """

    added: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    read: tuple[R, ...] = ()
    all_known: bool = False
    """The whole list was known before, so that added records are really new."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.gone)


class Store(Generic[R]):
    """The records of one list, by id.

    A record that reads equal is not replaced, so identity (`is`) shows that nothing changed. `merge` returns the record
    to store, given the stored one and the one just read.
    """

    def __init__(self, merge: Callable[[R, R], R] = lambda held, read: read) -> None:
        self.by_id: dict[str, R] = {}
        """Records by id in the server's order; a new record comes last until the whole list has been read."""
        self._merge = merge

    def take(self, records: Iterable[R], unknown: Iterable[str] = ()) -> Changes[R]:
        """Store records as they were read, and remove the `unknown` ones, which the server does not know."""
        read, added, changed = list[R](), set[str](), set[str]()
        for told in records:
            held = self.by_id.get(told.id)
            record = told if held is None else self._merge(held, told)
            if record != held:
                (added if held is None else changed).add(told.id)
                self.by_id[told.id] = record
            read.append(self.by_id[told.id])
        gone = frozenset(each for each in unknown if self.by_id.pop(each, None) is not None)
        return Changes(frozenset(added), frozenset(changed - added), gone, tuple(read))

    def keep_only(self, listed: Iterable[str]) -> frozenset[str]:
        """Adopt the order of the whole list as it was just read, and return the ids that are no longer in it."""
        before = self.by_id
        self.by_id = {record_id: before[record_id] for record_id in listed if record_id in before}
        return frozenset(before.keys() - self.by_id.keys())


# Reading the records


class Source(Protocol[R]):
    """Where the records come from, for example `client.sandboxes`; both methods raise ServiceError."""

    def pages(self, *, background: bool = False) -> AsyncIterator[Page[R]]:
        """Read the whole list, page by page, in the server's order."""
        ...

    async def read(self, ids: Sequence[str], *, background: bool = False) -> Sequence[R | None] | None:
        """Return these records, None for an unknown id; None alone if there is no batch read."""
        ...


def backoff(failures: int, jitter: float, retry_after: float | None = None) -> float:
    """Return the seconds to wait after that many failures in a row (1 or more).

    `jitter` in [0, 1) reduces the wait by up to half. `retry_after` is the minimum, if the server gave one.
    """
    longest = min(LONGEST_BACKOFF, 2.0 * 2.0 ** min(failures, 10))
    return max(longest * (0.5 + jitter / 2), min(retry_after or 0.0, LONGEST_ASKED_FOR))


class Viewport(NamedTuple):
    """Which rows are looked at and which are in transition; this decides what a tick reads and how often."""

    visible: Collection[str] = ()
    transitional: Collection[str] = ()
    hidden: bool = False

    @property
    def interval(self) -> float:
        """Seconds between two ticks."""
        if self.transitional:
            return IN_TRANSITION
        return HIDDEN if self.hidden else ON_SCREEN

    @property
    def ids(self) -> tuple[str, ...]:
        """What a tick reads."""
        return tuple(dict.fromkeys((*sorted(self.transitional), *(() if self.hidden else self.visible))))


@dataclass(eq=False)
class Watch(Generic[R]):
    """Polls a list while `run` runs, and publishes after each reading and each failure.

    Only one request is under way at a time, so the newest response is always applied last. A tick reads the visible
    rows by batch; a full pass finds new and removed rows. A list of one page, or of a server without batch reads, is
    read whole at each tick. `publish` receives the changes, which are empty if only the health changed. `look` returns
    what is looked at now. `clock` is monotonic, in seconds; `sleep` is `asyncio.sleep` or a replacement; `jitter`
    returns a number in [0, 1).
    """

    source: Source[R]
    publish: Callable[[Changes[R]], None]
    look: Callable[[], Viewport] = Viewport
    store: Store[R] = field(default_factory=Store)
    _: KW_ONLY
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        self.health = Health()
        """Whether the readings succeed, and how old they are."""
        self._sleeping: asyncio.Future[None] | None = None
        self._by_batch = True
        """Whether the server reads records by their ids, as far as is known."""
        self._one_page = False
        """Whether the last full pass was of a single page."""
        self._pages_read = 0
        """How many pages the current reading has received."""
        self._ended_at = -math.inf
        """When the last reading ended."""
        self._tick_at = -math.inf
        """When the last tick began."""
        self._pass_took = 0.0
        self._asked = False
        """Whether a reading of the whole list was requested."""

    @property
    def records(self) -> Mapping[str, R]:
        """The known records by id, in the server's order."""
        return self.store.by_id

    def refresh(self, *, asked: bool = False) -> None:
        """Request a reading of the whole list now; a current one ends first, and a second lies between two.

        `asked` means that a person requested it: `health.refreshing` is then set until the reading succeeds or fails.
        """
        if asked and not self.health.refreshing:
            self.health = self.health._replace(refreshing=True)
            self._tell(Changes())
        self._asked = True
        self.wake()

    def wake(self) -> None:
        """Decide anew when the next reading is due, because something else is looked at."""
        if self._sleeping is not None:
            self._sleeping.cancel()

    def take(self, records: Sequence[R]) -> None:
        """Store records that were read by another request, as if a reading had returned them."""
        self._tell(self.store.take(records))

    async def run(self) -> None:
        """Poll until cancelled."""
        self._tick_at = self.clock()
        while True:
            due, whole = self._due()
            if self.clock() < due:
                await self._rest_until(due)
            else:
                await self._read(whole=whole)

    def _due(self) -> tuple[float, bool]:
        """Return when the next reading is due, and whether it reads the whole list."""
        if self._asked:
            return self._ended_at + REFRESH, True
        if self.health.state is HealthState.REFUSED:
            return math.inf, True
        if self.health.next_try_at is not None:
            return self.health.next_try_at, True
        tick = self._tick_at + self.look().interval
        whole = (self.health.whole_at or -math.inf) + self._pass_interval()
        return (whole, True) if whole <= tick + REFRESH / 2 or not self._ticks else (tick, False)

    @property
    def _ticks(self) -> bool:
        """Whether there is anything to read by batch between two full passes."""
        return self._by_batch and not self._one_page and bool(self.look().ids)

    def _pass_interval(self) -> float:
        """Return the rest after a full pass; it grows with the rows and the time it took: a long list costs little."""
        if self.health.doubted:
            return IN_TRANSITION
        if self._one_page or not self._by_batch:
            return max(self.look().interval, self._pass_took)
        rest = FULL_PASS if self.look().hidden else min(FULL_PASS, len(self.records) / ROWS_A_SECOND)
        return max(ON_SCREEN, rest, PASS_REST * self._pass_took)

    async def _rest_until(self, due: float) -> None:
        self._sleeping = asyncio.ensure_future(self.sleep(due - self.clock()))
        try:
            await asyncio.wait((self._sleeping,))
        finally:
            self._sleeping.cancel()
            self._sleeping = None
        if self.clock() - due > 2 * self.look().interval:
            # The machine or the program was suspended: one whole reading replaces all that were missed.
            self.refresh()

    async def _read(self, *, whole: bool) -> None:
        self._pages_read = 0
        try:
            await (self.read_all() if whole else self._read_viewport())
        except ServiceError as error:
            all_known = not self.health.incomplete
            wait = backoff(self.health.failures + 1, self.jitter(), error.retry_after)
            broken = self._pages_read > 0
            self.health = self.health.failed(error, next_try_at=self.clock() + wait, broken=broken)
            self.publish(Changes(all_known=all_known))
        finally:
            self._ended_at = self.clock()

    async def read_all(self) -> None:
        """Read the whole list once and publish it page by page; raises ServiceError."""
        self._asked, began = False, self.clock()
        listed: list[str] = []
        unreadable, partial = 0, False
        last: Changes[R] = Changes()
        async for page in self.source.pages(background=True):
            self._pages_read += 1
            unreadable += page.unreadable
            partial = partial or page.perhaps_partial
            listed += [record.id for record in page.items]
            self.health = self.health.answered(self.clock())
            for start in range(0, max(len(page.items), 1), SLICE):
                last = self.store.take(page.items[start : start + SLICE])
                if not page.more and start + SLICE >= len(page.items):
                    break  # the changes of the last slice are published together with those of the whole list
                self._tell(last)
                if self._ticks and self.clock() >= max(self._tick_at + self.look().interval, began + REFRESH):
                    await self._read_viewport()
                await asyncio.sleep(0)
        self._pass_took = self.clock() - began
        self._tick_at = max(self._tick_at, began)
        self._one_page = self._pages_read <= 1
        if not listed and self.records and not self.health.doubted:
            self.health = self.health._replace(whole_at=self.clock(), doubted=True, refreshing=False)
            self._tell(Changes())
            return
        try:
            listed += await self._left_out(listed)
        except ServiceError:
            self._tell(last)
            raise
        gone, all_known = self.store.keep_only(listed), not self.health.incomplete
        self.health = self.health.passed(self.clock(), unreadable, partial=partial)
        self.publish(last._replace(gone=gone, all_known=all_known))

    async def _left_out(self, listed: list[str]) -> list[str]:
        """Return ids that a pass of several pages lacked but that still exist: a removed row shifts the later pages."""
        unlisted = list(self.records.keys() - set(listed))
        if self._one_page or not self._by_batch or not 0 < len(unlisted) <= ASKED_AGAIN:
            return []
        answers = await self.source.read(unlisted, background=True)
        return [record.id for record in answers or () if record is not None]

    async def _read_viewport(self) -> None:
        ids = self.look().ids
        answers = await self.source.read(ids, background=True)
        self._tick_at = self.clock()
        if answers is None:
            self._by_batch = False
            return
        known = [record for record in answers if record is not None]
        self.health = self.health.answered(self.clock())
        if not known and len(self.records.keys() & set(ids)) > 1:
            self.refresh()  # it is unlikely that all of them are gone at once: the whole list decides
            self._tell(Changes())
        else:
            unknown = (each for each, record in zip(ids, answers, strict=False) if record is None)
            self._tell(self.store.take(known, unknown))

    def _tell(self, changes: Changes[R]) -> None:
        self.publish(changes._replace(all_known=not self.health.incomplete))
