"""What the settings models share: how strict they are."""

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Wire(BaseModel):
    """A record read from a server; members we do not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Kept(BaseModel):
    """A record that goes back to the server; members we do not know are kept and sent back."""

    model_config = ConfigDict(frozen=True, extra="allow")


def _nothing_as_empty(value: object) -> object:
    return () if value is None else value


NullIsEmpty = BeforeValidator(_nothing_as_empty)
"""Of a list: null means that there is nothing in it."""
