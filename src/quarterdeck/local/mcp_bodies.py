"""Tool servers in a settings body (contract c.1): 422 for everything that is wrong, also where real servers crash."""

import re
import shlex
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from quarterdeck.local.open_body import OpenBody, Secret

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_SCHEMES = frozenset({"http", "https", "ws", "wss"})


def _check_address(value: str) -> str:
    if not value:
        raise ValueError("an address is needed")
    parts = urlsplit(value)
    if not parts.scheme or "://" not in value:
        raise ValueError("the address needs a scheme, such as https://")
    if parts.scheme not in _SCHEMES:
        raise ValueError("the scheme of the address has to be http, https, ws or wss")
    if not parts.hostname:
        raise ValueError("the address needs a host")
    return value


def _check_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("a name has letters, digits, - and _, and at least one of them")
    return value


def _check_command(value: str) -> str:
    if not value or " " in value:
        raise ValueError("a command is one program without blanks; its arguments go into args")
    return value


def _split_arguments(value: object) -> object:
    return shlex.split(value) if isinstance(value, str) else value


def _split_environment(value: object) -> object:
    """Read the short form ``K=V,K2=V2``."""
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise ValueError("the environment is an object, or a text like NAME=value,OTHER=value")
    return {name.strip(): text.strip() for name, _, text in pairs}


def _bare_address(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


Trimmed = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
Address = Annotated[Trimmed, AfterValidator(_check_address)]


class SseBody(OpenBody):
    """A server reached over SSE."""

    url: Address
    api_key: Secret | None = None


class ShttpBody(OpenBody):
    """A server reached over streamable HTTP; `timeout` in seconds."""

    url: Address
    api_key: Secret | None = None
    timeout: Annotated[int, Field(ge=1, le=3600)] | None = 60


class StdioBody(OpenBody):
    """A server started as a command inside the sandbox."""

    name: Annotated[Trimmed, AfterValidator(_check_name)]
    command: Annotated[Trimmed, AfterValidator(_check_command)]
    args: Annotated[list[str], BeforeValidator(_split_arguments)] = []
    env: Annotated[dict[str, Secret], BeforeValidator(_split_environment)] = {}


class McpConfigBody(BaseModel):
    """The three lists and nothing else; none of them is null."""

    model_config = ConfigDict(extra="forbid")

    sse_servers: list[Annotated[SseBody, BeforeValidator(_bare_address)]] = []
    stdio_servers: list[StdioBody] = []
    shttp_servers: list[Annotated[ShttpBody, BeforeValidator(_bare_address)]] = []
