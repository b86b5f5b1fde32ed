"""The rows of the conversation list, the status word of each, and which commands apply to it."""

from collections.abc import Container, Iterable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus, StartTaskStatus
from quarterdeck.fleet.ages import AS_TOLD, ServerClock, seconds_since
from quarterdeck.fleet.filters import Grammar, Kind, Token
from quarterdeck.fleet.order import Rank
from quarterdeck.fleet.sandbox_state import WORDS, StateWord
from quarterdeck.fleet.sandboxes import SHORT, short_id


class ConversationWord(StrEnum):
    """The status words of a conversation; a server's unknown word is shown as it came."""

    WORKING = "Working"
    NEEDS_YOU = "Needs you"
    FINISHED = "Finished"
    IDLE = "Idle"
    AGENT_PAUSED = "Agent paused"
    STUCK = "Stuck"
    ERROR = "Error"
    DELETING = "Deleting"
    NO_ANSWER = "No answer"
    SANDBOX_PAUSED = "Sandbox paused"
    SANDBOX_PAUSING = "Sandbox pausing"
    SANDBOX_STARTING = "Sandbox starting"
    SANDBOX_RESUMING = "Sandbox resuming"
    SANDBOX_ERROR = "Sandbox error"
    SANDBOX_MISSING = "Sandbox missing"


BEING_STARTED = "starting"
"""The word by which start tasks are counted, whatever step they are in."""


class Category(StrEnum):
    """What a status means for the person at the list."""

    BUSY = "busy"
    WAITING = "waiting"
    """It waits for a person."""
    TROUBLE = "trouble"
    """It cannot continue by itself."""
    DONE = "done"
    RESTING = "resting"
    """It needs nobody, and the agent has no new result."""
    GONE = "gone"


class ConversationState(NamedTuple):
    """The status shown for a conversation, or for a start task that will become one."""

    word: str
    category: Category
    note: str = ""
    """A sentence for the detail pane."""

    @property
    def attention(self) -> bool:
        """Whether a person should act: an agent asks, or it cannot continue by itself."""
        return self.category in (Category.WAITING, Category.TROUBLE)

    @property
    def of_sandbox(self) -> bool:
        """Whether the word describes the sandbox and not the agent in it."""
        return self.word in _OF_SANDBOX

    @property
    def has_result(self) -> bool:
        """Whether the agent has stopped with a result, a question or a problem."""
        return self.attention or self.category is Category.DONE


DELETING = ConversationState(ConversationWord.DELETING, Category.BUSY)
_AGENT: dict[str, ConversationState] = {
    ExecutionStatus.RUNNING: ConversationState(ConversationWord.WORKING, Category.BUSY),
    ExecutionStatus.WAITING_FOR_CONFIRMATION: ConversationState(ConversationWord.NEEDS_YOU, Category.WAITING),
    ExecutionStatus.FINISHED: ConversationState(ConversationWord.FINISHED, Category.DONE),
    ExecutionStatus.IDLE: ConversationState(ConversationWord.IDLE, Category.RESTING),
    ExecutionStatus.PAUSED: ConversationState(ConversationWord.AGENT_PAUSED, Category.RESTING),
    ExecutionStatus.STUCK: ConversationState(ConversationWord.STUCK, Category.TROUBLE),
    ExecutionStatus.ERROR: ConversationState(ConversationWord.ERROR, Category.TROUBLE),
    ExecutionStatus.DELETING: DELETING,
}
_SANDBOX: dict[str, ConversationState] = {
    StateWord.PAUSING: ConversationState(ConversationWord.SANDBOX_PAUSING, Category.BUSY),
    StateWord.RESUMING: ConversationState(ConversationWord.SANDBOX_RESUMING, Category.BUSY),
    StateWord.PAUSED: ConversationState(ConversationWord.SANDBOX_PAUSED, Category.RESTING),
    StateWord.STARTING: ConversationState(ConversationWord.SANDBOX_STARTING, Category.BUSY),
    StateWord.ERROR: ConversationState(ConversationWord.SANDBOX_ERROR, Category.RESTING),
    StateWord.MISSING: ConversationState(ConversationWord.SANDBOX_MISSING, Category.GONE),
}
_OF_SANDBOX = frozenset(state.word for state in _SANDBOX.values())
_NO_ANSWER = ConversationState(
    ConversationWord.NO_ANSWER, Category.BUSY, "Its sandbox runs, but the agent in it does not say how it is."
)
_UNTOLD = ConversationState(
    "Unknown", Category.RESTING, "The server tells the status of neither its sandbox nor its agent."
)
_LAST_TOLD = "Its sandbox is idle; this is what the agent last said."


_HEARD = frozenset({SandboxStatus.RUNNING, SandboxStatus.STARTING})
_STOPS = frozenset({StateWord.PAUSING, StateWord.PAUSED, StateWord.ERROR, StateWord.MISSING})
_COMES_BACK = frozenset({StateWord.RESUMING, StateWord.STARTING, StateWord.RUNNING})


