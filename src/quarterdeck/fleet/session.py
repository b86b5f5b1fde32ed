"""One open connection: client, records, polling and bulk jobs, and everything a person can request.

It knows no screen: its owner passes a `publish` function that receives the changed ids.
"""

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.bulk import BulkAction, BulkJob, change_verdict
from quarterdeck.fleet.conversations import (
    DELETING,
    ConversationRow,
    conversation_row,
    has_lost_sandbox,
    with_last_status,
)
from quarterdeck.fleet.displacement import Displacement
from quarterdeck.fleet.health import HealthState
from quarterdeck.fleet.kept import Keeper, StateFiles
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import ConversationsBySandbox, SandboxRow, sandbox_row, short_id
from quarterdeck.fleet.server_watch import ServerWatch
from quarterdeck.fleet.start_tasks import in_progress, is_recent, start_row
from quarterdeck.fleet.unread import Unread
from quarterdeck.fleet.viewports import Viewports
from quarterdeck.fleet.watch import Changes, Store, Watch
from quarterdeck.fleet.writes import RESPONSE_LOST, AskedTitles, Starts, Writes


class Session:
    """What is known through one client and requested through it; requests raise ServiceError.

    `publish` receives news. `files` store what is kept between runs, for the server called `about`; without them
    nothing is kept.
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
        self._tell = publish
        self._clock = clock
        self._keeper = None if files is None else Keeper(files, about, self._publish)
        self.server = ServerWatch(client, publish, self._key_accepted)
        self._refused: set[Watch[Any]] = set()
        """The lists whose last reading was refused for its key."""
        self._whole: set[Watch[Any]] = set()
        """The lists of which every record was read."""
        self._beginning: frozenset[str | None] = frozenset()
        """The sandboxes in which a conversation was being started when last read."""
        self.writes = Writes()
        self._starts = Starts(self.writes, clock)
        self._titles = AskedTitles(clock)
        self.memories = SandboxMemories(lambda: self._starts.awaited)
        self.by_sandbox = ConversationsBySandbox()
        self.displacement = Displacement(lambda: self.sandboxes.records, self.memories, self.by_sandbox.title_in)
        self.unread = Unread(self._publish)
        self._viewports = looking = Viewports(self.memories, self.by_sandbox, self.unread, clock)
        self.sandboxes = Watch(client.sandboxes, self._sandboxes_read, looking.of_sandboxes)
        store = Store(with_last_status)
        self.conversations = Watch(client.conversations, self._conversations_read, looking.of_conversations, store)
        self.start_tasks = Watch(client.start_tasks, self._start_tasks_read, looking.of_start_tasks)
        # What the person looks at first is read first: each response takes some milliseconds to process.
        self._watches: dict[str, Watch[Any]] = {
            About.CONVERSATIONS: self.conversations,
            About.SANDBOXES: self.sandboxes,
            "starts of conversations": self.start_tasks,
        }
        self.job: BulkJob | None = None
        """The last bulk command."""
        self._deleting: dict[str, bool] = {}
        """Conversations whose deletion was requested, and whether the server has answered; a reading ends it."""
        self._gone: set[str] = set()
        """Conversations that are listed no more: the start of one is over, even where the server still lists it.

        Once no start is in progress, which might be of one of these, only those that a start names are kept."""
        self._total: int | None = None
        """How many conversations there were at first; None if there is only one page or the server does not tell."""
        self._begun = False
        self._tasks: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Restore what earlier runs kept, then poll until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._tasks = group
            group.create_task(self.server.run())
            if self._keeper is not None:
                for part in await self._keeper.recall((self.memories.timelines, self.displacement, self.unread)):
                    group.create_task(self._keeper.keep(part))
            for watch in self._watches.values():
                group.create_task(watch.run())
            try:
                await asyncio.Event().wait()
            finally:
                self._tasks = None

    def refresh(self, *, asked: bool = False) -> None:
        """Read everything again now; `asked` means that a person requested it, which is shown until it is done."""
        for watch in self._watches.values():
            watch.refresh(asked=asked)
        self.server.doubt()

    # What is known

    @property
    def server_clock(self) -> ServerClock:
        """The clock to read the server's times with."""
        return ServerClock(self._clock(), self.client.clock_offset)

    @property
    def conversations_left(self) -> int:
        """How many conversations have not been read yet, if the server told how many there are."""
        left = (self._total or 0) - len(self.conversations.records)
        return max(left, 0) if self.conversations.health.incomplete else 0

    def sandbox_row(self, sandbox_id: str) -> SandboxRow | None:
        """Return the row of a sandbox; None if it is not known."""
        record, memory = self.sandboxes.records.get(sandbox_id), self.memories.by_id.get(sandbox_id)
        if record is None or memory is None:
            return None
        living, complete = self.by_sandbox.of(sandbox_id), self._lists_all_in(sandbox_id)
        return sandbox_row(record, memory, living, complete=complete, clock=self.server_clock)

    def _lists_all_in(self, sandbox_id: str) -> bool:
        """Whether all conversations in a sandbox are known; one or a start that was not read may be in any sandbox."""
        about_to = sandbox_id in self._beginning or self.memories.timelines.perhaps_ours(sandbox_id)
        return self.conversations.health.whole and self.start_tasks.health.whole and not about_to

    @property
    def sandbox_rows(self) -> list[SandboxRow]:
        """The rows of all sandboxes, in the server's order."""
        return [row for row in map(self.sandbox_row, self.sandboxes.records) if row is not None]

    @property
    def sandboxes_without_conversation(self) -> list[str]:
        """The ids of sandboxes that no conversation is in, in the server's order."""
        return [each for each in self.sandboxes.records if not self.by_sandbox.of(each) and self._lists_all_in(each)]

    def conversation_row(self, conversation_id: str) -> ConversationRow | None:
        """Return the row of a conversation or of a start that is shown; None if there is no row."""
        record = self.conversations.records.get(conversation_id)
        if record is None:
            task = self.start_tasks.records.get(conversation_id)
            return start_row(task, self.server_clock) if task is not None and self._is_shown(task) else None
        memory, newer = self.memories.by_id.get(record.sandbox_id or ""), ""
        if memory is not None and (memory.pending is not None or record.sandbox_id in self._viewports.unsettled):
            newer = memory.state(self._clock()).word
        row = conversation_row(record, self._all_sandboxes, newer, self.server_clock)
        row = row._replace(unread=record.id in self.unread.ids, watched=record.id in self.unread.watched)
        return row._replace(state=DELETING) if record.id in self._deleting else row

    @property
    def conversation_rows(self) -> list[ConversationRow]:
        """The rows of all conversations, in the server's order."""
        return [row for row in map(self.conversation_row, self.conversations.records) if row is not None]

    @property
    def conversations_without_sandbox(self) -> list[str]:
        """The ids of conversations whose sandbox is gone, in the server's order."""
        records, sandboxes = self.conversations.records, self._all_sandboxes
        return [each for each, record in records.items() if has_lost_sandbox(record, sandboxes)]

    @property
    def _all_sandboxes(self) -> Container[str] | None:
        """The ids of all sandboxes, None until they have been read."""
        return self.sandboxes.records if self.sandboxes.health.whole else None

    def current_id(self, row_id: str) -> str:
        """Return the id of the conversation that a start task became; any other id is returned as it is."""
        task = self.start_tasks.records.get(row_id)
        return row_id if task is None else task.app_conversation_id or row_id

    def _is_shown(self, task: StartTask) -> bool:
        """Whether a start has a row of its own: until its conversation is listed or its failure was dismissed."""
        became = task.app_conversation_id
        if task.id in self.unread.dismissed or became in self.conversations.records or became in self._gone:
            return False
        if task.id in self._starts.followed:
            return True
        comes_later = self.conversations.health.incomplete and became is not None
        return not comes_later and is_recent(task, self.server_clock.there)

    @property
    def all_listed(self) -> bool:
        """Whether every record of all lists has been read; otherwise a missing counterpart may just be unread."""
        return all(watch.health.whole for watch in self._watches.values())

    def reading_error(self, about: About) -> str:
        """Return the error of the last reading of a list, otherwise of another one that its rows depend on."""
        if (error := self._watches[about].health.error) is not None:
            return error.sentences
        failed = ((noun, watch.health.error) for noun, watch in self._watches.items())
        return next((f"The {noun} were not read: {error.sentences}" for noun, error in failed if error is not None), "")

    # What is on the screen

    def set_viewport(self, about: About, visible: Sequence[str]) -> None:
        """Set which list is on the screen and which rows are visible; the other lists are polled less."""
        self._viewports.shown = about, tuple(visible)
        self._wake()

    def rest(self, *, hidden: bool) -> None:
        """Set whether the terminal is hidden."""
        self._viewports.hidden = hidden
        self._wake()

    def _wake(self) -> None:
        for watch in self._watches.values():
            watch.wake()

    def _publish(self, news: News) -> None:
        """Publish news; what is read next may depend on it."""
        self._tell(news)
        self._wake()

    # Consequences of readings

    def _sandboxes_read(self, changes: Changes[Sandbox]) -> None:
        now, came_or_went = self._clock(), changes.added | changes.gone
        fresh = self.memories.observe(changes.read, now, beginning=changes.all_known)
        self.memories.forget(changes.gone)
        unsettled = {each for each in fresh - changes.added if self.by_sandbox.of(each)}
        self._viewports.changed(unsettled)
        self._probe_quiet_ones(now)
        if changes.all_known and changes.added:
            self.start_tasks.refresh()  # starts tell whose it is: a conversation is listed only later
        self._publish(News(About.SANDBOXES, fresh | changes.changed | came_or_went))
        self._check_server(changes, self.sandboxes)
        counterparts = self.by_sandbox.ids_in(came_or_went | unsettled)
        self._publish_counterparts(About.CONVERSATIONS, counterparts, self.sandboxes)
        for news in self.displacement.read(now):
            self._publish(news)
        if (found := self._starts.find_lost(self.sandboxes)) is not None:
            self.memories.timelines.started(found)
            words = f"The answer was lost, but it was started: {short_id(found)} is new in the list."
            self._publish(News(About.SANDBOXES, frozenset({found}), words=words, wanted=found))

    def _conversations_read(self, changes: Changes[Conversation]) -> None:
        records, clock, other = self.conversations.records, self.server_clock, changes.changed | changes.added
        health = self.conversations.health
        if not self._begun and health.read_at is not None:
            self._begin(clock)
        marked = self.unread.read(changes.read, other, clock)
        kept = {record.id for record in changes.read if self._deleting.get(record.id)}
        self._gone |= changes.gone
        for each in kept | changes.gone:
            self._deleting.pop(each, None)
        touched = self.by_sandbox.update(records, other | changes.gone)
        for news in self.unread.calls(marked, records, whole=health.whole and not health.partial):
            self._publish(news)
        for conversation_id, title in self._titles.not_given(changes.read):
            if self._tasks is not None:
                self._tasks.create_task(self._give_title(conversation_id, title))
        settled = self._viewports.read(record.sandbox_id for record in changes.read if record.sandbox_id)
        if changes.all_known and any(records[each].sandbox_id not in self.sandboxes.records for each in changes.added):
            self.sandboxes.refresh()
        if changes.added and self._viewports.starting:
            self.start_tasks.refresh()  # until then it would be listed twice, as a start and as itself
        # A start task's row disappears once its conversation is listed.
        starts = self.start_tasks.records.keys() if changes or not changes.all_known else ()
        self._publish(
            News(About.CONVERSATIONS, other.union(changes.gone, marked, kept, starts, self.by_sandbox.ids_in(settled)))
        )
        self._check_server(changes, self.conversations)
        self._publish_counterparts(About.SANDBOXES, touched, self.conversations)

    def _start_tasks_read(self, changes: Changes[StartTask]) -> None:
        before, tasks = self._beginning, self.start_tasks.records
        going_on = self._viewports.starting = in_progress(tasks.values(), self.server_clock.there)
        self._beginning = frozenset(tasks[each].sandbox_id for each in going_on)
        if not (going_on or self.start_tasks.health.incomplete):
            self._gone &= {task.app_conversation_id for task in tasks.values()}
        self._check_server(changes, self.start_tasks)
        self._publish_counterparts(About.SANDBOXES, filter(None, before ^ self._beginning), self.start_tasks)
        for task in changes.read:
            if task.id in self._starts.followed and task.app_conversation_id and task.request:
                self._titles.ask(task.app_conversation_id, task.request.title)
            if (repeated := self._starts.followed.get(task.id)) and repeated not in self.unread.dismissed:
                self.unread.dismiss((repeated,))
        ended = {record.app_conversation_id for record in changes.read} - {None}
        if not ended <= self.conversations.records.keys() and changes:
            self.conversations.refresh()
        if made := self._starts.read(changes.read, going_on):
            for sandbox_id in filter(None, made):
                self.memories.timelines.started(sandbox_id)
            self._publish(News(About.SANDBOXES, frozenset(self.sandboxes.records)))
        self._publish(News(About.CONVERSATIONS, changes.changed | changes.added | changes.gone))
        if (found := self._starts.find_lost(self.start_tasks)) is not None:
            self._starts.created(self.start_tasks.records[found])
            words = "The answer was lost, but it was created: its start is followed in the list."
            self._publish(News(About.CONVERSATIONS, frozenset({found}), words=words, wanted=found))

    def _check_server(self, changes: Changes[Any], watch: Watch[Any]) -> None:
        """Read everything again where a reading looks as if another server answered, or as if a server was away."""
        refused = {watch} if watch.health.state is HealthState.REFUSED else set()
        if changes.gone and watch.records.keys() <= changes.added:
            self.refresh()  # no list may show rows of the server before beside those of another one
        elif watch.health.back or refused - self._refused:
            self.server.doubt()  # another server may now answer at the address, or the key is no longer valid
            for other in self._watches.values():
                if other.health.failures and (error := other.health.error) and error.retry_after is None:
                    other.refresh()  # until its own next try it would say that nothing answers
        self._refused = self._refused - {watch} | refused

    def _publish_counterparts(self, about: About, ids: Iterable[str], watch: Watch[Any]) -> None:
        """Publish the rows of one list that show something of what was read for another.

        If that list has just become complete (or incomplete), these are all rows: only a complete list shows which of
        them have no counterpart.
        """
        if completed := (watch in self._whole) is not watch.health.whole:
            self._whole ^= {watch}
        if (touched := frozenset(ids)) or completed:
            self._publish(News(about, touched, all_rows=completed))

    def _key_accepted(self) -> None:
        """Read again what was refused: it may have been something in front of the server."""
        for watch in self._refused:
            watch.refresh()

    def _begin(self, clock: ServerClock) -> None:
        """Compare the clocks, and request the number of conversations if the first page is not all."""
        self._begun = True
        if clock.hint:
            self._publish(News(About.CONVERSATIONS, words=clock.hint, everywhere=True))
        if self.conversations.health.incomplete and self._tasks is not None:
            self._tasks.create_task(self._count())

    async def _count(self) -> None:
        try:
            self._total = await self.client.conversations.count(background=True)
        except ServiceError:
            return  # the list is read anyway
        self._publish(News(About.CONVERSATIONS))

    def _probe_quiet_ones(self, now: datetime) -> None:
        """Check the agent servers of visible sandboxes whose readings alone do not tell their state."""
        if self._tasks is not None:
            seen = self._viewports.seen(About.SANDBOXES)
            for sandbox_id, address in self.memories.take_checks(seen, now).items():
                self._tasks.create_task(self._probe(sandbox_id, address))

    async def _probe(self, sandbox_id: str, address: SecretStr) -> None:
        answered = await self.client.alive(address)
        if self.memories.checked(sandbox_id, self._clock(), answered=answered):
            self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))

    # Requests about sandboxes

    def bulk_action(self, action: Action) -> BulkAction:
        """Return a bulk action that sends this request, with the result according to the readings."""
        send, memories = partial(self.request, action), self.memories.by_id
        return BulkAction(action.verb, send, lambda each: change_verdict(memories.get(each), action))

    async def request(self, action: Action, sandbox_id: str) -> None:
        """Send this request for a sandbox; it is shown as under way until a reading confirms it.

        A deletion also deletes its workspace.
        """
        sandboxes = self.client.sandboxes
        send = {Action.PAUSE: sandboxes.pause, Action.RESUME: self._resume, Action.DELETE: sandboxes.delete}[action]
        self.memories.asked(sandbox_id, action, self._clock())
        self._publish_asked(sandbox_id)
        try:
            with self.writes.under_way(f"{action} of {short_id(sandbox_id)}"):
                await send(sandbox_id)
            self.memories.answered(sandbox_id)
        except ServiceError as error:
            if error.kind is ErrorKind.MISSING:
                self.memories.missing(sandbox_id, self._clock())
            elif error.outcome not in RESPONSE_LOST:
                self.memories.refused(sandbox_id)
            raise
        finally:
            self._publish_asked(sandbox_id)
            self.sandboxes.refresh()
            if action is Action.DELETE:
                self.conversations.refresh()

    def _publish_asked(self, sandbox_id: str) -> None:
        """Publish that a request about a sandbox was made: its conversations show that, too."""
        self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
        self._publish(News(About.CONVERSATIONS, self.by_sandbox.ids_in((sandbox_id,))))

    async def _resume(self, sandbox_id: str) -> None:
        with self.displacement.asking() as asked:
            await self.client.sandboxes.resume(sandbox_id)
            asked.answered(sandbox_id, self._clock())

    async def start(self, spec_id: str | None) -> Sandbox:
        """Start a sandbox; servers respond once it is up or has failed."""
        words = f"start of {spec_id or 'a sandbox'}"
        try:
            with self._starts.asking(self.sandboxes, words), self.displacement.asking() as asked:
                record = await self.client.sandboxes.start(spec_id)
                asked.answered(record.id, self._clock())
                self.memories.started(record, self._clock())
            return record
        finally:
            self._publish(News(About.SANDBOXES, frozenset(self.sandboxes.records)))
            self.sandboxes.refresh()

    def begin(self, job: BulkJob) -> None:
        """Run a bulk job; it continues whatever is shown, and ends with the connection."""
        if self._tasks is None:
            words = "The connection was left or opened anew meanwhile, so nothing was sent."
            self._tell(News(About.SANDBOXES, words=words, everywhere=True))
            return
        self.job = job
        self._tasks.create_task(self._carry_out(job))

    async def _carry_out(self, job: BulkJob) -> None:
        await job.run()
        self._publish(News(About.SANDBOXES, words=f"{job.result} B shows it."))

    # Requests about conversations

    async def create(self, new: NewConversation, repeats: str | None = None) -> str | None:
        """Create a conversation and follow its start; returns the id in the response, if any.

        The failed start that it `repeats` is dismissed once the new one is listed, so that the cursor has a row.
        """

        def may_be(task: StartTask) -> bool:
            told = None if task.request is None else task.request.message
            return told is None or told == new.message

        try:
            with self._starts.asking(self.start_tasks, "creation of a conversation", may_be):
                answer = await self.client.conversations.create(new)
                if answer is not None:
                    self._starts.created(answer, repeats)
                    if isinstance(answer, Conversation):  # otherwise its start will say which one it is
                        self._titles.ask(answer.id, new.title)
            return answer.id if answer is not None else None
        finally:
            self.refresh()

    async def find_titles(self, words: str) -> tuple[int, bool]:
        """Search the server for conversations with these words in the title.

        Returns how many new ones were found, and whether the server has more than it told.
        """
        page = await self.client.conversations.titled(words)
        new = [record for record in page.items if record.id not in self.conversations.records]
        self.conversations.take(new)
        return len(new), page.more

    async def rename_conversation(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._titles.settle(conversation_id)
        await self._change("renaming of a conversation", self.client.conversations.rename(conversation_id, title))

    async def _give_title(self, conversation_id: str, title: str) -> None:
        """Rename a conversation as its creation asked for (SERVERS.md: creating a conversation)."""
        try:
            await self.client.conversations.rename(conversation_id, title)
        except ServiceError as error:
            self._titles.settle(conversation_id)
            self._publish(News(About.CONVERSATIONS, words=f"It is not called “{title}”: {error.sentences}"))
        else:
            self.conversations.refresh()

    async def delete_conversation(self, conversation_id: str) -> None:
        """Delete a conversation; it shows as being deleted until the server refuses that or a reading tells."""
        news = News(About.CONVERSATIONS, frozenset({conversation_id}))
        self._deleting[conversation_id] = False
        self._publish(news)
        try:
            await self._change("deletion of a conversation", self.client.conversations.delete(conversation_id))
        except ServiceError as error:
            if error.outcome not in RESPONSE_LOST:
                self._deleting.pop(conversation_id, None)
                self._publish(news)
            raise
        finally:
            if conversation_id in self._deleting:
                self._deleting[conversation_id] = True

    async def _change(self, words: str, asked: Awaitable[None]) -> None:
        """Await a request, and read everything again afterwards."""
        try:
            with self.writes.under_way(words):
                await asked
        finally:
            self.refresh()

    def saw(self, conversation_id: str, status: str) -> None:
        """Note with which status of its agent somebody left a conversation: the list may read it only later."""
        if (record := self.conversations.records.get(conversation_id)) is not None:
            seen = replace(record, sandbox_status=SandboxStatus.RUNNING, execution_status=status)
            self.unread.read((seen,), (conversation_id,), self.server_clock)
            self.unread.mark_read((conversation_id,), self._clock())
            self.conversations.take((seen,))
