"""Tool servers of release 1.11: by name, hardly checked, their secrets not even told by name."""

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from tests.servers.nested.block import Block, Secret, is_told


def _text_is_bearer(auth: object) -> object:
    return {"strategy": "bearer", "value": auth} if isinstance(auth, str) else auth


class McpBlock(Block):
    """Is told without its variables and headers, and without what is not set."""

    @model_serializer(mode="wrap")
    def _told(self, dump: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        whole: dict[str, Any] = dump(self)
        if not is_told(info):
            return whole
        return {name: value for name, value in whole.items() if value is not None and name not in ("env", "headers")}


class McpAuth(McpBlock):
    """How a server is shown who asks; of the members only those that its strategy needs are there."""

    strategy: Literal["none", "api_key", "bearer", "basic", "header", "oauth2"]
    value: Secret | None = None
    header_name: str | None = None
    username: str | None = None
    password: Secret | None = None
    headers: dict[str, Secret] | None = None


class McpServer(McpBlock):
    url: str | None = None
    transport: Literal["stdio", "http", "streamable-http", "sse"] | None = None
    command: str | None = None
    args: list[str] | None = None
    env: dict[str, Secret] | None = None
    cwd: str | None = None
    description: str | None = None
    icon: str | None = None
    timeout: float | None = None
    sse_read_timeout: float | None = None
    keep_alive: bool | None = None
    headers: dict[str, Secret] | None = None
    auth: Annotated[McpAuth | None, BeforeValidator(_text_is_bearer)] = None

    @model_validator(mode="before")
    @classmethod
    def _bearer_header_is_auth(cls, sent: object) -> object:
        """Take an `Authorization: Bearer` header for `auth`."""
        if not isinstance(sent, dict) or not isinstance(headers := sent.get("headers"), dict):
            return sent
        token = headers.get("Authorization")
        if not isinstance(token, str) or not token.lower().startswith("bearer "):
            return sent
        others = {name: value for name, value in headers.items() if name != "Authorization"}
        return sent | {"headers": others, "auth": token.partition(" ")[2]}


def _bare_map(sent: object) -> object:
    """The servers themselves, which some put into an object as its one member."""
    return sent["mcpServers"] if isinstance(sent, dict) and set(sent) == {"mcpServers"} else sent


McpConfig = Annotated[dict[str, McpServer], BeforeValidator(_bare_map)]
"""Tool servers by name."""