def _not_read_yet(record: Conversation, newer: str) -> str | None:
    """Return what to show of the sandbox if the record does not show its `newer` word yet."""
    if record.sandbox_status in _HEARD and newer in _STOPS:
        return newer
    return StateWord.RESUMING if record.sandbox_status == SandboxStatus.PAUSED and newer in _COMES_BACK else None


def with_last_status(before: Conversation, record: Conversation) -> Conversation:
    """Return the record just read, with the agent's previous status if its idle sandbox does not tell any."""
    idle = record.sandbox_status == SandboxStatus.STARTING and record.execution_status is None
    if idle and before.execution_status is not None and before.sandbox_status in _HEARD:
        return replace(record, execution_status=before.execution_status)
    return record


def conversation_state(record: Conversation, sandbox: str | None = None) -> ConversationState:
    """Return the status to show; `sandbox` replaces the record's sandbox status, if a newer one is shown beside it."""
    told, agent = sandbox or record.sandbox_status, record.execution_status
    word = WORDS.get(told or "", told)
    if word == StateWord.STARTING and agent is not None:
        return _agent_state(agent)._replace(note=_LAST_TOLD)
    if word in _SANDBOX:
        return _SANDBOX[word]
    if word is not None and word != StateWord.RUNNING:
        return ConversationState(word, Category.RESTING)
    if agent is None:
        return _UNTOLD if word is None else _NO_ANSWER
    return _agent_state(agent)


def _agent_state(status: str) -> ConversationState:
    return _AGENT.get(status) or ConversationState(status, Category.RESTING)


class ConversationRow(NamedTuple):
    """One line of the list; its texts are raw, as the server sent them."""

    id: str
    told: Conversation | StartTask
    """The record of the conversation or of its start."""
    state: ConversationState
    created: datetime | None
    """By this machine's clock; None also if the server's moment lies too far in the future."""
    updated: datetime | None
    """By this machine's clock."""
    unlinked: bool = False
    """Whether its sandbox no longer exists."""
    unread: bool = False
    """Whether it has a result, as far as is known, that nobody has looked at."""
    watched: bool = False
    """Whether a person wants to be notified of it."""

    @property
    def needs_you(self) -> bool:
        """Whether its agent waits for a person."""
        return self.state.category is Category.WAITING

    @property
    def short_id(self) -> str:
        """The beginning of the id."""
        return self.id[:SHORT]

    @property
    def asked(self) -> Conversation | NewConversation:
        """What was requested when it was created."""
        return self.told if isinstance(self.told, Conversation) else self.told.request or NewConversation()

    @property
    def message(self) -> str:
        """The message it is being started with; empty once it is a conversation."""
        return self.asked.message or "" if isinstance(self.asked, NewConversation) else ""

    @property
    def title(self) -> str:
        """Its title; a start without one is named by its message, in quotes."""
        words = " ".join(self.message.split())
        return self.asked.title or (f"\u201c{words}\u201d" if words else "")

    def haystack(self, now: datetime) -> str:
        """Return the text that a filter searches."""
        asked = self.asked
        where = (asked.selected_repository, asked.selected_branch)
        texts = (self.title, *where, asked.llm_model, self.state.word, self.also_called, self.message)
        return "\n".join(filter(None, texts))

    @property
    def ids(self) -> Iterable[str]:
        """What a filter finds by its beginning."""
        sandbox_id = self.sandbox_id or ""
        return self.id, sandbox_id, short_id(sandbox_id)

    @property
    def also_called(self) -> str:
        """Other words for its state, which a filter also accepts: all starts that go on are counted by one."""
        goes_on = self.task is not None and self.task.status != StartTaskStatus.ERROR
        return BEING_STARTED if goes_on else _ALSO_CALLED.get(self.state.word, "")

    def rank(self, now: datetime) -> Rank:
        """Return its place in the default order: starts, questions, trouble, the rest; the newest first."""
        if self.needs_you:
            value = 1
        elif self.state.attention:
            value = 2
        elif self.task is not None:
            value = 0
        else:
            value = 3
        newest = -self.updated.timestamp() if self.updated else 0.0
        return Rank(value, newest, urgent=self.state.attention)

    @property
    def place(self) -> str:
        """ "repository@branch", or the part of it that is known."""
        repository, branch = self.asked.selected_repository, self.asked.selected_branch
        return f"{repository or ''}{f'@{branch}' if branch else ''}"

    @property
    def record(self) -> Conversation | None:
        """The conversation, None while it is being started."""
        return self.told if isinstance(self.told, Conversation) else None

    @property
    def task(self) -> StartTask | None:
        """Its start task, None once it is a conversation."""
        return self.told if isinstance(self.told, StartTask) else None

    @property
    def sandbox_id(self) -> str | None:
        """The sandbox it runs in, if known."""
        return self.told.sandbox_id

    @property
    def cost(self) -> float | None:
        """Its cost so far in US dollars, if known."""
        return self.record.cost if self.record else None


