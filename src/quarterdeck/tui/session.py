"""One open connection and all that is known through it: what answers there, three lists, what was asked of sandboxes.

It knows no widget: whoever owns it gives a `publish` and is told what kind of news there is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quarterdeck.fleet.conversation_state import last_execution_status
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.records import Changes
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.start_task import in_progress
from quarterdeck.fleet.watch import Watch
from quarterdeck.service.errors import Outcome, ServiceError
from quarterdeck.tui.news import About, News
from quarterdeck.tui.server_watch import ServerWatch
from quarterdeck.tui.sources import ConversationSource, SandboxSource, StartTaskSource

if TYPE_CHECKING:
    from pydantic import SecretStr

    from quarterdeck.service.client import ServiceClient
    from quarterdeck.service.endpoint import Endpoint
    from quarterdeck.service.models.capabilities import Server
    from quarterdeck.service.models.conversation import Conversation, NewConversation, StartTask
    from quarterdeck.service.models.sandbox import Sandbox

Connect = Callable[["Endpoint", "SecretStr | None"], AbstractAsyncContextManager["ServiceClient"]]
"""Opens a client for an endpoint; a key of None means the one its configuration names."""


class Session:
    """The live state of one connection."""

    def __init__(self, client: ServiceClient, publish: Callable[[News], None], clock: Callable[[], datetime]) -> None:
        self.client = client
        self.server_watch = ServerWatch(client, publish)
        self.memories = SandboxMemories()
        self.last_statuses: dict[str, str | None] = {}
        """The last word of the agent in each conversation."""
        self.followed: set[str] = set()
        """Start tasks created here."""
        self.dismissed: set[str] = set()
        """Start tasks put away here."""
        self.sandboxes = Watch(SandboxSource(client), self._sandboxes_read)
        self.conversations = Watch(ConversationSource(client), self._conversations_read)
        self.start_tasks = Watch(StartTaskSource(client), self._start_tasks_read)
        self._publish = publish
        self._clock = clock
        self._visible: dict[About, tuple[str, ...]] = {}
        self._hidden = False
        self._knocks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Read until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.server_watch.run())
            group.create_task(self.sandboxes.run())
            group.create_task(self.conversations.run())
            group.create_task(self.start_tasks.run())

    def refresh(self) -> None:
        """Read everything again now."""
        for watch in (self.sandboxes, self.conversations, self.start_tasks):
            watch.refresh()
        self.server_watch.doubt()

    @property
    def server(self) -> Server | None:
        """What answers, None while that is not known."""
        return self.server_watch.server

    @property
    def trouble(self) -> ServiceError | None:
        """Why it is not known what answers, while it is not."""
        return self.server_watch.trouble

    @property
    def release(self) -> str:
        """The release that answers, empty while it is not known."""
        return self.server_watch.release

    @property
    def key_refused(self) -> bool:
        """Whether a protected call said that the key is wrong or missing."""
        return self.server_watch.key_refused

    # What is looked at

    def look(self, about: About, visible: Sequence[str]) -> None:
        """Say which rows of which list are on the screen; the other lists rest."""
        self._visible = {about: tuple(visible)}
        self._tell_watches()

    def rest(self, *, hidden: bool) -> None:
        """Say whether the terminal is out of sight."""
        self._hidden = hidden
        self._tell_watches()

    def _tell_watches(self) -> None:
        now = self._clock()
        tasks = in_progress(self.start_tasks.records.values(), now)
        self._tell(self.sandboxes, About.SANDBOXES, self.memories.transitional(now))
        self._tell(self.conversations, About.CONVERSATIONS, ())
        self._tell(self.start_tasks, About.START_TASKS, tasks)

    def _tell(self, watch: Watch[Any], about: About, transitional: Collection[str]) -> None:
        hidden = self._hidden or about not in self._visible
        watch.look(visible=self._visible.get(about, ()), transitional=transitional, hidden=hidden)

    # What is read

    def _sandboxes_read(self, changes: Changes[Sandbox]) -> None:
        self.server_watch.doubt_after_failure(About.SANDBOXES, self.sandboxes.health)
        now = self._clock()
        fresh = self.memories.observe(changes.read, now, beginning=not self.sandboxes.health.incomplete)
        self.memories.forget(changes.gone)
        self._knock(self._visible.get(About.SANDBOXES, ()), now)
        self._tell_watches()
        moved = bool(changes.added or changes.gone or changes.reordered)
        self._publish(News(About.SANDBOXES, fresh | changes.changed | changes.added, moved))

    def _conversations_read(self, changes: Changes[Conversation]) -> None:
        self.server_watch.doubt_after_failure(About.CONVERSATIONS, self.conversations.health)
        for record in changes.read:
            self.last_statuses[record.id] = last_execution_status(self.last_statuses.get(record.id), record)
        for gone in changes.gone:
            self.last_statuses.pop(gone, None)
        moved = bool(changes.added or changes.gone or changes.reordered)
        self._publish(News(About.CONVERSATIONS, changes.changed | changes.added, moved))

    def _start_tasks_read(self, changes: Changes[StartTask]) -> None:
        self._tell_watches()
        ended = {record.app_conversation_id for record in changes.read} - {None}
        if not ended <= self.conversations.records.keys() and changes:
            self.conversations.refresh()
            self.sandboxes.refresh()
        self._publish(News(About.START_TASKS, changes.changed | changes.added, bool(changes)))

    def _knock(self, visible: Sequence[str], now: datetime) -> None:
        for sandbox_id in self.memories.take_knocks(visible, now):
            task = asyncio.create_task(self._knock_at(sandbox_id))
            self._knocks.add(task)
            task.add_done_callback(self._knocks.discard)

    async def _knock_at(self, sandbox_id: str) -> None:
        memory = self.memories.by_id.get(sandbox_id)
        address = memory.agent_server if memory is not None else None
        if address is not None:
            answered = await self.client.knock(address)
            self.memories.knocked(sandbox_id, self._clock(), answered=answered)
            self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))

    # What is asked for; each raises ServiceError

    async def pause(self, sandbox_id: str) -> None:
        """Pause a sandbox; it shows as pausing until a reading confirms it."""
        await self._ask(sandbox_id, Action.PAUSE)

    async def resume(self, sandbox_id: str) -> None:
        """Resume a sandbox; it shows as resuming until a reading confirms it."""
        await self._ask(sandbox_id, Action.RESUME)

    async def _ask(self, sandbox_id: str, action: Action) -> None:
        self.memories.asked(sandbox_id, action, self._clock())
        self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
        resource = self.client.sandboxes
        try:
            await (resource.pause(sandbox_id) if action is Action.PAUSE else resource.resume(sandbox_id))
            self.memories.answered(sandbox_id)
        except ServiceError as error:
            if error.outcome is not Outcome.UNKNOWN:
                self.memories.refused(sandbox_id)
            raise
        finally:
            self._tell_watches()
            self.sandboxes.refresh()

    async def start(self, spec_id: str | None) -> Sandbox:
        """Start a sandbox; servers answer once it is up or has failed."""
        try:
            record = await self.client.sandboxes.start(spec_id)
            self.memories.started(record, self._clock())
            return record
        finally:
            self.sandboxes.refresh()

    async def delete_sandbox(self, sandbox_id: str) -> None:
        """Delete a sandbox with its workspace."""
        try:
            await self.client.sandboxes.delete(sandbox_id)
        finally:
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

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation."""
        try:
            await self.client.conversations.delete(conversation_id)
        finally:
            self.refresh()
