"""The known part of the log of one conversation, in the server's order, whatever way the events arrived.

Only the server's own list decides what happened. A socket reports earlier but in no reliable order, so its frames only
show that there is something to read, and what is being written right now.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.event import (
    FULL_STATE,
    AgentState,
    ConversationErrorEvent,
    DeltaEvent,
    Event,
    EventPage,
    MessageEvent,
    Policy,
    StateEvent,
    Stats,
)
from quarterdeck.fleet.entries import Entries, Entry, EntryKind, began

STREAMED = "streamed"
"""The id of the entry that is being written."""
_NOTHING_WRITTEN = Entry(STREAMED, EntryKind.AGENT, None, "agent")
LOOKED_BACK = 300
"""Among so many of the newest events the actions of all results are looked for."""
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_NOT_LISTED = frozenset({"StreamingDeltaEvent", "ServerErrorEvent", "TokenEvent"})
"""Event kinds that only a socket sends; the app server's copy lists them nevertheless."""
_ENDS_AN_ANSWER = frozenset(ExecutionStatus) - {ExecutionStatus.RUNNING, ExecutionStatus.PAUSED}
SENDING = "sending"
HELD = "waits for the tool to end"
NOT_KNOWN = "perhaps not delivered: it is looked for"
"""The delivery status of our message until the log has it: the title of its entry."""