def conversation_row(
    record: Conversation, sandboxes: Container[str] | None = None, newer: str = "", clock: ServerClock = AS_TOLD
) -> ConversationRow:
    """Return the row of a conversation, without what only a deck knows of it.

    `sandboxes` are the ids of all sandboxes, None until they have been read completely; `newer` is the word of its own
    one, if that is newer than the record.
    """
    state = conversation_state(record, _not_read_yet(record, newer))
    created, updated = clock.here(record.created_at), clock.here(record.changed_at)
    return ConversationRow(record.id, record, state, created, updated, has_lost_sandbox(record, sandboxes))


def has_lost_sandbox(record: Conversation, sandboxes: Container[str] | None) -> bool:
    """Whether the sandbox of a conversation is gone; `sandboxes` are the ids of all, None until they have been read."""
    lost = sandboxes is not None and record.sandbox_id not in sandboxes
    return record.sandbox_id is not None and (lost or record.sandbox_status == SandboxStatus.MISSING)


_ALSO_CALLED: dict[str, str] = {
    ConversationWord.IDLE: "Ready",
    ConversationWord.NO_ANSWER: "Waking",
    ConversationWord.SANDBOX_PAUSED: "Asleep",
    ConversationWord.SANDBOX_STARTING: "Waking\nSandbox resuming",
    ConversationWord.SANDBOX_RESUMING: "Waking",
    ConversationWord.SANDBOX_MISSING: "Archived",
}
"""Other words for some statuses."""
STATE_WORDS = tuple(dict.fromkeys("\n".join((*ConversationWord, *_ALSO_CALLED.values())).split("\n")))
"""What a filter can call a state, the list's own words first."""


def _state_word(row: ConversationRow, now: datetime) -> str:
    word = row.state.word
    return f"{word}\n{word.replace(' ', '-')}\n{row.also_called}"


CONVERSATION_GRAMMAR: Grammar[ConversationRow] = Grammar(
    {
        "state": Token(Kind.TEXT, _state_word, "Its state, as the list shows it.", ("status",)),
        "repo": Token(Kind.TEXT, lambda row, now: row.place, "Its repository and branch, as owner/name@branch."),
        "model": Token(Kind.TEXT, lambda row, now: row.asked.llm_model, "The model that its agent uses."),
        "sandbox": Token(Kind.TEXT, lambda row, now: row.sandbox_id, "The id of its sandbox."),
        "id": Token(Kind.TEXT, lambda row, now: row.id, "Its id."),
        "cost": Token(Kind.NUMBER, lambda row, now: row.cost, "What it has cost so far, in US dollars."),
        "age": Token(Kind.DURATION, lambda row, now: seconds_since(row.created, now), "How long ago it was created."),
        "updated": Token(
            Kind.DURATION, lambda row, now: seconds_since(row.updated, now), "How long ago it changed last."
        ),
        "unread": Token(
            Kind.FLAG,
            lambda row, now: row.unread,
            "It finished, failed or asked something since you last looked at it.",
            ("unseen",),
        ),
        "watched": Token(Kind.FLAG, lambda row, now: row.watched, "You asked to be notified of it."),
        "no-sandbox": Token(Kind.FLAG, lambda row, now: row.unlinked, "Its sandbox is no more.", ("orphan",)),
        "running": Token(
            Kind.FLAG,
            lambda row, now: row.state.category is Category.BUSY,
            "Its agent is at work, or it is being started.",
        ),
        "needs-you": Token(Kind.FLAG, lambda row, now: row.needs_you, "Its agent waits for an answer."),
    }
)
"""The tokens of a filter over conversations."""


def why_not(command: str, row: ConversationRow) -> str | None:
    """Return a sentence that says why a command cannot be applied to a row, None if it can."""
    failed = row.task is not None and row.task.status == StartTaskStatus.ERROR
    match command:
        case "retry" if not failed:
            return "Only a start that failed can be tried again."
        case "delete" if row.task is not None and not failed:
            return "It is being started, and a server cannot stop that; wait until it is there."
        case "notify_me" | "open_url" | "rename" | "trajectory" if failed:
            return "Its start failed, so there is no conversation."
        case "notify_me" if row.record is None:
            return "It is being started; it can be watched once it is there."
        case "notify_me" if row.state.category is Category.GONE and not row.watched:
            return "Its sandbox is gone, so nothing will happen in it."
        case "rename" | "trajectory" if row.record is None:
            return "It is being started; wait until it is there."
        case "open_url" if row.record is None or row.record.conversation_url is None:
            return "It has an address only while its sandbox runs."
        case _:
            return None
