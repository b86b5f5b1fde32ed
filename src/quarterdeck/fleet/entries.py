"""What happened in a conversation, as entries: an action and its result form one entry.

Texts come raw from the server; times are those of the sandbox's clock.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import unified_diff
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.event import (
    ActionEvent,
    AgentErrorEvent,
    CondensationEvent,
    ConversationErrorEvent,
    Event,
    MessageEvent,
    ObservationEvent,
    OtherEvent,
    RejectionEvent,
    StateEvent,
    text_of,
)


class EntryKind(StrEnum):
    """Who or what an entry comes from."""

    PERSON = "person"
    AGENT = "agent"
    TOOL = "tool"
    ERROR = "error"
    QUIET = "quiet"


class Outcome(StrEnum):
    """The result of an action."""

    OPEN = "open"
    """There is no result yet."""
    RUNS_ON = "runs on"
    """It returned output and is still running."""
    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"


class Task(NamedTuple):
    """One item of an agent's task list."""

    title: str
    status: str


class Edit(NamedTuple):
    """A change of a file: lines, each with its sign "+", "-" or " ", and the first line's number, 0 if not known."""

    first: int
    lines: tuple[tuple[str, str], ...]

    def count(self, sign: str) -> int:
        """Return how many lines have that sign."""
        return sum(each == sign for each, _ in self.lines)


class Entry(NamedTuple):
    """One thing that happened in a conversation."""

    id: str
    """The id of its first event."""
    kind: EntryKind
    at: datetime | None
    who: str
    """ "you", "agent", the name of a tool, or empty."""
    title: str = ""
    """One line: a command, a path, or the words of a quiet entry."""
    text: str = ""
    """A message (that of an agent is Markdown), the output of a tool, or the body of an unknown event."""
    said: str = ""
    """What the agent said when it started the action; Markdown."""
    thought: str = ""
    """What the model thought before it started the action."""
    summary: str = ""
    risk: str = ""
    outcome: Outcome | None = None
    exit_code: int | None = None
    seconds: float | None = None
    edit: Edit | None = None
    tasks: tuple[Task, ...] = ()
    call: str = ""
    """The id of its tool call."""

    @property
    def failed(self) -> bool:
        """Whether it failed or was rejected."""
        return self.kind is EntryKind.ERROR or self.outcome in (Outcome.FAILED, Outcome.REJECTED)

    @property
    def exited(self) -> bool:
        """Whether it is a command whose exit code is known; servers send -1 for one that runs on."""
        return self.exit_code is not None and self.exit_code >= 0


TOLD_STATUSES: dict[str, str] = {
    ExecutionStatus.FINISHED: "finished",
    ExecutionStatus.STUCK: "stuck: it repeats itself",
    ExecutionStatus.ERROR: "stopped with an error",
}
"""Statuses that no other event reports."""
MARKS = {
    "PauseEvent": "paused",
    "InterruptEvent": "interrupted",
    "CondensationRequest": "asked for a summary of older events",
    "SystemPromptEvent": "instructions and tools were given to the agent",
}
"""The title for events whose kind says everything."""
REMINDER_OF_AGENT = "Your last response did not include a function call or a message."
"""How a message begins with which an agent reminds its model, in a person's name (SERVERS.md: its log)."""
POLICIES = {"NeverConfirm": "never", "AlwaysConfirm": "always", "ConfirmRisky": "risky"}
"""When an agent asks, as one word."""
ResultEvent = ObservationEvent | RejectionEvent | AgentErrorEvent


