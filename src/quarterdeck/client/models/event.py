"""The events of a conversation, read leniently: what is not known keeps its kind, source, time and body."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from pydantic import (
    BeforeValidator,
    Field,
    InstanceOf,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from quarterdeck.client.models.base import Moment, PageId, Starred, Wire
from quarterdeck.client.models.conversation import Metrics

Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""Anything but a text is none."""
Count = Annotated[int | None, BeforeValidator(lambda value: value if type(value) is int else None)]
Flag = Annotated[bool, BeforeValidator(lambda value: value is True)]
Members = Annotated[Mapping[str, Any], BeforeValidator(lambda value: value if isinstance(value, dict) else {})]
"""Of an action: which there are depends on the tool."""
Ids = Annotated[tuple[str, ...], BeforeValidator(lambda value: [each for each in value or () if isinstance(each, str)])]


class Part(Wire):
    """A part of a message: text, or pictures by address."""

    text: Text = ""
    image_urls: Ids = ()


def _parts(value: object) -> object:
    """A message may be a list of parts, one part, or a text."""
    members = value if isinstance(value, list) else [value]
    return [{"text": each} if isinstance(each, str) else each for each in members if isinstance(each, str | dict)]


Words = Annotated[tuple[Part, ...], BeforeValidator(_parts)]


def text_of(parts: tuple[Part, ...]) -> str:
    """The texts of a message, one after the other."""
    return "\n".join(part.text for part in parts if part.text)


class Event(Starred, Wire):
    """What all events have; the time is by the clock of the sandbox, which tells no zone, read as if it were UTC."""

    id: str
    kind: str
    source: Text = ""
    timestamp: Moment = None
    tool_name: Text = ""
    tool_call_id: Text = ""
    """Of what has to do with a tool."""


class Message(Wire):
    """Words of a person or of a model."""

    content: Words = ()
    reasoning_content: Text = ""


class MessageEvent(Event):
    """Somebody said something; `source` "user" may be a program too."""

    llm_message: Message = Field(default_factory=Message)

    @property
    def text(self) -> str:
        """All of its words."""
        return text_of(self.llm_message.content)


class ToolCall(Wire):
    """A tool call as the model wrote it; `arguments` may be no JSON."""

    arguments: Text = ""


class ActionEvent(Event):
    """The agent wants to do something; without members of `action` its arguments could not be read."""

    action: Members = {}
    thought: Words = ()
    reasoning_content: Text = ""
    summary: Text = ""
    security_risk: Text = ""
    tool_call: ToolCall | None = None


class Observation(Wire):
    """What came of an action; an exit code of -1 says that the command still runs."""

    content: Words = ()
    is_error: Flag = False
    exit_code: Count = None
    old_content: str | None = None


class ObservationEvent(Event):
    """An action was done."""

    observation: Observation = Field(default_factory=Observation)


class RejectionEvent(Event):
    """An action was refused, by a person or a hook."""

    rejection_reason: Text = ""
    rejection_source: Text = ""


class AgentErrorEvent(Event):
    """An action could not be done."""

    error: Text = ""


class ConversationErrorEvent(Event):
    """The run ended in an error."""

    code: Text = ""
    detail: Text = ""


class StateEvent(Event):
    """One member of the conversation's state has another value."""

    key: Text = ""
    value: Any = None

    @property
    def state(self) -> "AgentState":
        """What it says of the state of the conversation."""
        return AgentState.model_validate({self.key: self.value})


class CondensationEvent(Event):
    """Older events were summarised for the model; they stay in the log."""

    forgotten_event_ids: Ids = ()
    summary: Text = ""


class HookEvent(Event):
    """A hook ran."""

    hook_event_type: Text = ""
    hook_command: Text = ""
    success: Flag = False
    blocked: Flag = False
    exit_code: Count = None
    stdout: Text = ""
    stderr: Text = ""
    reason: Text = ""


