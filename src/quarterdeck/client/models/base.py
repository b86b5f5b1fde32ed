"""What the models of the wire share: how strict they are, and members that are read leniently."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)

from quarterdeck.client.redact import starred

T = TypeVar("T")


LENIENT = ConfigDict(extra="ignore", defer_build=True, validate_by_name=True, validate_by_alias=True)
"""Of records that are kept by the thousand, which are dataclasses with slots: a model takes four times the memory."""


class Wire(BaseModel):
    """A record read from a server; members we do not know are ignored."""

    model_config = ConfigDict(frozen=True, **LENIENT)


def read_as(kind: type[T], content: object) -> T:
    """Read one record; raises ValueError for what is none."""
    return TypeAdapter(kind).validate_python(content)


def plain(record: object, *without: str) -> dict[str, Any]:
    """A record as JSON has it, without these members."""
    members: dict[str, Any] = TypeAdapter(type(record)).dump_python(record, mode="json", exclude=set(without))
    return members


class Starred(BaseModel):
    """A record that may hold secrets as plain text, in addresses, arguments and members we do not know.

    Its text forms, that as JSON too, have stars in their place.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """What its text form, and that of a log, shows of it."""
        return [(name, starred(value, name or "")) for name, value in super().__repr_args__()]

    @model_serializer(mode="wrap", when_used="json")
    def _as_json(self, write: SerializerFunctionWrapHandler) -> Any:
        return starred(write(self))


class Kept(Starred):
    """A record that goes back to the server; members we do not know are kept and sent back."""

    model_config = ConfigDict(extra="allow")


def _nothing_as_empty(value: object) -> object:
    return () if value is None else value


NullIsEmpty = BeforeValidator(_nothing_as_empty)
"""Of a list: null means that there is nothing in it."""
EmptyIsNull = BeforeValidator(lambda value: None if value == "" else value)
"""Of a text: an empty one is none."""


def moment(value: object) -> datetime | None:
    """Read a server's time as UTC: a zone-less one means UTC (SERVERS.md: times and ids), an unreadable one is None."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None


Moment = Annotated[datetime | None, BeforeValidator(moment)]


def _page_id(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and value != "" else None


PageId = Annotated[str | None, BeforeValidator(_page_id)]
"""Just as it was given, also a number; an empty one means the end of the list."""


class Listed(Wire, Generic[T]):
    """A page of a list as servers answer it."""

    items: tuple[T | None, ...]
    next_page_id: PageId = None
