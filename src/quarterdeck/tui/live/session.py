"""One open connection: all that is known through it, and what is asked for through it.

It knows no widget: whoever owns it gives a `publish` and is told what kind of news there is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.fleet.displacement import running_oldest_first
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.tui.live.displacing import Coming
from quarterdeck.tui.live.news import About, News
from quarterdeck.tui.live.state import LiveState

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.client.client import Client
    from quarterdeck.client.models.conversation import NewConversation
    from quarterdeck.client.models.sandbox import Sandbox
    from quarterdeck.config.connections import Connection

Connect = Callable[["Connection", "SecretStr | None"], AbstractAsyncContextManager["Client"]]
"""Opens a client for an endpoint; a key of None means the one its configuration names."""


class Session(LiveState):
    """The live state of one connection, and what a person can do there; whatever is asked for raises ServiceError."""

    async def pause(self, sandbox_id: str) -> None:
        """Pause a sandbox; it shows as pausing until a reading confirms it."""
        self.displacing.asked_to_pause(sandbox_id)
        await self._ask(sandbox_id, Action.PAUSE, self.client.sandboxes.pause)

    async def resume(self, sandbox_id: str) -> None:
        """Resume a sandbox; it shows as resuming until a reading confirms it."""
        with self._looking_for_displaced() as coming:
            await self._ask(sandbox_id, Action.RESUME, self.client.sandboxes.resume)
            coming.answered(sandbox_id)

    def _looking_for_displaced(self) -> AbstractContextManager[Coming]:
        running = running_oldest_first(self.sandboxes.records.values(), self.memories.by_id)
        return self.displacing.watching(running, self._clock)

    async def _ask(self, sandbox_id: str, action: Action, send: Callable[[str], Awaitable[None]]) -> None:
        self.memories.asked(sandbox_id, action, self._clock())
        self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
        try:
            await send(sandbox_id)
            self.memories.answered(sandbox_id)
        except ServiceError as error:
            if error.kind is ErrorKind.MISSING:
                self.memories.missing(sandbox_id, self._clock())
            elif error.outcome is not Outcome.UNKNOWN:
                self.memories.refused(sandbox_id)
            raise
        finally:
            self._tell_watches()
            self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
            self.sandboxes.refresh()

    async def start(self, spec_id: str | None) -> Sandbox:
        """Start a sandbox; servers answer once it is up or has failed."""
        try:
            with self._looking_for_displaced() as coming:
                record = await self.client.sandboxes.start(spec_id)
                coming.answered(record.id)
            self.memories.started(record, self._clock())
            return record
        finally:
            self.sandboxes.refresh()

    async def delete_sandbox(self, sandbox_id: str) -> None:
        """Delete a sandbox with its workspace."""
        try:
            await self.client.sandboxes.delete(sandbox_id)
            self.memories.doubt(sandbox_id, self._clock())
        finally:
            self._tell_watches()
            self.refresh()

    async def create(self, new: NewConversation) -> str | None:
        """Create a conversation; its start task is followed from then on. Gives the id of what was answered, if any."""
        try:
            answer = await self.client.conversations.create(new)
            if answer is None:
                return None
            self.followed.add(answer.id)
            return answer.id
        finally:
            self.refresh()

    async def find_titles(self, words: str) -> int:
        """Ask the server for conversations with these words in their title; gives how many of them are new here."""
        found = await self.client.conversations.titled(words)
        new = [record for record in found if record.id not in self.conversations.records]
        self.conversations.take(new)
        return len(new)

    def put_away(self, task_ids: Iterable[str]) -> None:
        """Show these start tasks no longer."""
        put_away = frozenset(task_ids)
        self._remembered.put_away(put_away)
        self._publish(News(About.START_TASKS, put_away))

    async def rename_conversation(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        try:
            await self.client.conversations.rename(conversation_id, title)
        finally:
            self.conversations.refresh()

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation."""
        try:
            await self.client.conversations.delete(conversation_id)
        finally:
            self.refresh()
