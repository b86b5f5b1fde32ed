"""Stand-ins for what the fleet is given: a clock that is turned by hand, a server that is an object, records."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import ExposedUrl, Sandbox
from quarterdeck.client.paging import Page
from quarterdeck.fleet.health import HealthState
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action, SandboxMemory, SandboxState
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row
from quarterdeck.fleet.watch import Changes, Viewport, Watch

NOON = datetime(2031, 5, 6, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def sandbox(status: str, sandbox_id: str = "abc", *, served: bool = False) -> Sandbox:
    """A sandbox as a server lists it; `served` ones have a key and the address of their agent server."""
    if not served:
        return Sandbox(id=sandbox_id, status=status)
    url = ExposedUrl(name="AGENT_SERVER", url=SecretStr("http://box:8000"))
    return Sandbox(id=sandbox_id, status=status, session_api_key=SecretStr("box-key"), exposed_urls=(url,))


def row(
    *conversations: Conversation,
    name: str = "a",
    status: str = "RUNNING",
    seen: float = -9000,
    began: bool = False,
    complete: bool = True,
) -> SandboxRow:
    """The row of a sandbox as it is at noon; `began` when its state was seen to begin."""
    memories, record = SandboxMemories(), sandbox(status, name)
    memories.observe([record], at(seen), beginning=began)
    return sandbox_row(record, memories.by_id[name], conversations, complete=complete)


class Story:
    """What happens to one sandbox, told in words: a status is a reading a second after what was before.

    In small letters it is the answer to a start. `new` says that its list was known before, `+9` waits so long; the
    rest is what is asked for, and what is answered.
    """

    def __init__(self, told: str = "") -> None:
        self.memories, self.second = SandboxMemories(), 0.0
        self._new = False
        self.tell(told)

    def tell(self, told: str) -> "Story":
        for word in told.split():
            if word.startswith("+"):
                self.second += float(word)
            elif word.isupper():
                self.second += 1
                self.memories.observe([sandbox(word, served=word == "RUNNING")], at(self.second), beginning=self._new)
            else:
                self._acts(word)
        return self

    def _acts(self, word: str) -> None:
        now = at(self.second)
        match word:
            case "new":
                self._new = True
            case "pause" | "resume" | "delete":
                self.memories.asked("abc", Action[word.upper()], now)
            case "accepted":
                self.memories.answered("abc")
            case "refused":
                self.memories.refused("abc")
            case "not-found":
                self.memories.missing("abc", now)
            case "alive" | "silent":
                self.memories.checked("abc", now, answered=word == "alive")
            case status:
                self.memories.started(sandbox(status.upper()), now)

    @property
    def memory(self) -> SandboxMemory:
        return self.memories.by_id["abc"]

    @property
    def state(self) -> SandboxState:
        return self.memory.state(at(self.second))


def failure(kind: ErrorKind = ErrorKind.UNREACHABLE, retry_after: float | None = None) -> ServiceError:
    status = {ErrorKind.RATE: 429, ErrorKind.AUTH: 401, ErrorKind.SERVER: 500}.get(kind)
    return ServiceError(kind, "Did not work.", retry_after=retry_after, status=status)


@dataclass(frozen=True)
class Item:
    id: str
    version: int = 0


class FakeClock:
    """Monotonic seconds that pass only inside `run`; whoever sleeps wakes in order."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = itertools.count()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        done = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._number), done))
        await done

    async def run(self, seconds: float = 0.0) -> None:
        """Let so much time pass, and everything happen that is due in it."""
        end = self.now + seconds
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            when, _, done = heapq.heappop(self._sleepers)
            if not done.done():
                self.now = max(self.now, when)
                done.set_result(None)
                await self._settle()
        self.now = max(self.now, end)

    async def _settle(self) -> None:
        for _ in range(100):
            await asyncio.sleep(0)


class FakeServer:
    """A list on a server: `items` is its truth, `asked` what it was asked, each with the second it came in."""

    page_size = 2

    def __init__(self, clock: FakeClock, items: Sequence[Item], *, latency: float = 0.0) -> None:
        self.items, self.latency = list(items), latency
        self.by_batch = True
        self.fail_with: ServiceError | None = None
        self.fail_page: int | None = None
        self.asked: list[tuple[float, str]] = []
        self._clock, self._start = clock, clock.now

    async def pages(self, *, background: bool = False) -> AsyncIterator[Page[Item]]:
        for number in itertools.count():
            await self._answer(f"page {number}", fails=self.fail_page in (None, number))
            items = tuple(self.items[number * self.page_size : (number + 1) * self.page_size])
            follows = (number + 1) * self.page_size < len(self.items)
            yield Page(items, more=follows)
            if not follows:
                return

    async def read(self, ids: Sequence[str], *, background: bool = False) -> tuple[Item | None, ...] | None:
        await self._answer("read " + ",".join(ids), fails=self.fail_page is None)
        if not self.by_batch:
            return None
        known = {item.id: item for item in self.items}
        return tuple(known.get(item_id) for item_id in ids)

    async def _answer(self, question: str, *, fails: bool) -> None:
        self.asked.append((self._clock.now - self._start, question))
        if self.latency:
            await self._clock.sleep(self.latency)
        if self.fail_with is not None and fails:
            raise self.fail_with

    def times(self, question: str) -> list[float]:
        return [when for when, asked in self.asked if asked == question]


class Deck:
    """A watch on a fake server, and all it published."""

    def __init__(self, *items: str, latency: float = 0.0) -> None:
        self.clock = FakeClock()
        self.server = FakeServer(self.clock, [Item(i) for i in items], latency=latency)
        self.published: list[Changes[Item]] = []
        self._viewport = Viewport()
        told, time = self.published.append, self.clock
        self.watch = Watch(self.server, told, lambda: self._viewport, clock=time, sleep=time.sleep, jitter=lambda: 0.0)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Deck":
        self._task = asyncio.create_task(self.watch.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        assert not self._task.done(), "the loop has ended"
        self._task.cancel()
        await asyncio.wait((self._task,))

    def look(self, visible: str, transitional: str = "", *, hidden: bool = False) -> None:
        """Look at other rows, each with an id of one letter."""
        self._viewport = Viewport(visible, transitional, hidden)
        self.watch.wake()

    def state(self) -> HealthState:
        return self.watch.health.state

    @property
    def ids(self) -> list[str]:
        return list(self.watch.records)
