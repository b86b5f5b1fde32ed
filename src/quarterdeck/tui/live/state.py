"""All that is known through one connection: what answers there, three lists, and what follows from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from quarterdeck.client.errors import ServiceError
from quarterdeck.fleet.conversations import last_execution_status
from quarterdeck.fleet.displacement import guessed
from quarterdeck.fleet.records import Changes
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row
from quarterdeck.fleet.start_tasks import in_progress
from quarterdeck.fleet.watch import Watch
from quarterdeck.tui.live.homes import Homes, Unsettled
from quarterdeck.tui.live.knocking import Knocking
from quarterdeck.tui.live.looking import Looking
from quarterdeck.tui.live.news import About, News
from quarterdeck.tui.live.remembered import Remembered
from quarterdeck.tui.live.server_watch import ServerWatch
from quarterdeck.tui.live.sources import AtRest, ConversationSource, SandboxSource, StartTaskSource, no_keys
from quarterdeck.tui.live.unseen_marks import UnseenMarks
from quarterdeck.tui.live.watched import WatchedConversations
from quarterdeck.tui.notes import Notes

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.client.models.capabilities import Server
    from quarterdeck.client.models.conversation import Conversation, StartTask
    from quarterdeck.client.models.sandbox import Sandbox
    from quarterdeck.config.connections import Connection
    from quarterdeck.tui.live.bulk import Job

ALIKE = 100
"""Sandboxes whose ids are looked at for what kind of server it is: they are all named alike."""


class LiveState:
    """What is read through one client; `publish` is told what there is news of."""

    def __init__(
        self,
        client: Client,
        publish: Callable[[News], None],
        clock: Callable[[], datetime],
        endpoint: Connection,
        notes: Notes | None = None,
        at_rest: AtRest = no_keys,
    ) -> None:
        self.client = client
        self.server_watch = ServerWatch(client, publish)
        self.homes = Homes()
        self._unsettled = Unsettled(self.homes)
        self.job: Job | None = None
        """The bulk command that was given last."""
        self.last_statuses: dict[str, str | None] = {}
        """The last word of the agent in each conversation."""
        self.followed: set[str] = set()
        """Start tasks created here."""
        self.sandboxes = Watch(SandboxSource(client, at_rest), self._sandboxes_read)
        self._conversation_source = ConversationSource(client, at_rest)
        self.conversations = Watch(self._conversation_source, self._conversations_read)
        self.start_tasks = Watch(StartTaskSource(client), self._start_tasks_read)
        self._publish = publish
        self._clock = clock
        notes = notes or Notes()
        self._remembered = Remembered(notes, endpoint, publish)
        self.memories = self._remembered.memories
        self.displacing = self._remembered.displacing
        self.dismissed = self._remembered.dismissed
        """Start tasks put away, here or in an earlier run."""
        self.unseen = UnseenMarks(notes, endpoint, self.conversations, self.last_statuses, publish, clock)
        self.watched = WatchedConversations(
            notes, endpoint, self.conversations, self.last_statuses, publish, clock, self._tell_watches
        )
        self._known_whole: dict[About, bool] = {}
        self._looking = Looking(
            {
                About.SANDBOXES: self.sandboxes,
                About.CONVERSATIONS: self.conversations,
                About.START_TASKS: self.start_tasks,
            }
        )
        self._knocking = Knocking(client, self.memories, publish, clock)
        self._running: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Read until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._running = group
            # What is looked at first is asked for first: each answer takes its milliseconds.
            group.create_task(self.conversations.run())
            group.create_task(self.sandboxes.run())
            group.create_task(self.start_tasks.run())
            group.create_task(self.server_watch.run())
            group.create_task(self._remembered.run())
            group.create_task(self.unseen.run())
            group.create_task(self.watched.run())

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

    def begin(self, job: Job) -> None:
        """Carry out a job; it goes on whatever is shown, and ends with the connection."""
        if self._running is not None:
            self.job = job
            self._running.create_task(self._carry_out(job))

    async def _carry_out(self, job: Job) -> None:
        await job.run.run()
        self._publish(News(About.SANDBOXES, words=f"{job.result} B shows it."))

    # What is looked at

    def look(self, about: About, visible: Sequence[str]) -> None:
        """Say which rows of which list are on the screen; the other lists rest."""
        self._looking.look(about, visible)
        self._tell_watches()

    def rest(self, *, hidden: bool) -> None:
        """Say whether the terminal is out of sight."""
        self._looking.hidden = hidden
        self._tell_watches()

    def _tell_watches(self) -> None:
        now = self._clock()
        tasks = in_progress(self.start_tasks.records.values(), now)
        moving = self.memories.transitional(now)
        in_sight = (record.id for home in self._looking.visible(About.SANDBOXES) for record in self.homes.of(home))
        unsettled = self._unsettled.among(chain(self._looking.visible(About.CONVERSATIONS), in_sight), moving)
        self._looking.tell(About.SANDBOXES, moving)
        self._looking.tell(About.CONVERSATIONS, unsettled, self.watched.ids)
        self._looking.tell(About.START_TASKS, tasks)

    # What is read

    def _sandboxes_read(self, changes: Changes[Sandbox]) -> None:
        self.server_watch.doubt_after_failure(About.SANDBOXES, self.sandboxes.health)
        now = self._clock()
        other = changes.added | changes.changed
        fresh = self.memories.observe(changes.read, now, beginning=changes.all_known, other=other)
        self.memories.forget(changes.gone)
        self._unsettled.changed(fresh - changes.added)
        self._knocking.at(self._looking.visible(About.SANDBOXES), now)
        self._tell_watches()
        came_or_went = changes.added | changes.gone
        self._publish(News(About.SANDBOXES, fresh | changes.changed | came_or_went))
        living_there = [record.id for sandbox_id in came_or_went for record in self.homes.of(sandbox_id)]
        self._publish_of(About.CONVERSATIONS, living_there, self._completed(About.SANDBOXES, self.sandboxes))
        self._remembered.find_displaced(now, self.homes.title_in)
        if self.job is not None:
            # A state may last for one reading only, and later ones may tell more of what counted as not done.
            self.job.run.look()
        if fresh or changes.gone:
            self._remembered.changed()

    def _conversations_read(self, changes: Changes[Conversation]) -> None:
        self.server_watch.doubt_after_failure(About.CONVERSATIONS, self.conversations.health)
        other = changes.changed | changes.added
        for record in changes.read:
            if record.id in other:
                self.last_statuses[record.id] = last_execution_status(self.last_statuses.get(record.id), record)
        for gone in changes.gone:
            self.last_statuses.pop(gone, None)
        ids = other | changes.gone | self.unseen.read(changes.read, other)
        homes = self.homes.update(self.conversations.records, ids)
        self.watched.read()
        self._unsettled.read(changes.read, self.memories.transitional(self._clock()))
        self._tell_watches()
        self._publish(News(About.CONVERSATIONS, ids))
        self._publish_of(About.SANDBOXES, homes, self._completed(About.CONVERSATIONS, self.conversations))

    def _start_tasks_read(self, changes: Changes[StartTask]) -> None:
        self._tell_watches()
        ended = {record.app_conversation_id for record in changes.read} - {None}
        if not ended <= self.conversations.records.keys() and changes:
            self.conversations.refresh()
            self.sandboxes.refresh()
        self._publish(News(About.START_TASKS, changes.changed | changes.added | changes.gone))

    def _publish_of(self, about: About, ids: Iterable[str], everything: bool) -> None:
        """Tell what a reading of one list means for the other one."""
        if (touched := frozenset(ids)) or everything:
            self._publish(News(about, touched, everything))

    def _completed(self, about: About, watch: Watch[Any]) -> bool:
        """Whether it changed with this reading if all of a list is known: on that hangs what is an orphan."""
        whole = not watch.health.incomplete
        before = self._known_whole.get(about, False)
        self._known_whole[about] = whole
        return whole is not before

    # Rows

    def sandbox_row(self, sandbox_id: str, before: SandboxRow | None = None) -> SandboxRow | None:
        """What a list says of a sandbox, `before` itself when nothing changed; None when there is no such one."""
        record = self.sandboxes.records.get(sandbox_id)
        memory = self.memories.by_id.get(sandbox_id)
        if record is None or memory is None:
            return None
        return sandbox_row(
            record,
            memory,
            self.homes.of(sandbox_id),
            before,
            complete=not self.conversations.health.incomplete,
            last_told=self.last_statuses,
        )

    @property
    def all_sandboxes(self) -> Mapping[str, Sandbox] | None:
        """The sandboxes by id, None until they have been read completely."""
        return None if self.sandboxes.health.incomplete else self.sandboxes.records

    @property
    def conversations_left(self) -> int:
        """How many conversations have not been read yet, as far as the server said how many there are."""
        if not self.conversations.health.incomplete:
            return 0
        return max((self._conversation_source.total or 0) - len(self.conversations.records), 0)

    @property
    def cap(self) -> int | None:
        """About how many sandboxes the server lets run at a time, None when that is not known."""
        return guessed(self.displacing.cap, islice(self.sandboxes.records, ALIKE)).about
