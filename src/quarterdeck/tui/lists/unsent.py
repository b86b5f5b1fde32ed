"""What a person entered for conversations that were perhaps not created: offered again, also in the next run."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar

from pydantic import AwareDatetime, BaseModel

from quarterdeck.client.models.conversation import StartTask
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.kept import KeptModel
from quarterdeck.fleet.session import Session
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.screen import DeckScreen

LEFT = "It was not known whether it was created when the deck was left; look in the list."
CLOCKS_DIFFER = timedelta(seconds=5)
"""How far a server's clock may be off after it was compared."""


class UnsentConversation(BaseModel, frozen=True):
    """What a person entered that was not created, and why."""

    entered: Mapping[str, str | None]
    because: str
    at: AwareDatetime
    """When it was first sent, which tells one from another."""

    def was_made(self, task: StartTask, clock: ServerClock) -> bool:
        """Whether a start was asked for with the same message at that time or since."""
        created = clock.here(task.created_at)
        if task.request is None or created is None or created < self.at - CLOCKS_DIFFER:
            return False
        return (task.request.message or "") == (self.entered.get("message") or "")


class UnsentConversations(KeptModel):
    """The contents of the state file, the newest last; of several decks, each changes its own."""

    kind: ClassVar[str] = "unsent-conversations"
    unsent: tuple[UnsentConversation, ...] = ()


class Unsent:
    """What was entered and not created, by server."""

    def __init__(self, screen: DeckScreen) -> None:
        self._screen = screen
        self._offered: dict[str, list[UnsentConversation]] = {}
        """The newest last; a server is there once its state file was asked for."""
        self._to_tell: set[str] = set()
        """The servers for which a person has not been told yet that something was left there."""
        self._turn = asyncio.Lock()

    def recall(self) -> None:
        """Offer what an earlier run did not create on this connection, once."""
        if (about := self._screen.app.endpoint.about) not in self._offered:
            self._offered[about] = []
            self._screen.run_worker(self._recall(about), group="unsent")

    async def _recall(self, about: str) -> None:
        async with self._turn:  # what this run enters is noted after it
            with self._screen.saying_errors():
                kept = await self._screen.app.state.read(UnsentConversations, about)
                if kept.unsent:
                    self._to_tell.add(about)
                    self._offered[about][:0] = kept.unsent
        if (session := self._screen.app.session) is not None:
            self.look(session, None)

    def look(self, session: Session, found: str | None) -> None:
        """Drop what was entered for conversations that were created; `found` is the start whose answer was lost."""
        about, tasks = self._screen.app.endpoint.about, session.start_tasks.records
        offered, start = self._offered.get(about, []), tasks.get(found or "")
        made = [each for each in offered if any(each.was_made(task, session.server_clock) for task in tasks.values())]
        if not made and start is not None and start.request is None:
            made = offered[-1:]
        for each in made:
            offered.remove(each)
            self.drop(about, each)
        if made and found is None and about not in self._to_tell:
            self._screen.say("The conversation was created after all; the list shows it.", Tone.GOOD)
        if about in self._to_tell and session.start_tasks.health.whole:
            self._to_tell.remove(about)
            if offered:
                self._screen.say("What you entered for a conversation is kept; n shows it.", Tone.WARN)

    def take(self, about: str) -> UnsentConversation | None:
        """Return the newest that is offered, and offer it no more."""
        offered = self._offered.get(about)
        return offered.pop() if offered else None

    def offer(self, about: str, unsent: UnsentConversation) -> None:
        """Offer it again, in this run and the next."""
        self._offered.setdefault(about, []).append(unsent)
        self._screen.run_worker(self.keep(about, unsent), group="unsent")

    def drop(self, about: str, unsent: UnsentConversation) -> None:
        """Forget it for the next run."""
        self._screen.run_worker(self._keep(about, unsent, ()), group="unsent")

    async def keep(self, about: str, unsent: UnsentConversation) -> None:
        """Keep it for the next run, in place of what was noted about it before."""
        await self._keep(about, unsent, (unsent,))

    async def _keep(self, about: str, unsent: UnsentConversation, instead: tuple[UnsentConversation, ...]) -> None:
        def change(kept: UnsentConversations) -> UnsentConversations:
            others = (each for each in kept.unsent if each.at != unsent.at)
            return UnsentConversations(unsent=(*others, *instead))

        async with self._turn:
            with self._screen.saying_errors():
                await self._screen.app.state.change(UnsentConversations, about, change)
