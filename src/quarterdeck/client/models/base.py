"""Shared parts of the wire models: their strictness, and types of members that are read leniently."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)

from quarterdeck.client.redact import with_stars

T = TypeVar("T")


LENIENT = ConfigDict(extra="ignore", defer_build=True, validate_by_name=True, validate_by_alias=True)
"""For records kept by the thousand: dataclasses with slots use a quarter of the memory of a model."""


class Wire(BaseModel):
    """A record read from a server; unknown members are ignored."""

    model_config = ConfigDict(frozen=True, **LENIENT)


def read_as(kind: type[T], content: object) -> T:
    """Read one record; raises ValueError if it is not one."""
    return TypeAdapter(kind).validate_python(content)


def json_data(record: object, *without: str) -> dict[str, Any]:
    """Return a record as plain JSON data, without these members."""
    members: dict[str, Any] = TypeAdapter(type(record)).dump_python(record, mode="json", exclude=set(without))
    return members


class HidesSecrets(BaseModel):
    """A record that may contain secrets as plain text: in addresses, arguments and unknown members.

    Its text and JSON forms show stars instead.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return what `repr` and logs show."""
        return [(name, with_stars(value, name or "")) for name, value in super().__repr_args__()]

    @model_serializer(mode="wrap", when_used="json")
    def _as_json(self, write: SerializerFunctionWrapHandler) -> Any:
        return with_stars(write(self))


class Kept(HidesSecrets):
    """A record that is sent back to the server; unknown members are kept and sent, too."""

    model_config = ConfigDict(extra="allow")


DEEPEST = 50
"""Maximum nesting of settings and events; real ones have five levels, and more than some hundreds cannot be written."""


def deeper(value: Any, levels: int = DEEPEST) -> bool:
    """Whether JSON is nested deeper than that many levels."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(deeper(member, levels - 1) for member in members)


def cut_off(value: Any, levels: int = DEEPEST) -> Any:
    """Return JSON with an ellipsis in place of what is nested deeper than that many levels."""
    if isinstance(value, dict):
        return {name: cut_off(member, levels - 1) for name, member in value.items()} if levels else "…"
    if isinstance(value, list):
        return [cut_off(member, levels - 1) for member in value] if levels else "…"
    return value


NullIsEmpty = BeforeValidator(lambda value: () if value is None else value)
"""For lists: null means empty."""
EmptyIsNull = BeforeValidator(lambda value: None if value == "" else value)
"""For texts: an empty one means None."""


def moment(value: object) -> datetime | None:
    """Parse a server's time as UTC, which no zone also means (SERVERS.md: times and ids); None if unreadable."""
    try:
        parsed = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(parsed, datetime):
            return None
        return parsed.astimezone(UTC) if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


Moment = Annotated[datetime | None, BeforeValidator(moment)]


def page_id(value: object) -> str | None:
    """Return a page id as it was given, also a number; None for an empty one, which means the end of the list."""
    return str(value) if isinstance(value, str | int) and value != "" else None


PageId = Annotated[str | None, BeforeValidator(page_id)]
