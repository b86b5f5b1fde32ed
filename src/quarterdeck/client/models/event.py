"""The events of a conversation, read leniently: unknown ones keep their kind, source, time and body."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    InstanceOf,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
)

from quarterdeck.client.models.base import HidesSecrets, Moment, PageId, Wire, cut_off, deeper
from quarterdeck.client.models.conversation import Metrics
from quarterdeck.client.redact import with_stars

Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""Anything that is not a text is read as empty."""
Count = Annotated[int | None, BeforeValidator(lambda value: value if type(value) is int else None)]
Flag = Annotated[bool, BeforeValidator(lambda value: value is True)]
Members = Annotated[Mapping[str, Any], BeforeValidator(lambda value: value if isinstance(value, dict) else {})]
"""The members of an action, which depend on the tool."""
Ids = Annotated[tuple[str, ...], BeforeValidator(lambda value: [each for each in value or () if isinstance(each, str)])]


class Part(Wire):
    """A part of a message: text, or pictures by address."""

    text: Text = ""
    image_urls: Ids = ()


def _parts(value: object) -> object:
    """Normalize a message, which may be a list of parts, one part, or a text."""
    members = value if isinstance(value, list) else [value]
    return [{"text": each} if isinstance(each, str) else each for each in members if isinstance(each, str | dict)]


Words = Annotated[tuple[Part, ...], BeforeValidator(_parts)]


def text_of(parts: tuple[Part, ...]) -> str:
    """Return the texts of a message, joined."""
    return "\n".join(part.text for part in parts if part.text)


class Event(HidesSecrets, Wire):
    """What all events have; the time is by the sandbox's clock, has no zone and is read as if it were UTC."""

    id: str
    kind: str
    source: Text = ""
    timestamp: Moment = None
    tool_name: Text = ""
    tool_call_id: Text = ""
    """Set for events about a tool."""


class Message(Wire):
    """A message of a person or a model."""

    content: Words = ()
    reasoning_content: Text = ""


class MessageEvent(Event):
    """Somebody wrote a message; `source` "user" may also be a program."""

    llm_message: Message = Field(default_factory=Message)

    @property
    def text(self) -> str:
        """All its text."""
        return text_of(self.llm_message.content)


class ActionEvent(Event):
    """The agent wants to do something; `action` is empty if its arguments could not be read."""

    action: Members = {}
    thought: Words = ()
    reasoning_content: Text = ""
    summary: Text = ""
    security_risk: Text = ""
    tool_call: Members = {}
    """The call as the model wrote it; its `arguments` are a text that may be invalid JSON."""


class Observation(Wire):
    """The result of an action; an exit code of -1 means that the command is still running."""

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
    """The run ended with an error."""

    code: Text = ""
    detail: Text = ""


class StateEvent(Event):
    """One member of the conversation's state changed."""

    key: Text = ""
    value: Any = Field(default=None, repr=False)

    @model_serializer(mode="wrap", when_used="json")
    def _as_json(self, write: SerializerFunctionWrapHandler) -> Any:
        """Hide the value by the name in `key`, which is no secret itself if it is a name."""
        members = write(self)
        hidden: dict[str, Any] = with_stars(members)
        named = with_stars({self.key: members["value"]})
        return hidden | {"key": self.key, "value": named[self.key]} if self.key.isidentifier() else hidden

    @property
    def state(self) -> "AgentState":
        """The state it contains: a single member, or the whole state."""
        whole = self.key == FULL_STATE and isinstance(self.value, dict)
        return AgentState.model_validate(self.value if whole else {self.key: self.value})


class CondensationEvent(Event):
    """Older events were summarised for the model; they stay in the log."""

    forgotten_event_ids: Ids = ()
    summary: Text = ""


class OtherEvent(Event):
    """An event of an unknown kind, or one that does not fit its kind."""

    body: Mapping[str, Any] = Field(default={}, repr=False)


class DeltaEvent(Event):
    """A fragment of an answer that is being written, which only a socket sends; one without text begins an answer."""

    content: Text = ""
    reasoning_content: Text = ""


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
    "StreamingDeltaEvent": DeltaEvent,
    **dict.fromkeys(("PauseEvent", "InterruptEvent", "CondensationRequest", "SystemPromptEvent"), Event),
}
"""For the last four, the kind says everything."""
FULL_STATE = "full_state"


def read_event(members: object) -> Event | None:
    """Read an event of any kind; None if it has no id or kind."""
    members = cut_off(members) if deeper(members) else members
    if not isinstance(members, dict):
        return None
    with suppress(ValidationError, TypeError):
        if (model := _KINDS.get(members.get("kind", ""))) is not None:
            return model.model_validate(members)
    with suppress(ValidationError):
        return OtherEvent.model_validate({**members, "body": members})
    return None


def _events(items: object) -> list[Event]:
    """Return the readable events of a page."""
    return [event for each in (items if isinstance(items, list) else ()) if (event := read_event(each)) is not None]


class EventPage(Wire):
    """Events in the requested order; `next_page_id` is the id of the first event of the next page."""

    events: Annotated[tuple[InstanceOf[Event], ...], BeforeValidator(_events)] = Field((), validation_alias="items")
    next_page_id: PageId = None


class Stats(Wire):
    """The cost of a conversation, by purpose of the model calls."""

    usage_to_metrics: Annotated[Mapping[str, Metrics], BeforeValidator(lambda value: value or {})] = {}

    @property
    def cost(self) -> float:
        """US dollars for all purposes."""
        return sum(spent.cost or 0.0 for spent in self.usage_to_metrics.values())

    @property
    def context(self) -> tuple[int, int]:
        """Tokens of the agent's last call, and the size of the context window; zero if not known."""
        agent = self.usage_to_metrics.get("agent")
        usage = agent.accumulated_token_usage if agent is not None else None
        return (usage.per_turn_token, usage.context_window) if usage is not None else (0, 0)


class Policy(Wire):
    """When an agent asks before it acts."""

    kind: Text = ""
    threshold: Text = ""
    """The lowest risk that it asks about, if it asks only about risky actions."""
    confirm_unknown: Flag = False


def _or_none(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


OrNone = WrapValidator(_or_none)
"""An unreadable value becomes None."""


class AgentState(Wire):
    """The state of a conversation, as its agent server returns it; a `StateEvent` may contain one member."""

    execution_status: Text = ""
    confirmation_policy: Annotated[Policy | None, OrNone] = None
    stats: Annotated[Stats | None, OrNone] = None
