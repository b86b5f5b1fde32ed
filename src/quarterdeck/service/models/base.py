"""What all models share: how strict they are, and how a server's times are read."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict


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
