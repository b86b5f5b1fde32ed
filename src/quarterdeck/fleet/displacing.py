"""Watches what a start or resume costs: the sandboxes that a server pauses for it, and the cap this shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from quarterdeck.fleet.displacement import Cap, cap_learned, found_displaced
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.sandbox_state import SandboxMemory, StateWord
from quarterdeck.fleet.sandboxes import short_id

LOOKED_FOR = timedelta(seconds=30)
"""How long after a start or resume what stopped is taken to have made room for it."""
Memories = Mapping[str, SandboxMemory]


class KeptCap(KeptModel):
    """How many sandboxes a server was seen to let run; None when there is no such cap."""

    kind: ClassVar[str] = "cap"
    cap: Annotated[int, Field(ge=1)] | None


class Displaced(NamedTuple):
    """What made room for what."""

    ids: tuple[str, ...]
    by: str
    """The id of what was started or resumed."""


def displaced_words(displaced: Displaced, title_in: Callable[[str], str | None]) -> str:
    """What to say of it; `title_in` gives the title of a conversation in a sandbox."""
    named = [
        short_id(sandbox_id) + (f" ({title})" if (title := title_in(sandbox_id)) else "")
        for sandbox_id in displaced.ids
    ]
    return f"The server paused {', '.join(named)} to make room for {short_id(displaced.by)}."


class Coming:
    """A sandbox that is coming up, and which ones ran before it, the oldest first."""

    def __init__(self, running: Sequence[str], clock: Callable[[], datetime]) -> None:
        self.running = running
        self.sandbox_id: str | None = None
        """None while the server has not answered."""
        self.until = clock()
        self.displaced = 0
        self._clock = clock

    def answered(self, sandbox_id: str) -> None:
        """Note that the server took it."""
        self.sandbox_id, self.until = sandbox_id, self._clock() + LOOKED_FOR


class Displacing:
    """The starts and resumes of this deck whose consequences are still being looked for, and what they taught."""

    MODEL = KeptCap

    def __init__(self) -> None:
        self.cap = Cap()
        self._coming: list[Coming] = []
        self._explained: set[str] = set()
        """Sandboxes whose pause has another reason: somebody here asked for it, or another start displaced them."""

    @contextmanager
    def watching(self, running: Sequence[str], clock: Callable[[], datetime]) -> Iterator[Coming]:
        """Note what runs before a start or resume, oldest first; what it costs is looked for once it was answered."""
        coming = Coming(running, clock)
        self._coming.append(coming)
        try:
            yield coming
        finally:
            if coming.sandbox_id is None:
                self._forget(coming)

    def asked_to_pause(self, sandbox_id: str) -> None:
        """Note that a pause is not the work of a start."""
        if self._coming:
            self._explained.add(sandbox_id)

    def read(self, memories: Memories, now: datetime) -> list[Displaced]:
        """Take a reading; gives what was found to have made room."""
        told: list[Displaced] = []
        after = {known: memory.settled.word for known, memory in memories.items()} if self._coming else {}
        for coming in [coming for coming in self._coming if coming.sandbox_id is not None]:
            assert coming.sandbox_id is not None
            found = found_displaced(coming.running, after, coming.sandbox_id, self._explained)
            if found:
                self._explained.update(found)
                coming.displaced += len(found)
                self._learn(coming)
                told.append(Displaced(found, coming.sandbox_id))
            elif now >= coming.until:
                self._forget(coming)
                if not coming.displaced and after.get(coming.sandbox_id) == StateWord.RUNNING:
                    self._learn(coming)
        return told

    def _learn(self, coming: Coming) -> None:
        self.cap = cap_learned(self.cap, running=len(coming.running), displaced=coming.displaced)

    def _forget(self, coming: Coming) -> None:
        self._coming.remove(coming)
        if not self._coming:
            self._explained.clear()

    # From run to run

    def recall(self, kept: KeptCap | None) -> frozenset[str]:
        """Take what an earlier run learned, unless this one knows better already."""
        if kept is not None and not self.cap.learned:
            self.cap = Cap(kept.cap, learned=True)
        return frozenset()

    def merge(self) -> Callable[[KeptCap | None], KeptCap | None]:
        """What makes the next file of the one there is, which stays while nothing was learned."""
        learned = KeptCap(cap=self.cap.about) if self.cap.learned else None
        return lambda kept: learned or kept
