"""What the deck says of a conversation, made of the status of its sandbox and the status of its agent.

A server tells the agent's status only while the sandbox reads RUNNING (contract section g.1), which an idle one rarely
does; what was last told is remembered until the sandbox is read as stopped.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation


class ConversationWord(StrEnum):
    """The words for a conversation; a server's word that is none of the known ones is shown as it came."""

    WORKING = "Working"
    NEEDS_YOU = "Needs you"
    FINISHED = "Finished"
    READY = "Ready"
    AGENT_PAUSED = "Agent paused"
    STUCK = "Stuck"
    ERROR = "Error"
    DELETING = "Deleting"
    ASLEEP = "Asleep"
    WAKING = "Waking"
    NO_ANSWER = "Waking, no answer"
    SANDBOX_ERROR = "Sandbox error"
    ARCHIVED = "Archived"


class Category(StrEnum):
    """What a state means for who looks at the list, whatever its word."""

    BUSY = "busy"
    WAITING = "waiting"
    """For a person."""
    READY = "ready"
    DONE = "done"
    RESTING = "resting"
    TROUBLE = "trouble"
    GONE = "gone"
    UNKNOWN = "unknown"


_ATTENTION = frozenset({Category.WAITING, Category.TROUBLE})


class ConversationState(NamedTuple):
    """What the screen says of a conversation, or of the start task that will be one."""

    word: str
    category: Category
    note: str = ""
    """A sentence for the detail."""

    @property
    def attention(self) -> bool:
        """Whether a person should do something: an agent asks, or it cannot go on alone."""
        return self.category in _ATTENTION and self.word != ConversationWord.SANDBOX_ERROR

    @property
    def came_to_something(self) -> bool:
        """Whether an agent has stopped, with a result, a question or in trouble."""
        return self.attention or self.category is Category.DONE


_AGENT: dict[str, ConversationState] = {
    ExecutionStatus.RUNNING: ConversationState(ConversationWord.WORKING, Category.BUSY),
    ExecutionStatus.WAITING_FOR_CONFIRMATION: ConversationState(ConversationWord.NEEDS_YOU, Category.WAITING),
    ExecutionStatus.FINISHED: ConversationState(ConversationWord.FINISHED, Category.DONE),
    ExecutionStatus.IDLE: ConversationState(ConversationWord.READY, Category.READY),
    ExecutionStatus.PAUSED: ConversationState(ConversationWord.AGENT_PAUSED, Category.RESTING),
    ExecutionStatus.STUCK: ConversationState(ConversationWord.STUCK, Category.TROUBLE),
    ExecutionStatus.ERROR: ConversationState(ConversationWord.ERROR, Category.TROUBLE),
    ExecutionStatus.DELETING: ConversationState(ConversationWord.DELETING, Category.BUSY),
}
_SANDBOX: dict[str, ConversationState] = {
    SandboxStatus.PAUSED: ConversationState(ConversationWord.ASLEEP, Category.RESTING),
    SandboxStatus.STARTING: ConversationState(ConversationWord.WAKING, Category.BUSY),
    SandboxStatus.ERROR: ConversationState(ConversationWord.SANDBOX_ERROR, Category.TROUBLE),
    SandboxStatus.MISSING: ConversationState(ConversationWord.ARCHIVED, Category.GONE),
}
_NO_ANSWER = ConversationState(
    ConversationWord.NO_ANSWER, Category.BUSY, "Its sandbox runs, but the agent in it does not say how it is."
)
_UNTOLD = ConversationState(
    "Unknown", Category.UNKNOWN, "The server tells neither how its sandbox nor how its agent is."
)
_LAST_TOLD = "Its sandbox is quiet; this is what the agent last said."


def last_execution_status(before: str | None, record: "Conversation") -> str | None:
    """What to remember of the agent after this reading, given what was remembered before it."""
    if record.sandbox_status == SandboxStatus.RUNNING:
        return record.execution_status
    return before if record.sandbox_status == SandboxStatus.STARTING else None


def conversation_state(
    record: "Conversation", last: str | None = None, sandbox: str | None = None
) -> ConversationState:
    """What to say of it; `last` is the status its agent was last read in, as `last_execution_status` keeps it.

    `sandbox` is the status of its sandbox where that was read of the sandbox itself, which knows best.
    """
    sandbox, agent = sandbox or record.sandbox_status, record.execution_status
    if sandbox == SandboxStatus.STARTING and (told := agent or last) is not None:
        known = _agent_state(told)
        return known if agent else ConversationState(known.word, known.category, _LAST_TOLD)
    if sandbox in _SANDBOX:
        return _SANDBOX[sandbox]
    if sandbox is not None and sandbox != SandboxStatus.RUNNING:
        return ConversationState(sandbox, Category.UNKNOWN)
    if agent is None:
        return _UNTOLD if sandbox is None else _NO_ANSWER
    return _agent_state(agent)


def _agent_state(status: str) -> ConversationState:
    return _AGENT.get(status) or ConversationState(status, Category.UNKNOWN)