class Entries:
    """Builds entries from events, which must come in the order of the log."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._by_id: dict[str, Entry] = {}
        """All entries, in their order."""
        self._calls: dict[str, Entry] = {}
        """The last entry of each tool call, in their order; some models repeat ids from answer to answer."""
        self._lacking: dict[str, tuple[ResultEvent, datetime | None]] = {}
        """By id, the results that came without their actions, each with what `went_on` was then."""
        self.went_on: datetime | None = None
        """When the agent last began to run; actions that it had asked about begin only then."""
        for event in events:
            self.add(event)

    @property
    def listed(self) -> list[Entry]:
        """All entries, in their order; no command runs on once its terminal has told an exit code after it."""
        entries = list(self._by_id.values())
        free = max((at for at, each in enumerate(entries) if each.exited), default=0)
        for at, each in enumerate(entries[:free]):
            if each.outcome is Outcome.RUNS_ON:
                entries[at] = each._replace(outcome=None)
        return entries

    @property
    def lacks_actions(self) -> bool:
        """Whether a result came without its action."""
        return bool(self._lacking)

    @property
    def open_actions(self) -> tuple[Entry, ...]:
        """Actions without a result, in their order."""
        return tuple(entry for entry in self._calls.values() if entry.outcome is Outcome.OPEN)

    def add(self, event: Event) -> bool:
        """Add the next event: as a new entry, or merged into the entry of its tool call; returns whether that shows."""
        known = self._calls.get(event.tool_call_id)
        entry = _entry(event, known, self.went_on)
        if isinstance(event, StateEvent) and event.value == ExecutionStatus.RUNNING:
            self.went_on = event.timestamp
        elif isinstance(event, ResultEvent) and (known is None or known.id in self._lacking):
            self._lacking[event.id] = event, self.went_on
        if entry is None or entry is known:
            return False
        self._by_id[entry.id] = entry
        if isinstance(event, ActionEvent):
            self._calls.pop(entry.call, None)
        if entry.call:
            self._calls[entry.call] = entry
        return True

    def prepend(self, events: Iterable[Event]) -> None:
        """Add the events before the known ones, also to those results of theirs that came without their actions."""
        before, lacking = Entries(events), self._lacking.values()
        self._lacking = {event.id: (event, went_on or before.went_on) for event, went_on in lacking}
        self.went_on = self.went_on or before.went_on
        for event, went_on in [*self._lacking.values()]:
            if event.tool_call_id in before._calls:
                before.went_on = went_on
                before.add(event)
                del self._lacking[event.id]
                self._by_id.pop(event.id, None)
        calls = {call: entry for call, entry in self._calls.items() if entry.id in self._by_id}
        self._calls = {call: entry for call, entry in before._calls.items() if call not in calls} | calls
        self._by_id = before._by_id | self._by_id
        self._lacking = before._lacking | self._lacking


def began(action: Entry, went_on: datetime | None) -> datetime | None:
    """Return when an action began: when it was issued, or when the agent continued after asking."""
    return max(filter(None, (action.at, went_on)), default=None)


def _entry(event: Event, action: Entry | None, went_on: datetime | None) -> Entry | None:
    """Return the entry for an event, or None if the event shows nothing.

    An event of a tool call extends the entry `action` of that call. Much of a conversation's state is shown only in the
    header of the screen and has no entry.
    """
    entry = Entry(event.id, EntryKind.QUIET, event.timestamp, "")
    match event:
        case ActionEvent():
            return _action_entry(event)
        case ObservationEvent() | RejectionEvent() | AgentErrorEvent():
            bare = entry._replace(kind=EntryKind.TOOL, who=event.tool_name, call=event.tool_call_id)
            return _ended(action or bare, event, began(action, went_on) if action is not None else None)
        case MessageEvent() if event.source == "environment" or event.text.startswith(REMINDER_OF_AGENT):
            return entry._replace(title=event.text)
        case MessageEvent():
            kind, who = (EntryKind.PERSON, "you") if event.source == "user" else (EntryKind.AGENT, "agent")
            thought = event.llm_message.reasoning_content
            return entry._replace(kind=kind, who=who, text=_with_pictures(event), thought=thought)
        case StateEvent():
            words = _state_words(event)
            return entry._replace(title=words) if words else None
        case ConversationErrorEvent():
            return entry._replace(kind=EntryKind.ERROR, who="error", title=event.code, text=event.detail)
        case CondensationEvent():
            words = f"{len(event.forgotten_event_ids)} events summarised"
            return entry._replace(title=words, text=event.summary)
        case OtherEvent():
            title = f"{event.kind} ({event.source})" if event.source else event.kind
            return entry._replace(title=title, text=_as_text(event.body))
        case _:
            return entry._replace(title=MARKS.get(event.kind, event.kind))


def _with_pictures(event: MessageEvent) -> str:
    """Return the text of a message with a line per picture: its size if it is embedded, otherwise its address."""
    said = [event.text]
    for url in (each for part in event.llm_message.content for each in part.image_urls):
        size = f"{len(url) * 3 // 4 / 1024:.0f} kB" if url.startswith("data:") else url
        said.append(f"(a picture, {size})")
    return "\n\n".join(filter(None, said))


def _state_words(event: StateEvent) -> str:
    if event.key == "execution_status" and isinstance(event.value, str):
        return TOLD_STATUSES.get(event.value, "")
    if (policy := event.state.confirmation_policy) is not None:
        return f"asks: {POLICIES.get(policy.kind, policy.kind)}"
    return ""


# Tool calls and their results


def _action_entry(event: ActionEvent) -> Entry:
    action = event.action
    entry = Entry(
        event.id,
        EntryKind.TOOL,
        event.timestamp,
        event.tool_name or "tool",
        title=_title(event),
        said=text_of(event.thought),
        thought=event.reasoning_content,
        summary=event.summary,
        risk="" if event.security_risk == "UNKNOWN" else event.security_risk,
        outcome=Outcome.OPEN,
        edit=_edit(action) if event.tool_name == "file_editor" else None,
        tasks=_tasks(action.get("task_list")) if event.tool_name == "task_tracker" else (),
        call=event.tool_call_id,
    )
    if event.tool_name not in ("finish", "think"):
        return entry
    thought = "\n\n".join(filter(None, (entry.thought, _member(action, "thought"))))
    words = entry._replace(title="", text=_member(action, "message"), thought=thought)
    return words._replace(kind=EntryKind.AGENT, who="agent", outcome=None)


def _title(event: ActionEvent) -> str:
    """Return the command, the path, or else all arguments as one line."""
    action, verb, path = event.action, _member(event.action, "command"), _member(event.action, "path")
    if event.tool_name == "file_editor" and path:
        return path if verb in ("create", "str_replace", "insert") else f"{verb} {path}".strip()
    if words := verb or path or _member(action, "url") or _member(action, "query"):
        return words
    if not action:
        return _member(event.tool_call, "arguments")
    return _as_text(
        {name: value for name, value in action.items() if name != "kind" and value not in (None, "", False)}
    )


def _member(action: Mapping[str, Any], name: str) -> str:
    value = action.get(name)
    return value if isinstance(value, str) else ""


def _tasks(listed: object) -> tuple[Task, ...]:
    members = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return tuple(Task(_member(each, "title"), _member(each, "status") or "todo") for each in members)


LONGEST_DIFF = 400
"""Up to this many lines, unchanged lines of an edit are detected."""


def _edit(action: Mapping[str, Any]) -> Edit | None:
    """Return the edit that an action describes; only its result tells at which line a replacement begins."""
    match action.get("command"):
        case "create":
            return Edit(1, _difference("", _member(action, "file_text")))
        case "insert":
            line = action.get("insert_line")
            return Edit(line + 1 if isinstance(line, int) else 1, _difference("", _member(action, "new_str")))
        case "str_replace":
            return Edit(0, _difference(_member(action, "old_str"), _member(action, "new_str")))
        case _:
            return None


@lru_cache(maxsize=1024)
def _difference(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Return removed, added and unchanged lines; cached, because a log may be converted many times."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > LONGEST_DIFF:
        return (*(("-", each) for each in old), *(("+", each) for each in new))
    lines = list(unified_diff(old, new, n=LONGEST_DIFF, lineterm=""))[3:]  # without the header lines
    return tuple((line[0], line[1:]) for line in lines)


def _ended(entry: Entry, event: ResultEvent, begun: datetime | None) -> Entry:
    """Return the entry with the result added; a rejection of an action that already has a result is ignored."""
    ended = event.timestamp
    seconds = max((ended - begun).total_seconds(), 0.0) if begun and ended else None
    match event:
        case RejectionEvent():
            if entry.outcome not in (None, Outcome.OPEN):
                return entry
            by = "rejected by a hook" if event.rejection_source == "hook" else "rejected"
            text = ": ".join(filter(None, (by, event.rejection_reason)))
            return entry._replace(outcome=Outcome.REJECTED, text=text)
        case AgentErrorEvent():
            return entry._replace(outcome=Outcome.FAILED, text=event.error, seconds=seconds)
        case _:
            return _observed(entry, event, seconds)


def _observed(entry: Entry, event: ObservationEvent, seconds: float | None) -> Entry:
    seen = event.observation
    if event.tool_name in ("finish", "think"):
        return entry if entry.text or entry.thought else entry._replace(text=text_of(seen.content))
    failed = seen.is_error or (seen.exit_code or 0) > 0
    if failed:
        outcome = Outcome.FAILED
    elif seen.exit_code == -1:
        outcome = Outcome.RUNS_ON
    else:
        outcome = Outcome.DONE
    edit = None if failed else entry.edit
    if edit is not None and not edit.first and seen.old_content is not None:
        before, found, _ = seen.old_content.partition("\n".join(words for sign, words in edit.lines if sign != "+"))
        edit = edit._replace(first=before.count("\n") + 1 if found else 0)
    text = "" if edit is not None else text_of(seen.content)
    return entry._replace(outcome=outcome, exit_code=seen.exit_code, seconds=seconds, text=text, edit=edit)


def _as_text(members: Mapping[str, Any]) -> str:
    return json.dumps(members, ensure_ascii=False, indent=1, default=str)
