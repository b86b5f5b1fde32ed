"""The log of one conversation as far as it is known: its order is the server's, whatever came how and when.

What happened is what the server's own list tells. A socket tells first and in no sure order, so it only says that
there is something to ask for, and what is being written right now.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.event import (
    FULL_STATE,
    ActionEvent,
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
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_NOT_LISTED = frozenset({"StreamingDeltaEvent", "ServerErrorEvent", "TokenEvent"})
"""Kinds that only a socket tells; the app server's copy has them all the same."""
_ENDS_AN_ANSWER = frozenset(ExecutionStatus) - {ExecutionStatus.RUNNING, ExecutionStatus.PAUSED}
SENDING = "sending"
HELD = "waits for the tool to end"
NOT_KNOWN = "perhaps not delivered: it is looked for"
"""How far a message of ours has come that the log does not have yet: the title of its entry."""


class Transcript:
    """What is known of one conversation, and what is being said right now."""

    def __init__(self) -> None:
        self.status = ""
        """The agent's last word for itself."""
        self.policy: Policy | None = None
        self.stats: Stats | None = None
        self.older: str | None = None
        """The page before what is known; None at the beginning of the log."""
        self.outgoing: dict[str, Entry] = {}
        """Messages of ours that the log does not have yet."""
        self._log: dict[str, Event] = {}
        """What the server's list has told, by id in its order."""
        self._entries = Entries()
        self._written = _NOTHING_WRITTEN
        self._is_whole = False
        """The socket told what was being written as a whole; it stands there until the list has it."""
        self._heard: set[str] = set()
        """What the socket told as a whole, and the list has not yet."""
        self._overheard = ""
        """A message that came while an answer was being written, which may not answer it."""

    # What is known

    @property
    def entries(self) -> Sequence[Entry]:
        """What happened, in the server's order; then what is being written, and messages on their way."""
        written = () if self._written == _NOTHING_WRITTEN else (self._written,)
        coming = (*written, *self.outgoing.values())
        return [*self._entries.listed, *coming] if coming else self._entries.listed

    @property
    def last_id(self) -> str | None:
        """The last event that the server's list has told: what follows it is asked for."""
        return next(reversed(self._log), None)

    @property
    def known(self) -> int:
        """How many events."""
        return len(self._log)

    @property
    def latest_at(self) -> datetime | None:
        """When the newest event was, by the clock of the sandbox."""
        return next((event.timestamp for event in reversed(self._log.values()) if event.timestamp is not None), None)

    @property
    def waiting(self) -> bool:
        """Whether the agent waits for an answer."""
        return self.status == ExecutionStatus.WAITING_FOR_CONFIRMATION

    @property
    def running(self) -> bool:
        """Whether the agent works."""
        return self.status == ExecutionStatus.RUNNING

    @property
    def question(self) -> tuple[Entry, ...]:
        """The actions that the agent wants to be allowed; none while it does not wait."""
        return self._entries.open_actions if self.waiting else ()

    @property
    def under_way(self) -> Entry | None:
        """The tool that runs."""
        return next(iter(self._entries.open_actions), None) if self.running else None

    @property
    def under_way_since(self) -> datetime | None:
        """Since when it runs, by the clock of the sandbox."""
        return began(self.under_way, self._entries.went_on) if self.under_way is not None else None

    @property
    def unanswered(self) -> Entry | None:
        """A person's message that the agent has not seen and will not, now that it has finished."""
        if self.status != ExecutionStatus.FINISHED:
            return None
        newest_first = self._entries.listed[::-1]
        said = next((each for each in newest_first if each.kind not in (EntryKind.QUIET, EntryKind.ERROR)), None)
        if said is not None and said.kind is EntryKind.PERSON:
            return said
        return next((each for each in newest_first if each.id == self._overheard), None)

    @property
    def open_actions(self) -> frozenset[str]:
        """The ids of all actions of which nothing came: what a run would do first."""
        return frozenset(entry.id for entry in self._entries.open_actions)

    def listed_after(self, event_id: str | None) -> Sequence[Event]:
        """What the server's list has after that event; all of it that is known where it is not known."""
        begins = list(self._log).index(event_id) + 1 if event_id in self._log else 0
        return list(self._log.values())[begins:]

    # What is read

    def begin(self, page: EventPage) -> None:
        """Take the newest page, newest first; what was known before is forgotten, but not what is on its way."""
        self._set_log(())
        self.older = page.next_page_id
        self.catch_up(reversed(page.events))

    def prepend(self, page: EventPage) -> None:
        """Take the page before what is known, newest first."""
        self._set_log((*reversed(page.events), *self._log.values()))
        self.older = page.next_page_id

    def catch_up(self, events: Iterable[Event]) -> None:
        """Take what the server lists after `last_id`."""
        for event in events:
            if event.id not in self._log and _in_log(event):
                self._log[event.id] = event
                self._entries.add(event)
                self._note(event)

    def copied(self, events: Sequence[Event], *, older: bool = False) -> None:
        """Take a page of the app server's copy, newest first: it goes by time, and its pages shift.

        What has one time keeps the order in which it was told; an `older` page was told before what is known.
        """
        told, known = events[::-1], self._log.values()
        in_order = (*told, *known) if older else (*known, *told)
        self._set_log(sorted(in_order, key=lambda event: event.timestamp or _BEGINNING))
        for event in self._log.values():
            self._note(event)

    def hear(self, event: Event) -> None:
        """Take what the socket told: what is being written, how the whole conversation is."""
        if isinstance(event, DeltaEvent):
            self._write(event)
        elif isinstance(event, StateEvent) and event.key == FULL_STATE:
            self.state(event.state)
        elif event.id not in self._log:
            if isinstance(event, MessageEvent) and event.source == "user":
                self._overheard = event.id if self._written != _NOTHING_WRITTEN else ""
            elif isinstance(event, ActionEvent) and event.tool_name != "finish":
                self._overheard = ""
            if _ends_an_answer(event):
                self._heard.add(event.id)
                self._is_whole = True

    def state(self, state: AgentState) -> None:
        """Take how the conversation is now."""
        self.status = state.execution_status or self.status
        if "confirmation_policy" in state.model_fields_set:
            self.policy = state.confirmation_policy
        self.stats = state.stats or self.stats

    def _set_log(self, events: Iterable[Event]) -> None:
        self._log = {event.id: event for event in events if _in_log(event)}
        self._entries = Entries(self._log.values())

    def _note(self, event: Event) -> None:
        """What a listed event says of the whole conversation."""
        if isinstance(event, MessageEvent) and event.source == "user":
            arrived = next((each.id for each in self.outgoing.values() if each.text == event.text), "")
            self.outgoing.pop(arrived, None)
        elif isinstance(event, StateEvent):
            self.state(event.state)
        if _ends_an_answer(event) and (self._is_whole or event.id not in self._heard):
            self._written, self._is_whole = _NOTHING_WRITTEN, False
        self._heard.discard(event.id)

    def _write(self, piece: DeltaEvent) -> None:
        """Go on writing; behind what is whole, and with a piece without words, another answer begins."""
        anew = self._is_whole or not (piece.content or piece.reasoning_content)
        before, self._is_whole = _NOTHING_WRITTEN if anew else self._written, False
        text, thought = before.text + piece.content, before.thought + piece.reasoning_content
        self._written = before._replace(text=text, thought=thought)


def _in_log(event: Event) -> bool:
    """Whether an event is one of the log; the app server's copy has whole states among them."""
    return not (isinstance(event, StateEvent) and event.key == FULL_STATE) and event.kind not in _NOT_LISTED


def _ends_an_answer(event: Event) -> bool:
    """Whether what was being written is there as a whole now, or will never be."""
    if isinstance(event, StateEvent):
        return event.state.execution_status in _ENDS_AN_ANSWER
    ended = isinstance(event, ConversationErrorEvent) or event.kind == "InterruptEvent"
    return ended or event.source == "agent"
