"""One open connection: client, stores, watches and jobs, and what a person can ask for.

It knows no screen: whoever owns it gives a `publish` and is told which ids changed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.bulk import BulkAction, BulkJob, change_verdict
from quarterdeck.fleet.conversations import ConversationRow, conversation_row, with_last_word
from quarterdeck.fleet.displacement import Displacement, forecast, running_oldest_first
from quarterdeck.fleet.health import HealthState
from quarterdeck.fleet.kept import Keeper, StateFiles
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import Residents, SandboxRow, sandbox_row, short_id
from quarterdeck.fleet.server_watch import ServerWatch
from quarterdeck.fleet.start_tasks import has_ended, in_progress, start_row, worth_showing
from quarterdeck.fleet.unread import Unread, Watched
from quarterdeck.fleet.watch import Changes, Watch
from quarterdeck.fleet.writes import LOST, Starts, Writes

ALIKE = 100
"""Ids of sandboxes that are looked at to tell what kind of server it is: all of them have one format."""


class Session:
    """What is known through one client, and what is asked for through it, which raises ServiceError.

    `publish` is told what there is news of. `files` keep what outlives a run about the server, under the name `about`;
    without them nothing is kept.
    """

    def __init__(
        self,
        client: Client,
        publish: Callable[[News], None],
        clock: Callable[[], datetime],
        files: StateFiles | None = None,
        about: str = "",
    ) -> None:
        self.client = client
        self._publish = publish
        self._clock = clock
        self._keeper = None if files is None else Keeper(files, about, publish)
        self.server = ServerWatch(client, publish)
        self.sandboxes = Watch(client.sandboxes, self._sandboxes_read)
        self.conversations = Watch(client.conversations, self._conversations_read, carry=with_last_word)
        self.start_tasks = Watch(client.start_tasks, self._start_tasks_read)
        self._beginning: dict[str | None, StartTask] = {}
        """By sandbox, the start of a conversation in it that had not ended when that was last read."""
        self.writes = Writes()
        self._starts = Starts(self.writes, clock)
        self.memories = SandboxMemories(lambda: self._starts.awaited)
        self.residents = Residents()
        self.displacement = Displacement(self.memories.timelines, self.residents.title_in)
        self.unread = Unread()
        self.job: BulkJob | None = None
        """The bulk command that was given last."""
        self._looked_at: tuple[About, tuple[str, ...]] = About.SERVER, ()
        """The list on the screen, and which rows of it."""
        self._hidden = False
        self._unsettled: set[str] = set()
        """Sandboxes that changed, or are between two states, and whose conversations were not read since."""
        self._total: int | None = None
        """How many conversations there were when they were first read; None for one page, and where nobody says."""
        self._begun = False
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Read until cancelled, and first what earlier runs kept: it says what of all that is news."""
        async with asyncio.TaskGroup() as group:
            self._tasks = group
            group.create_task(self.server.run())
            if self._keeper is not None:
                for part in await self._keeper.recall((self.memories.timelines, self.displacement, self.unread)):
                    group.create_task(self._keeper.keep(part))
            # What is looked at first is asked for first: each answer takes its milliseconds.
            for watch in (self.conversations, self.sandboxes, self.start_tasks):
                group.create_task(watch.run())

    def refresh(self, *, asked: bool = False) -> None:
        """Read everything again now; where a person `asked` for it, it shows until it is done."""
        for watch in (self.sandboxes, self.conversations, self.start_tasks):
            watch.refresh(asked=asked)
        self.server.doubt()

    # What is known

    @property
    def server_clock(self) -> ServerClock:
        """What the server's moments are read by now."""
        return ServerClock(self._clock(), self.client.clock_offset)

    @property
    def conversations_left(self) -> int:
        """How many conversations have not been read yet, as far as the server said how many there are."""
        left = (self._total or 0) - len(self.conversations.records)
        return max(left, 0) if self.conversations.health.incomplete else 0

    @property
    def cap(self) -> int | None:
        """About how many sandboxes the server lets run at a time, None when that is not known."""
        return self.displacement.cap(islice(self.sandboxes.records, ALIKE))

    def forecast(self, count: int = 1) -> str:
        """What starting or resuming so many sandboxes will likely do to others; empty when nothing."""
        return forecast(self._running, self.cap, self.residents.title_in, count)

    @property
    def _running(self) -> tuple[str, ...]:
        return running_oldest_first(self.sandboxes.records.values(), self.memories.by_id)

    def sandbox_row(self, sandbox_id: str) -> SandboxRow | None:
        """What a list says of a sandbox; None when there is no such one."""
        record, memory = self.sandboxes.records.get(sandbox_id), self.memories.by_id.get(sandbox_id)
        if record is None or memory is None:
            return None
        # A conversation that could not be read may live in any of them.
        lists_all = not (self.conversations.health.incomplete or self.conversations.health.unreadable)
        start = self._beginning.get(sandbox_id)
        about_to = start is not None and in_progress((start,), self.server_clock.there)
        complete = lists_all and not about_to and not self.memories.timelines.perhaps_ours(sandbox_id)
        living = self.residents.of(sandbox_id)
        return sandbox_row(record, memory, living, complete=complete, clock=self.server_clock)

    @property
    def sandbox_rows(self) -> list[SandboxRow]:
        """The rows of all sandboxes, in the server's order."""
        return [row for row in map(self.sandbox_row, self.sandboxes.records) if row is not None]

    def conversation_row(self, conversation_id: str) -> ConversationRow | None:
        """What a list says of a conversation, or of a start that is about to be one; None when it says nothing."""
        record = self.conversations.records.get(conversation_id)
        if record is None:
            task = self.start_tasks.records.get(conversation_id)
            return start_row(task, self.server_clock) if task is not None and self._is_shown(task) else None
        return conversation_row(
            record,
            sandboxes=None if self.sandboxes.health.incomplete else self.sandboxes.records,
            unread=conversation_id in self.unread.ids,
            watched=conversation_id in self.unread.watched,
            clock=self.server_clock,
        )

    @property
    def conversation_rows(self) -> list[ConversationRow]:
        """The rows of all conversations, in the server's order."""
        return [row for row in map(self.conversation_row, self.conversations.records) if row is not None]

    def became(self, row_id: str) -> str:
        """The conversation that a start came to; any other row is what it was."""
        task = self.start_tasks.records.get(row_id)
        return row_id if task is None else task.app_conversation_id or row_id

    def _is_shown(self, task: StartTask) -> bool:
        listed, followed = self.conversations.records, self._starts.followed
        if self.conversations.health.incomplete and task.app_conversation_id is not None and task.id not in followed:
            return False  # it is among the conversations that are still to come
        now, dismissed = self.server_clock.there, self.unread.dismissed
        return worth_showing(task, now, listed=listed, followed=followed, dismissed=dismissed)

    @property
    def all_listed(self) -> bool:
        """Whether both lists have been read completely; until then more may have lost its counterpart in the other."""
        return not (self.sandboxes.health.incomplete or self.conversations.health.incomplete)

    # What is looked at

    def look(self, about: About, visible: Sequence[str]) -> None:
        """Say which rows of which list are on the screen; the other lists rest."""
        self._looked_at = about, tuple(visible)
        self._look_closely()

    def rest(self, *, hidden: bool) -> None:
        """Say whether the terminal is out of sight."""
        self._hidden = hidden
        self._look_closely()

    def _seen(self, about: About) -> tuple[str, ...]:
        """The rows of a list that are on the screen."""
        return self._looked_at[1] if self._looked_at[0] is about else ()

    def _look_closely(self) -> None:
        """Tell each watch what is on the screen and what is between two states."""
        moving = self.memories.transitional(self._clock())
        self._unsettled |= moving
        unsettled = list[str]()
        if self._unsettled:
            living = (record.id for each in self._seen(About.SANDBOXES) for record in self.residents.of(each))
            shown = chain(self._seen(About.CONVERSATIONS), living)
            unsettled = [each for each in shown if self.residents.sandbox_of(each) in self._unsettled]
        starting = in_progress(self.start_tasks.records.values(), self.server_clock.there)
        self._look_at(About.SANDBOXES, self.sandboxes, moving)
        self._look_at(About.CONVERSATIONS, self.conversations, unsettled, always=tuple(self.unread.watched))
        self.start_tasks.look(visible=(), transitional=starting, hidden=True)

    def _look_at(
        self, about: About, watch: Watch[Any], transitional: Collection[str], always: tuple[str, ...] = ()
    ) -> None:
        """What is read `always` is read as if it were on the screen."""
        hidden = self._hidden or about is not self._looked_at[0]
        visible = always if hidden else (*self._looked_at[1], *always)
        watch.look(visible=visible, transitional=transitional, hidden=hidden and not always)

    # What is read, and what follows from it

    def _sandboxes_read(self, changes: Changes[Sandbox]) -> None:
        now, came_or_went = self._clock(), changes.added | changes.gone
        fresh = self.memories.observe(changes.read, now, beginning=changes.all_known)
        self.memories.forget(changes.gone)
        self._unsettled.update(each for each in fresh - changes.added if self.residents.of(each))
        self._probe_quiet_ones(now)
        self._look_closely()
        self._publish(News(About.SANDBOXES, fresh | changes.changed | came_or_went))
        living_there = (record.id for sandbox_id in came_or_went for record in self.residents.of(sandbox_id))
        self._publish_beside(About.CONVERSATIONS, living_there, changes, self.sandboxes)
        for news in self.displacement.read(now):
            self._publish(news)
        if (found := self._starts.find_lost(About.SANDBOXES, self.sandboxes)) is not None:
            self.memories.timelines.started(found)
            words = f"The answer was lost, but it was started: {short_id(found)} is new in the list."
            self._publish(News(About.SANDBOXES, frozenset({found}), words=words, wanted=found))

    def _conversations_read(self, changes: Changes[Conversation]) -> None:
        records, clock, other = self.conversations.records, self.server_clock, changes.changed | changes.added
        if not self._begun and self.conversations.health.read_at is not None:
            self._begin(clock)
        marked = self.unread.read(changes.read, other, clock)
        touched = self.residents.update(records, other | changes.gone)
        for news in self.unread.calls(marked, records, whole=not self.conversations.health.incomplete):
            self._publish(news)
        if self._unsettled:
            read = {record.sandbox_id for record in changes.read}
            self._unsettled -= read - self.memories.transitional(clock.now)
        self._look_closely()
        if changes.all_known and any(records[each].sandbox_id not in self.sandboxes.records for each in changes.added):
            self.sandboxes.refresh()
        # The start of a conversation ends as a row when that is there.
        starts = self.start_tasks.records.keys() if changes or not changes.all_known else ()
        self._publish(News(About.CONVERSATIONS, other.union(changes.gone, marked, starts)))
        self._publish_beside(About.SANDBOXES, touched, changes, self.conversations)

    def _start_tasks_read(self, changes: Changes[StartTask]) -> None:
        before, tasks = self._beginning.keys(), self.start_tasks.records.values()
        self._beginning = {task.sandbox_id: task for task in tasks if not has_ended(task)}
        if touched := before ^ self._beginning.keys():
            self._publish(News(About.SANDBOXES, frozenset(filter(None, touched))))
        self._look_closely()
        ended = {record.app_conversation_id for record in changes.read} - {None}
        if not ended <= self.conversations.records.keys() and changes:
            self.conversations.refresh()
        if made := self._starts.read(changes.read, in_progress(changes.read, self.server_clock.there)):
            for sandbox_id in filter(None, made):
                self.memories.timelines.started(sandbox_id)
            self._publish(News(About.SANDBOXES, frozenset(self.sandboxes.records)))
        self._publish(News(About.CONVERSATIONS, changes.changed | changes.added | changes.gone))
        if (found := self._starts.find_lost(About.CONVERSATIONS, self.start_tasks)) is not None:
            self._starts.created(self.start_tasks.records[found])
            words = "The answer was lost, but it was created: its start is followed in the list."
            self._publish(News(About.CONVERSATIONS, frozenset({found}), words=words, wanted=found))

    def _publish_beside(self, about: About, ids: Iterable[str], changes: Changes[Any], watch: Watch[Any]) -> None:
        """Tell what a reading means for the other list: for all of its rows where this one is only now known whole.

        Only a whole list tells which rows of the other one have lost their counterpart.
        """
        if watch.health.back or watch.health.state is HealthState.REFUSED:
            self.server.doubt()  # another one may have been put behind the address, or the key is no longer right
        is_complete = not watch.health.incomplete
        completed = is_complete is not changes.all_known
        if (touched := frozenset(ids)) or completed:
            self._publish(News(about, touched, all_rows=completed))

    def _begin(self, clock: ServerClock) -> None:
        """Compare the clocks, and ask how many conversations there are if the first page is not all of them."""
        self._begun = True
        if clock.hint:
            self._publish(News(About.CONVERSATIONS, words=clock.hint, everywhere=True))
        if self.conversations.health.incomplete and self._tasks is not None:
            self._tasks.create_task(self._count())

    async def _count(self) -> None:
        try:
            self._total = await self.client.conversations.count(background=True)
        except ServiceError:
            return  # the list is read all the same
        self._publish(News(About.CONVERSATIONS))

    def _probe_quiet_ones(self, now: datetime) -> None:
        """Ask the agent servers of what is seen and of which readings alone say too little."""
        if self._tasks is not None:
            for sandbox_id, address in self.memories.take_checks(self._seen(About.SANDBOXES), now).items():
                self._tasks.create_task(self._probe(sandbox_id, address))

    async def _probe(self, sandbox_id: str, address: SecretStr) -> None:
        answered = await self.client.alive(address)
        if self.memories.checked(sandbox_id, self._clock(), answered=answered):
            self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))

    # What a person asks of sandboxes

    def order(self, action: Action) -> BulkAction:
        """What asks this of sandboxes, one by one or many, and what the readings say of it."""
        memories = self.memories.by_id
        return BulkAction(
            action.verb, partial(self.ask, action), lambda each: change_verdict(memories.get(each), action)
        )

    async def ask(self, action: Action, sandbox_id: str) -> None:
        """Ask this of a sandbox; it shows as under way until a reading confirms it.

        A deletion takes its workspace along.
        """
        sandboxes, running = self.client.sandboxes, self._running if action is Action.RESUME else ()
        send = {Action.PAUSE: sandboxes.pause, Action.RESUME: sandboxes.resume, Action.DELETE: sandboxes.delete}[action]
        self.memories.asked(sandbox_id, action, self._clock())
        self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
        try:
            with self.writes.under_way(f"{action} of {short_id(sandbox_id)}"):
                await send(sandbox_id)
            self.memories.answered(sandbox_id)
            if action is Action.RESUME:
                self.displacement.answered(sandbox_id, running, self._clock())
        except ServiceError as error:
            if error.kind is ErrorKind.MISSING:
                self.memories.missing(sandbox_id, self._clock())
            elif error.outcome not in LOST:
                self.memories.refused(sandbox_id)
            raise
        finally:
            self._look_closely()
            self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
            self.sandboxes.refresh()
            if action is Action.DELETE:
                self.conversations.refresh()

    async def start(self, spec_id: str | None) -> Sandbox:
        """Start a sandbox; servers answer once it is up or has failed."""
        asking = self._starts.asking(About.SANDBOXES, self.sandboxes, f"start of {spec_id or 'a sandbox'}")
        running = self._running
        try:
            with asking:
                record = await self.client.sandboxes.start(spec_id)
                self.displacement.answered(record.id, running, self._clock())
                self.memories.started(record, self._clock())
            return record
        finally:
            self._publish(News(About.SANDBOXES, frozenset(self.sandboxes.records)))
            self.sandboxes.refresh()

    def begin(self, job: BulkJob) -> None:
        """Carry out a job; it goes on whatever is shown, and ends with the connection."""
        if self._tasks is not None:
            self.job = job
            self._tasks.create_task(self._carry_out(job))

    async def _carry_out(self, job: BulkJob) -> None:
        await job.run()
        self._publish(News(About.SANDBOXES, words=f"{job.result} B shows it."))

    # What a person asks of conversations

    async def create(self, new: NewConversation) -> str | None:
        """Create a conversation; its start task is followed from then on. Gives the id of what was answered, if any."""
        try:
            with self._starts.asking(About.CONVERSATIONS, self.start_tasks, "creation of a conversation"):
                answer = await self.client.conversations.create(new)
                if answer is not None:
                    self._starts.created(answer)
            return answer.id if answer is not None else None
        finally:
            self.refresh()

    async def find_titles(self, words: str) -> int:
        """Ask the server for conversations with these words in their title; gives how many of them are new here."""
        found = await self.client.conversations.titled(words)
        new = [record for record in found if record.id not in self.conversations.records]
        self.conversations.take(new)
        return len(new)

    async def rename_conversation(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        await self._change("renaming of a conversation", self.client.conversations.rename(conversation_id, title))

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation."""
        await self._change("deletion of a conversation", self.client.conversations.delete(conversation_id))

    async def _change(self, words: str, asked: Awaitable[None]) -> None:
        """Ask for something, and read everything again afterwards."""
        try:
            with self.writes.under_way(words):
                await asked
        finally:
            self.refresh()

    def dismiss(self, task_ids: Iterable[str]) -> None:
        """Show these start tasks no longer."""
        dismissed = frozenset(task_ids)
        self.unread.dismiss(dismissed)
        self._publish(News(About.CONVERSATIONS, dismissed))

    def looked(self, conversation_ids: Iterable[str], *, ended: bool = False) -> None:
        """Note that somebody looks at these; `ended` says that they see what these came to."""
        if seen := self.unread.looked(conversation_ids, self._clock(), ended=ended):
            self._publish(News(About.CONVERSATIONS, seen))

    @property
    def watched(self) -> Sequence[Watched]:
        """The conversations watched, the one that needs a person most first."""
        return self.unread.by_urgency(self.conversations.records)

    def watch(self, conversation_ids: Sequence[str]) -> Sequence[str]:
        """Watch these as well; gives those for which there was no room."""
        records = self.conversations.records
        left_out = self.unread.watch(records[each] for each in conversation_ids if each in records)
        self._watched_changed(conversation_ids)
        return left_out

    def unwatch(self, conversation_ids: Sequence[str]) -> None:
        """Watch these no longer."""
        self.unread.unwatch(conversation_ids)
        self._watched_changed(conversation_ids)

    def _watched_changed(self, conversation_ids: Iterable[str]) -> None:
        self._look_closely()
        self._publish(News(About.CONVERSATIONS, frozenset(conversation_ids)))
