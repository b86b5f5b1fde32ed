"""One MCP server as another tool, or this service, writes its members, read as one of this service's."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings.mcp.identity import Transport
from quarterdeck.settings.mcp.placeholders import as_masks
from quarterdeck.settings.mcp.secrets import MODELS, server_of

_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": Transport.STDIO,
    "sse": Transport.SSE,
    "http": Transport.SHTTP,
    "shttp": Transport.SHTTP,
    "streamablehttp": Transport.SHTTP,
}
"""Words for a transport, without the signs between their parts (MCP specification "Transports", contract c.2)."""
_ADDRESSES = ("url", "httpUrl", "serverUrl")
"""Where the address is; `httpUrl` is from Gemini CLI's files (its page "MCP servers"), `serverUrl` from Windsurf's."""
_SSE_PATH = re.compile(r"/sse(/|$)")
_SIGN_IN = ("headers", "auth", "api_key")
_ABOUT = ("type", "transport", "name", "disabled", "enabled")


class UnfitError(Exception):
    """No server of this service can be made of the members; the text says why."""


@dataclass(frozen=True)
class Fit:
    """A server, and the names of the members that it has no place for."""

    server: McpServer
    left_out: tuple[str, ...] = ()


def fitted(name: str, given: Mapping[str, Any], transport: Transport | None = None, *, nested: bool = False) -> Fit:
    """The server of these members; `nested` says that other members and the name of an address are kept.

    Placeholders become masks. Raises UnfitError.
    """
    given = as_masks(given)
    transport = transport or _transport(given)
    own = _stdio(name, given) if transport is Transport.STDIO else _remote(given, timed=transport is Transport.SHTTP)
    others = {member: value for member, value in given.items() if member not in (*own, *_ABOUT)}
    if transport is not Transport.STDIO:
        others = {member: value for member, value in others.items() if member not in (*_SIGN_IN, *_ADDRESSES)}
        others |= _others_of_remote(given, own)
        own |= {"name": name} if nested else {}
    server = server_of(MODELS[transport], {**others, **own} if nested else own)
    if server is None:
        raise UnfitError("one of its members is not of the right kind")
    return Fit(server, () if nested else tuple(others))


def _transport(given: Mapping[str, Any]) -> Transport:
    """By the word for it; where there is none, by a command or the look of the address, as servers judge it."""
    word = given.get("type", given.get("transport"))
    if isinstance(word, str):
        known = _TRANSPORTS.get(re.sub(r"[-_ ]", "", word.lower()))
        if known is None:
            raise UnfitError("its type is none of stdio, SSE and HTTP")
        return known
    if isinstance(given.get("command"), str):
        return Transport.STDIO
    if _SSE_PATH.search(_address(given).partition("?")[0]) and "httpUrl" not in given:
        return Transport.SSE
    return Transport.SHTTP


def _address(given: Mapping[str, Any]) -> str:
    found = next((given[name] for name in _ADDRESSES if isinstance(given.get(name), str)), None)
    if found is None:
        raise UnfitError("it has neither a command nor an address")
    return str(found)


def _stdio(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    command, args = given.get("command"), _arguments(given.get("args"))
    if not isinstance(command, str) or not command.strip():
        raise UnfitError("it has no command")
    first, *more = _split(command)
    own: dict[str, Any] = {"name": re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "server", "command": first}
    if more or args:
        own["args"] = [*more, *args]
    if env := _environment(given.get("env")):
        own["env"] = env
    return own


def _remote(given: Mapping[str, Any], *, timed: bool) -> dict[str, Any]:
    own: dict[str, Any] = {"url": _address(given).strip()}
    if key := _key(given):
        own["api_key"] = key
    if timed and given.get("timeout") is not None:
        own["timeout"] = given["timeout"]
    return own


def _key(given: Mapping[str, Any]) -> str:
    """The key, or the bearer token that stands for it (contract c.2: each is the other there)."""
    match given:
        case {"api_key": str(key)} if key:
            return key
        case {"auth": str(key)} | {"auth": {"strategy": "bearer", "value": str(key)}}:
            return key
    bearer = (value for name, value in _headers(given).items() if name.lower() == "authorization" and _bears(value))
    return next((value.split(None, 1)[1].strip() for value in bearer), "")


def _others_of_remote(given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Headers and ways to sign in that say more than the key does."""
    headers = {
        name: value
        for name, value in _headers(given).items()
        if name.lower() != "authorization" or not _bears(value) or "api_key" not in own
    }
    auth = given.get("auth")
    told = isinstance(auth, str) or (isinstance(auth, dict) and auth.get("strategy") == "bearer" and "api_key" in own)
    return ({"headers": headers} if headers else {}) | ({} if auth is None or told else {"auth": auth})


def _bears(value: str) -> bool:
    return value.lower().startswith("bearer ") and len(value.split()) > 1


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    """An object, or a list of "Name: value"."""
    headers = given.get("headers")
    if isinstance(headers, list):
        parts = (str(header).partition(":") for header in headers)
        return {name.strip(): value.strip() for name, _, value in parts}
    return {str(name): _text(value) for name, value in headers.items()} if isinstance(headers, dict) else {}


def _arguments(given: Any) -> list[str]:
    """A list, or one shell-quoted text (contract c.1)."""
    if isinstance(given, str):
        return _split(given)
    return [_text(value) for value in given] if isinstance(given, list) else []


def _environment(given: Any) -> dict[str, str]:
    """An object, or one text of K=V pairs with commas between them (contract c.1)."""
    if isinstance(given, str):
        pairs = (pair.partition("=") for pair in given.split(",") if pair.strip())
        return {name.strip(): value.strip() for name, _, value in pairs}
    return {str(name): _text(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return text.split()


def _text(value: Any) -> str:
    """What a shell would be given for a JSON value."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