class ForeignCallEvent(Event):
    """A tool call of an agent that is not OpenHands' own; later ones of one `tool_call_id` say how it goes on."""

    title: Text = ""
    status: Text = ""
    tool_kind: Text = ""
    raw_input: Any = None
    raw_output: Any = None
    is_error: Flag = False


class MarkEvent(Event):
    """An event that says all by its kind: a pause, an interrupt, the instructions of the model."""


class OtherEvent(Event):
    """An event of a kind not known here, or one that cannot be read as its kind."""

    body: Mapping[str, Any] = Field(default={}, repr=False)


class Delta(NamedTuple):
    """A piece of an answer that is being written; one without words begins an answer."""

    text: str
    reasoning: str


_KINDS: dict[str, type[Event]] = {
    "MessageEvent": MessageEvent,
    "ActionEvent": ActionEvent,
    "ObservationEvent": ObservationEvent,
    "UserRejectObservation": RejectionEvent,
    "AgentErrorEvent": AgentErrorEvent,
    "ConversationErrorEvent": ConversationErrorEvent,
    "ServerErrorEvent": ConversationErrorEvent,
    "ConversationStateUpdateEvent": StateEvent,
    "Condensation": CondensationEvent,
    "HookExecutionEvent": HookEvent,
    "ACPToolCallEvent": ForeignCallEvent,
    "PauseEvent": MarkEvent,
    "InterruptEvent": MarkEvent,
    "CondensationRequest": MarkEvent,
    "SystemPromptEvent": MarkEvent,
}
DELTA = "StreamingDeltaEvent"
FULL_STATE = "full_state"


def read_event(members: object) -> Event | Delta | None:
    """Read an event of any kind; None for what has no id and kind of its own."""
    if not isinstance(members, dict):
        return None
    if members.get("kind") == DELTA:
        text, reasoning = members.get("content"), members.get("reasoning_content")
        return Delta(text if isinstance(text, str) else "", reasoning if isinstance(reasoning, str) else "")
    with suppress(ValidationError, TypeError):
        if (model := _KINDS.get(members.get("kind", ""))) is not None:
            return model.model_validate(members)
    with suppress(ValidationError):
        return OtherEvent.model_validate({**members, "body": members})
    return None


def _events(items: object) -> list[Event]:
    """The events of a page; deltas and what cannot be read are left out."""
    read = map(read_event, items if isinstance(items, list) else ())
    return [event for event in read if isinstance(event, Event)]


class EventPage(Wire):
    """Events in the order asked for; `next_page_id` is the id of the first event of the next page."""

    events: Annotated[tuple[InstanceOf[Event], ...], BeforeValidator(_events)] = Field((), validation_alias="items")
    next_page_id: PageId = None


class Stats(Wire):
    """What a conversation has cost, by the use of the model."""

    usage_to_metrics: Annotated[Mapping[str, Metrics], BeforeValidator(lambda value: value or {})] = {}

    @property
    def cost(self) -> float:
        """US dollars, all uses together."""
        return sum(spent.accumulated_cost or 0.0 for spent in self.usage_to_metrics.values())

    @property
    def context(self) -> tuple[int, int]:
        """Tokens of the agent's last call, and how many fit; zero where it is not told."""
        agent = self.usage_to_metrics.get("agent")
        usage = agent.accumulated_token_usage if agent is not None else None
        return (usage.per_turn_token, usage.context_window) if usage is not None else (0, 0)


class Policy(Wire):
    """When an agent asks before it acts."""

    kind: Text = ""
    threshold: Text = ""


def _or_none(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


OrNone = WrapValidator(_or_none)
"""What cannot be read is none."""


class AgentState(Wire):
    """How a conversation is, as its agent server says; a `StateEvent` tells one member of it."""

    execution_status: Text = ""
    confirmation_policy: Annotated[Policy | None, OrNone] = None
    stats: Annotated[Stats | None, OrNone] = None
