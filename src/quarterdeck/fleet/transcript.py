"""The log of one conversation as far as it is known: its order is the server's, whatever came how and when.

What happened is what the server's own list tells. A socket tells first and in no sure order, so it only says that
there is something to ask for, and what is being written right now.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.event import (
    FULL_STATE,
    ActionEvent,
    AgentState,
    ConversationErrorEvent,
    Delta,
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
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_NOT_LISTED = frozenset({"ServerErrorEvent", "TokenEvent"})
"""Kinds that only a socket tells."""
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
        self._log: list[Event] = []
        self._listed: set[str] = set()
        self._made: Entries | None = None
        """The entries of all that is known; None where they have to be made anew."""
        self._written = self._thought = ""
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
        listed = self._entries.listed
        written = self._being_written()
        if written is None and not self.outgoing:
            return listed
        return [*listed, *([written] if written is not None else ()), *self.outgoing.values()]

    @property
    def _entries(self) -> Entries:
        if self._made is None:
            self._made = Entries(self._log)
        return self._made

    @property
    def last_id(self) -> str | None:
        """The last event that the server's list has told: what follows it is asked for."""
        return self._log[-1].id if self._log else None

    @property
    def known(self) -> int:
        """How many events."""
        return len(self._log)

    @property
    def latest_at(self) -> datetime | None:
        """When the newest event was, by the clock of the sandbox."""
        return next((event.timestamp for event in reversed(self._log) if event.timestamp is not None), None)

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
        actions = self._entries.open_actions if self.running else ()
        return actions[0] if actions else None

    @property
    def under_way_since(self) -> datetime | None:
        """Since when it runs, by the clock of the sandbox."""
        return began(self.under_way, self._entries.went_on) if self.under_way is not None else None

    @property
    def unanswered(self) -> Entry | None:
        """A person's message that the agent has not seen and will not, now that it has finished."""
        if self.status != ExecutionStatus.FINISHED:
            return None
        for entry in reversed(self._entries.listed):
            if entry.kind is EntryKind.PERSON:
                return entry
            if entry.kind in (EntryKind.AGENT, EntryKind.TOOL):
                break
        return next((each for each in reversed(self._entries.listed) if each.id == self._overheard), None)

    @property
    def open_actions(self) -> frozenset[str]:
        """The ids of all actions of which nothing came: what a run would do first."""
        return frozenset(entry.id for entry in self._entries.open_actions)

    def listed_after(self, event_id: str | None) -> Sequence[Event]:
        """What the server's list has after that event; all of it that is known where it is not known."""
        at = next((at for at in reversed(range(len(self._log))) if self._log[at].id == event_id), -1)
        return self._log[at + 1 :]

    # What is read

    def begin(self, page: EventPage) -> None:
        """Take the newest page, newest first; what was known before is forgotten, but not what is on its way."""
        self._set_log(())
        self.older = page.next_page_id
        self.catch_up(reversed(page.events))

    def prepend(self, page: EventPage) -> None:
        """Take the page before what is known, newest first."""
        self._set_log([*(event for event in reversed(page.events) if event.id not in self._listed), *self._log])
        self.older = page.next_page_id

    def catch_up(self, events: Iterable[Event]) -> None:
        """Take what the server lists after `last_id`."""
        for event in events:
            if event.id not in self._listed and _in_log(event):
                self._log.append(event)
                self._listed.add(event.id)
                if self._made is not None:
                    self._made.add(event)
                self._note(event)

    def copied(self, events: Sequence[Event], *, older: bool = False) -> None:
        """Take a page of the app server's copy, newest first: it goes by time, and its pages shift.

        What has one time keeps the order in which it was told; an `older` page was told before what is known.
        """
        told = events[::-1]
        in_order = (*told, *self._log) if older else (*self._log, *told)
        by_id = {event.id: event for event in in_order if _in_log(event)}
        self._set_log(sorted(by_id.values(), key=lambda event: event.timestamp or _BEGINNING))
        for event in self._log:
            self._note(event)

    def hear(self, frame: Event | Delta) -> None:
        """Take what the socket told: what is being written, how the whole conversation is."""
        if isinstance(frame, Delta):
            self._write(frame)
        elif isinstance(frame, StateEvent) and frame.key == FULL_STATE:
            self._whole_state(frame.value)
        elif frame.id not in self._listed:
            if isinstance(frame, MessageEvent) and frame.source == "user":
                self._overheard = frame.id if self._written or self._thought else ""
            elif isinstance(frame, ActionEvent) and frame.tool_name != "finish":
                self._overheard = ""
            if _ends_an_answer(frame):
                self._heard.add(frame.id)
                self._is_whole = True

    def state(self, state: AgentState) -> None:
        """Take how the conversation is now."""
        self.status = state.execution_status or self.status
        if "confirmation_policy" in state.model_fields_set:
            self.policy = state.confirmation_policy
        self.stats = state.stats or self.stats

    def _set_log(self, log: Iterable[Event]) -> None:
        self._log, self._made = list(log), None
        self._listed = {event.id for event in self._log}

    def _note(self, event: Event) -> None:
        """What a listed event says of the whole conversation."""
        if isinstance(event, MessageEvent) and event.source == "user":
            arrived = next((each.id for each in self.outgoing.values() if each.text == event.text), "")
            self.outgoing.pop(arrived, None)
        elif isinstance(event, StateEvent):
            self.state(event.state)
        if _ends_an_answer(event) and (self._is_whole or event.id not in self._heard):
            self._written, self._thought, self._is_whole = "", "", False
        self._heard.discard(event.id)

    def _whole_state(self, value: object) -> None:
        try:
            self.state(AgentState.model_validate(value))
        except ValidationError:
            self.policy = None

    # What is being written

    def _write(self, delta: Delta) -> None:
        if self._is_whole or not (delta.text or delta.reasoning):  # another try begins as the first one did
            self._written, self._thought, self._is_whole = "", "", False
        self._written += delta.text
        self._thought += delta.reasoning

    def _being_written(self) -> Entry | None:
        if not self._written and not self._thought:
            return None
        return Entry(STREAMED, EntryKind.AGENT, None, "agent", text=self._written, thought=self._thought)


def _in_log(event: Event) -> bool:
    """Whether an event is one of the log; the app server's copy has whole states among them."""
    return not (isinstance(event, StateEvent) and event.key == FULL_STATE) and event.kind not in _NOT_LISTED


def _ends_an_answer(event: Event) -> bool:
    """Whether what was being written is there as a whole now, or will never be."""
    if isinstance(event, StateEvent):
        return event.key == "execution_status" and event.value in _ENDS_AN_ANSWER
    ended = isinstance(event, ConversationErrorEvent) or event.kind == "InterruptEvent"
    return ended or event.source == "agent"
