"""What a person entered for a conversation that was perhaps not created: offered again, also in the next run."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar

from pydantic import AwareDatetime

from quarterdeck.client.models.conversation import StartTask
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.session import Session
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown

LEFT = "It was not known whether it was created when the deck was left; look in the list."
CLOCKS_DIFFER = timedelta(seconds=5)
"""How far a server's clock may be off after it was compared."""


class UnsentConversation(KeptModel):
    """The contents of the state file: what a person entered that was not created, and why."""

    kind: ClassVar[str] = "unsent-conversation"
    entered: Mapping[str, str | None]
    because: str
    at: AwareDatetime

    def was_made(self, task: StartTask, clock: ServerClock) -> bool:
        """Whether a start was asked for with the same message at that time or since."""
        created = clock.here(task.created_at)
        if task.request is None or created is None or created < self.at - CLOCKS_DIFFER:
            return False
        return (task.request.message or "") == (self.entered.get("message") or "")


class Unsent:
    """What was entered and not created, by server: one request each."""

    def __init__(self, screen: DeckScreen) -> None:
        self._screen = screen
        self._offered: dict[str, UnsentConversation] = {}
        self._recalled: set[str] = set()
        """The servers for which the state file was read."""
        self._to_tell: set[str] = set()
        """The servers for which a person has not been told yet that something was left there."""
        self._turn = asyncio.Lock()

    def recall(self) -> None:
        """Offer what an earlier run did not create on this connection, once."""
        if (about := self._screen.app.endpoint.about) not in self._recalled:
            self._recalled.add(about)
            self._screen.run_worker(self._recall(about), group="unsent")

    async def _recall(self, about: str) -> None:
        async with self._turn:  # what this run enters is noted after it
            with self._screen.saying_errors():
                kept = await self._screen.app.state.read(UnsentConversation, about)
                if kept is not None:
                    self._to_tell.add(about)
                    self._offered.setdefault(about, kept)

    def look(self, session: Session, found: str | None) -> None:
        """Drop what was entered for a conversation that was created; `found` is the start whose answer was lost."""
        about, tasks = self._screen.app.endpoint.about, session.start_tasks.records
        if (unsent := self._offered.get(about)) is None:
            return
        start = tasks.get(found or "")
        untold = start is not None and start.request is None
        if untold or any(unsent.was_made(task, session.server_clock) for task in tasks.values()):
            del self._offered[about]
            self.drop(about, unsent)
        elif about in self._to_tell and session.start_tasks.health.whole:
            self._to_tell.remove(about)
            self._screen.say(Shown("A conversation was perhaps not created; n shows what you entered."), Tone.WARN)

    def take(self, about: str) -> UnsentConversation | None:
        """Return what is offered again, and offer it no more."""
        return self._offered.pop(about, None)

    def offer(self, about: str, unsent: UnsentConversation) -> None:
        """Offer it again, in this run and the next."""
        self._offered[about] = unsent
        self._screen.run_worker(self.keep(about, unsent), group="unsent")

    def drop(self, about: str, unsent: UnsentConversation) -> None:
        """Forget it for the next run, unless another deck has replaced it."""
        self._screen.run_worker(self._change(about, unsent, drop=True), group="unsent")

    async def keep(self, about: str, unsent: UnsentConversation) -> None:
        """Keep it for the next run."""
        await self._change(about, unsent, drop=False)

    async def _change(self, about: str, unsent: UnsentConversation, *, drop: bool) -> None:
        def change(kept: UnsentConversation | None) -> UnsentConversation | None:
            if drop:
                return None if kept is None or kept.entered == unsent.entered else kept
            return unsent

        async with self._turn:
            with self._screen.saying_errors():
                await self._screen.app.state.change(UnsentConversation, about, change)
