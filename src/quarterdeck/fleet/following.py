"""Follows one conversation: from its agent server by socket or polling, or from the app server's copy.

The first state and the order of events come from polling, to which an agent server always responds at once. The socket
is used in addition and counts as live only after its first frame, which may be delayed until a tool has ended.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import SecretStr

from quarterdeck.client.agent_server import API, AgentServer, copied_events
from quarterdeck.client.agent_socket import listen_to
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.event import FULL_STATE, DeltaEvent, Event, EventPage, StateEvent
from quarterdeck.fleet.sandbox_state import SandboxMemory
from quarterdeck.fleet.transcript import Transcript

POLL = 2.0
"""Seconds between two polls while the agent works."""
TOGETHER = 0.25
"""Seconds to collect frames of the socket before the log is read."""
REOPENED_AFTER = 5.0
"""Seconds until a broken socket is opened again."""
QUARTER = timedelta(minutes=15)
"""Time zones differ by multiples of this."""
FARTHEST = timedelta(days=365)
"""No clock is wrong by more than this."""


class Origin(StrEnum):
    """Where the events come from."""

    OPENING = "opening"
    LIVE = "live"
    POLLING = "polling"
    COPY = "server's copy"
    SANDBOX_PAUSED = "sandbox paused"
    SILENT = "no answer"
    GONE = "deleted"


RESTS = {Origin.LIVE: 15.0, Origin.POLLING: 4.0, Origin.SILENT: 4.0}
"""Seconds between two polls where `POLL` does not apply, by origin; beside a live socket few are needed."""
COPY_RESTS = 10.0
"""The same wherever the app server is asked, which reads its copy as a whole for each response."""
AgentAccess = tuple[SecretStr, SecretStr]
"""The address of a conversation on its agent server, and the key of that server."""


@dataclass(eq=False)
class Following:
    """One conversation, kept up to date while `run` runs; `changed` is called whenever there may be something new.

    `memories` have the address and key of a sandbox's agent server, as last read while it was up: a record has them
    only while the sandbox reads as running.
    """

    client: Client
    conversation_id: str
    changed: Callable[[], None]
    clock: Callable[[], datetime]
    memories: Mapping[str, SandboxMemory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.transcript = Transcript()
        self.record: Conversation | None = None
        """The app server's record, as last read."""
        self.agent: AgentServer | None = None
        """Where messages and answers can be sent; None if the conversation can only be read."""
        self.safe_socket = False
        self.origin = Origin.OPENING
        self.note = ""
        """A sentence that says why the agent server is not the source; it may contain a server's text."""
        self.unread = ""
        """A sentence that says why nothing could be read last time; empty if something was."""
        self.older_unread = ""
        """A sentence that says why the page before the known events could not be read; `run` tries it again."""
        self.as_of: datetime | None = None
        """When the state was last confirmed, by this machine's clock."""
        self.heard_at: datetime | None = None
        """When something new was last received."""
        self.zone = timedelta()
        """How far the sandbox's clock is ahead of UTC: its times have no zone."""
        self._access: AgentAccess | None = None
        self._of_agent = False
        """Whether the known events come from the agent server and not from a copy."""
        self._copied = set[str]()
        """The ids in the pages of a copy that were read last, also of what is no part of the log."""
        self._live = False
        self._doubted = False
        """Whether its record has to be read again, though its agent server answers."""
        self._wake = asyncio.Event()
        self._reading = asyncio.Lock()

    @property
    def reached(self) -> bool:
        """Whether the agent server answered last time."""
        return self.origin in (Origin.LIVE, Origin.POLLING)

    @property
    def only_read(self) -> bool:
        """Whether nobody will ever take a message here; `note` says why."""
        is_lost = self.record is not None and self.record.sandbox_status == SandboxStatus.MISSING
        return self.origin is Origin.GONE or (self.origin is Origin.COPY and is_lost)

    async def run(self) -> None:
        """Follow until cancelled; a socket is opened as well, if this server allows one at any time."""
        listening: asyncio.Task[None] | None = None
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                try:
                    await self.poll()
                    self.unread = ""
                except ServiceError as error:
                    self.unread = error.words
                if self.older_unread:
                    with suppress(ServiceError):
                        await self.older()
                if self.agent is not None and self.safe_socket and (listening is None or listening.done()):
                    listening = group.create_task(self._listen(self.agent))
                self.changed()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._rest()):
                        await self._wake.wait()
                    await asyncio.sleep(TOGETHER)

    async def poll(self) -> None:
        """Read once what is available; raises ServiceError if nothing can be read."""
        async with self._reading:
            try:
                if self.agent is not None:
                    await self._catch_up()
            except ServiceError as error:
                self._lose(Origin.SILENT, error.words)
            if self.agent is None or self._doubted:
                self._doubted = False
                try:
                    await self._find()
                except ServiceError as error:
                    self._lose(Origin.SILENT, error.words)
                    raise
            if not self._of_agent or self.origin is Origin.COPY:
                await self._read_copy()

    async def older(self) -> bool:
        """Read the page before the known events; returns whether there was one. Raises ServiceError."""
        self.older_unread = ""
        try:
            async with self._reading:
                page_id = self.transcript.older
                if page_id is None:
                    return False
                if not self._of_agent:
                    copy = await copied_events(self.client.transport, self.conversation_id, page_id)
                    self.transcript.copied(copy, older=True)
                elif self.agent is not None:
                    self.transcript.prepend(await self.agent.events(page_id, newest_first=True))
                else:
                    return False
        except ServiceError as error:
            self.older_unread = error.words
            self.changed()
            raise
        self.changed()
        return True

    async def catch_up(self) -> None:
        """Read new events from the agent server; raises ServiceError."""
        async with self._reading:
            await self._catch_up()
        self.changed()

    def refresh(self, *, gone: bool = False) -> None:
        """Poll now, because something happened to the conversation or its sandbox; `gone` means that no list has it."""
        self._doubted |= gone
        self._wake.set()

    @property
    def now(self) -> datetime:
        """The time by the sandbox's clock."""
        return self.clock() + self.zone

    def moment(self, at: datetime | None) -> datetime | None:
        """Convert a time of the sandbox's clock to UTC."""
        try:
            return at - self.zone if at is not None else None
        except OverflowError:
            return at

    def silent_for(self, now: datetime) -> timedelta:
        """Return for how long a working agent has sent nothing: its model may think, wait or be rate limited."""
        return now - self.heard_at if self.heard_at is not None and self.transcript.running else timedelta()

    # Reading

    def _rest(self) -> float:
        works = self.origin is Origin.POLLING and self.transcript.running
        return POLL if works else RESTS.get(self.origin, COPY_RESTS)

    async def _find(self) -> None:
        """Find the agent server and read from it; otherwise record why it cannot be the source."""
        record = await self.client.conversations.find(self.conversation_id, background=True)
        if record is None:
            since = " any more" if self.record is not None else ""
            self._lose(Origin.GONE, f"The server does not have this conversation{since}.")
            return
        self.record = record
        access = self._access_of(record)
        match record.sandbox_status:
            case SandboxStatus.PAUSED:
                self._lose(Origin.SANDBOX_PAUSED, "Its sandbox is paused.")
            case SandboxStatus.MISSING:
                self._lose(Origin.COPY, "Its sandbox is gone, so it can only be read.")
            case SandboxStatus.ERROR:
                self._lose(Origin.COPY, "Its sandbox is in error.")
            case SandboxStatus.STARTING if access is None:
                self._lose(Origin.COPY, "Its sandbox is starting.")
            case _ if access is None:
                self._lose(Origin.COPY, "The server does not tell where its agent is.")
            case _:
                await self._reach(access)

    async def _reach(self, access: AgentAccess) -> None:
        try:
            agent = AgentServer.at(self.client.transport, *access)
            if not await agent.alive():
                self._lose(Origin.SILENT, "Its agent server does not answer.")
                return
            self.safe_socket, state = await asyncio.gather(agent.safe_socket(), agent.state())
            self.transcript.state(state)
            self.agent, self._access = agent, access
            await self._catch_up()
        except ServiceError as error:
            if error.kind is ErrorKind.MISSING:
                self._lose(Origin.COPY, "Its agent server does not know it; it may have restarted.")
            elif error.kind is ErrorKind.AUTH:
                self._lose(Origin.SILENT, "Its agent server does not take the key that was last read for it.")
            else:
                never = error.kind in (ErrorKind.LOCAL, ErrorKind.NOT_OFFERED)
                self._lose(Origin.COPY if never else Origin.SILENT, error.words)

    async def _catch_up(self) -> None:
        """Read the events that the agent server lists after the known ones, or its newest page."""
        agent, transcript, before = self.agent, self.transcript, self.transcript.known
        if agent is None:
            raise ServiceError(ErrorKind.NOT_OFFERED, self.note or "The conversation is still being opened.")
        if not (self._of_agent and await self._read_newer(agent)):
            transcript.begin(await agent.events(newest_first=True))
        self._of_agent = True
        if transcript.known != before:
            self.heard_at = self.clock()
        self.origin, self.note = Origin.LIVE if self._live else Origin.POLLING, ""
        self.as_of = self.clock()

    async def _read_newer(self, agent: AgentServer) -> bool:
        """Read what the log has after the last known event; false if it is another log, without that event."""
        recent = self.as_of is not None and self.clock() - self.as_of < QUARTER / 2
        while (last := self.transcript.last_id) is not None:
            page = await agent.events(last)
            if not page.events or page.events[0].id != last:
                return False
            self.transcript.catch_up(page.events[1:])
            if recent and len(page.events) > 1:
                self._compare_clocks(page.events[-1])
            if page.next_page_id is None or self.transcript.last_id == last:
                return True  # a page with nothing new would be read for ever
        return False

    async def _read_copy(self) -> None:
        """Read the newest pages of the copy, back to what was known before."""
        known = self._copied | {event.id for event in self.transcript.listed_after(None)}
        pages, read, page_id = list[EventPage](), set[str](), None
        while True:
            pages.append(await copied_events(self.client.transport, self.conversation_id, page_id))
            ids, page_id = {event.id for event in pages[-1].events}, pages[-1].next_page_id
            if not known or ids & known or page_id is None or ids <= read:
                break  # a page with nothing new would be read for ever
            read |= ids
        for page in reversed(pages):
            self.transcript.copied(page)
        self._copied = read | ids
        if self.record is not None and self.record.execution_status:
            self.transcript.status = self.record.execution_status
        if self.as_of is None:
            self.as_of = self.moment(self.transcript.latest_at)

    def _lose(self, origin: Origin, note: str) -> None:
        """Stop using the agent server and record why; the next reading looks for it again."""
        self.agent, self.origin, self.note = None, origin, note

    def _access_of(self, record: Conversation) -> AgentAccess | None:
        """Return the address and key from the record, or those last read while the sandbox was up."""
        if record.conversation_url is not None and record.session_api_key is not None:
            return record.conversation_url, record.session_api_key
        memory = self.memories.get(record.sandbox_id or "")
        if memory is None or memory.agent_server is None or memory.key is None:
            return self._access
        base = memory.agent_server.get_secret_value().partition("?")[0].rstrip("/")
        return SecretStr(f"{base}{API}{record.id}"), memory.key

    # Listening

    async def _listen(self, agent: AgentServer) -> None:
        """Receive events from the socket until it ends, then wait until it may be opened again."""
        with suppress(ServiceError):
            async with aclosing(listen_to(agent)) as events:
                async for event in events:
                    self._hear(agent, event)
        if self._live:
            self._live = False
            self.refresh()
        await asyncio.sleep(REOPENED_AFTER)

    def _hear(self, agent: AgentServer, event: Event) -> None:
        self.heard_at = self.clock()
        if not self.reached:  # it is only too busy to respond
            self.agent, self.origin, self.note = agent, Origin.LIVE, ""
        if isinstance(event, StateEvent) and event.key == FULL_STATE:
            self._compare_clocks(event)  # the log tells the state together with what is asked
        else:
            self.transcript.hear(event)
        if not self._live or not isinstance(event, DeltaEvent):
            self._live = True
            self._wake.set()
        self.changed()

    def _compare_clocks(self, event: Event) -> None:
        """Compute the zone of the sandbox's clock from an event that has just happened."""
        if event.timestamp is not None and abs(ahead := event.timestamp - self.clock()) < FARTHEST:
            self.zone = round(ahead / QUARTER) * QUARTER
