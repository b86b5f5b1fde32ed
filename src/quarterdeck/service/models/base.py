"""What all models share: how strict they are, and how a server's times and its few repeated words are read.

What a server may have ten thousand of is a pydantic dataclass with slots: it takes a third of the room of a model.
"""

import sys
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic_core import to_jsonable_python


class Wire(BaseModel):
    """A record read from a server; members we do not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Kept(BaseModel):
    """A record that goes back to the server; members we do not know are kept and sent back."""

    model_config = ConfigDict(frozen=True, extra="allow")


def read_moment(value: object) -> datetime | None:
    """Read a server's time as UTC: a zone-less one means UTC (contract T21), an unreadable one is None."""
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


Moment = Annotated[datetime | None, BeforeValidator(read_moment)]


def _nothing_as_empty(value: object) -> object:
    return () if value is None else value


NullIsEmpty = BeforeValidator(_nothing_as_empty)
"""Of a list: null means that there is nothing in it."""
Word = Annotated[str, AfterValidator(sys.intern)]
"""A text that many records share, kept once."""


def as_json(record: object, *, without: set[str]) -> dict[str, Any]:
    """Write a record as JSON can hold it, without these members; of a secret only stars are left."""
    data: dict[str, Any] = to_jsonable_python(record, exclude=without)
    return data