class Transcript:
    """What is known of one conversation, and what is being written right now."""

    def __init__(self) -> None:
        self.status = ""
        """The last known status of the agent."""
        self.policy: Policy | None = None
        self.stats: Stats | None = None
        self.older: str | None = None
        """The id of the page before the known events; None at the beginning of the log."""
        self.outgoing: dict[str, Entry] = {}
        """Our messages that the log does not have yet."""
        self._log: dict[str, Event] = {}
        """The events of the server's list, by id, in its order."""
        self._entries = Entries()
        self._written = _NOTHING_WRITTEN
        self._is_whole = False
        """The socket sent the complete text that was being written; it stays until the list has it."""
        self._words_came = False
        """Words came after the status was told last."""
        self._heard: set[str] = set()
        """Ids of complete events that the socket sent and the list does not have yet."""
        self.overheard = ""
        """The id of a message that arrived while an answer was being written, which no log tells: it may ignore it."""

    # What is known

    @property
    def entries(self) -> Sequence[Entry]:
        """What happened, in the server's order; then the text being written, and our undelivered messages."""
        written = () if self._written == _NOTHING_WRITTEN else (self._written,)
        coming = (*written, *self.outgoing.values())
        return [*self._entries.listed, *coming] if coming else self._entries.listed

    @property
    def last_id(self) -> str | None:
        """The last known event of the server's list; newer ones are requested by it."""
        return next(reversed(self._log), None)

    @property
    def known(self) -> int:
        """The number of known events."""
        return len(self._log)

    @property
    def latest_at(self) -> datetime | None:
        """The time of the newest event, by the clock of the sandbox."""
        return next((event.timestamp for event in reversed(self._log.values()) if event.timestamp is not None), None)

    @property
    def waiting(self) -> bool:
        """Whether the agent waits for an answer."""
        return self.status == ExecutionStatus.WAITING_FOR_CONFIRMATION

    @property
    def running(self) -> bool:
        """Whether the agent works; what is being written shows that before the log does, but for one told to pause."""
        rests = self.waiting or self.status == ExecutionStatus.PAUSED
        writes = self._words_came and self._written != _NOTHING_WRITTEN and not (self._is_whole or rests)
        return writes or self.status == ExecutionStatus.RUNNING

    @property
    def question(self) -> tuple[Entry, ...]:
        """The actions that the agent asks about; empty if it does not wait."""
        return self._entries.open_actions if self.waiting else ()

    @property
    def under_way(self) -> Entry | None:
        """The tool call that is running."""
        return next(iter(self._entries.open_actions), None) if self.running else None

    @property
    def under_way_since(self) -> datetime | None:
        """Since when it runs, by the clock of the sandbox."""
        return began(self.under_way, self._entries.went_on) if self.under_way is not None else None

    @property
    def asked_for_anything(self) -> bool:
        """Whether a person wrote to the agent, as far as the log is known."""
        return self.older is not None or any(each.kind is EntryKind.PERSON for each in self.entries)

    @property
    def begins_in_the_middle(self) -> bool:
        """Whether the actions of some results are still to be read, probably on the page before."""
        return self._entries.lacks_actions and self.known < LOOKED_BACK

    @property
    def unanswered(self) -> Entry | None:
        """A person's message that the agent finished without reading."""
        if self.status != ExecutionStatus.FINISHED:
            return None
        answered = False
        for entry in reversed(self._entries.listed):
            if entry.id == self.overheard or (entry.kind is EntryKind.PERSON and not answered):
                return entry
            if entry.kind in (EntryKind.PERSON, EntryKind.TOOL):
                return None  # what came before, the agent has read
            answered = answered or entry.kind is EntryKind.AGENT
        return None

    @property
    def open_actions(self) -> frozenset[str]:
        """The ids of all actions without a result: what a run would do first."""
        return frozenset(entry.id for entry in self._entries.open_actions)

    def listed_after(self, event_id: str | None) -> Sequence[Event]:
        """Return the events listed after that one; all known events if it is unknown."""
        begins = list(self._log).index(event_id) + 1 if event_id in self._log else 0
        return list(self._log.values())[begins:]

    # Reading

    def begin(self, page: EventPage) -> None:
        """Replace the known events with the newest page, newest first; our undelivered messages are kept."""
        self._set_log(())
        self.older = page.next_page_id
        self.catch_up(reversed(page.events))

    def prepend(self, page: EventPage) -> None:
        """Add the page before the known events, newest first."""
        self._prepend(self._unknown(reversed(page.events)))
        self.older = page.next_page_id

    def catch_up(self, events: Iterable[Event]) -> None:
        """Add the events that the server lists after `last_id`."""
        for event in self._unknown(events):
            self._log[event.id] = event
            self._entries.add(event)
            self._arrived(event)
            self._note(event)

    def copied(self, page: EventPage, *, older: bool = False) -> None:
        """Add a page of the app server's copy, newest first; the copy is ordered by time, and its pages shift.

        Events of the same time keep the order in which they were read; an `older` page comes before the known events.
        """
        if older or not self._log:
            self.older = page.next_page_id
        known = list(self._log.values())
        told = list(self._unknown(reversed(page.events)))
        in_order = sorted((*told, *known) if older else (*known, *told), key=lambda each: each.timestamp or _BEGINNING)
        if older and in_order[len(told) :] == known:
            self._prepend(in_order[: len(told)])
        elif told:
            self._set_log(in_order)
            for event in told:
                self._arrived(event)
            for event in self._log.values():
                self._note(event)

    def hear(self, event: Event) -> None:
        """Apply a frame of the socket: text being written, or an event that ends it."""
        if isinstance(event, DeltaEvent):
            self._write(event)
        elif event.id not in self._log:
            if isinstance(event, MessageEvent) and event.source == "user" and self._written != _NOTHING_WRITTEN:
                self.overheard = event.id
            if _ends_an_answer(event):
                self._heard.add(event.id)
                self._is_whole = True
        elif _ends_an_answer(event):  # the list was faster than the words
            self._written, self._is_whole = _NOTHING_WRITTEN, False

    def state(self, state: AgentState) -> None:
        """Apply the current state of the conversation."""
        if state.execution_status:
            self.status, self._words_came = state.execution_status, False
        if "confirmation_policy" in state.model_fields_set:
            self.policy = state.confirmation_policy
        self.stats = state.stats or self.stats

    def _set_log(self, events: Iterable[Event]) -> None:
        self._log = {event.id: event for event in events}
        self._entries = Entries(self._log.values())

    def _prepend(self, events: Iterable[Event]) -> None:
        before = {event.id: event for event in events}
        self._entries.prepend(before.values())
        self._log = before | self._log

    def _unknown(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of the log that are not known."""
        return (event for event in events if event.id not in self._log and _in_log(event))

    def _arrived(self, event: Event) -> None:
        """Drop our undelivered message that a newly listed event is."""
        if isinstance(event, MessageEvent) and event.source == "user":
            arrived = next((each.id for each in self.outgoing.values() if each.text == event.text), "")
            self.outgoing.pop(arrived, None)

    def _note(self, event: Event) -> None:
        """Apply what a listed event says about the whole conversation."""
        if isinstance(event, StateEvent):
            self.state(event.state)
            if event.value == ExecutionStatus.RUNNING and self.overheard in self._log:
                self.overheard = ""  # a run reads it first
        if _ends_an_answer(event) and (self._is_whole or event.id not in self._heard):
            self._written, self._is_whole = _NOTHING_WRITTEN, False
        self._heard.discard(event.id)

    def _write(self, piece: DeltaEvent) -> None:
        """Append text; a new answer begins after a complete one, or with a frame without text."""
        anew = self._is_whole or not (piece.content or piece.reasoning_content)
        before, self._is_whole = _NOTHING_WRITTEN if anew else self._written, False
        text, thought = before.text + piece.content, before.thought + piece.reasoning_content
        self._written, self._words_came = before._replace(text=text, thought=thought), True


def _in_log(event: Event) -> bool:
    """Whether an event belongs to the log; the app server's copy also contains whole states."""
    return not (isinstance(event, StateEvent) and event.key == FULL_STATE) and event.kind not in _NOT_LISTED


def _ends_an_answer(event: Event) -> bool:
    """Whether the text being written is now complete, or never will be."""
    if isinstance(event, StateEvent):
        return event.state.execution_status in _ENDS_AN_ANSWER
    ended = isinstance(event, ConversationErrorEvent) or event.kind == "InterruptEvent"
    return ended or event.source == "agent"
