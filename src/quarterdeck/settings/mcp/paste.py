"""MCP servers out of JSON text pasted from elsewhere.

Read are the `mcpServers` object of most tools, VS Code's `servers` (its page "MCP configuration reference"), the map
inside either, one server alone, and this service's own shapes: three lists (contract c.1) or a map (contract c.2).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quarterdeck.client.models.mcp import McpServer, StdioServer
from quarterdeck.settings.mcp.identity import Transport
from quarterdeck.settings.mcp.members import UnfitError, fitted

_WRAPPERS = ("mcpServers", "servers", "mcp_config", "mcp")
_LISTS = {"sse_servers": Transport.SSE, "shttp_servers": Transport.SHTTP, "stdio_servers": Transport.STDIO}
_OF_A_SERVER = ("command", "url", "httpUrl", "serverUrl")

Found = tuple[str, Any, Transport | None]
"""Name, members, and the transport where the place told it."""


class PasteError(Exception):
    """The text holds no servers; the words say why, and quote names at most."""


@dataclass(frozen=True)
class Pasted:
    """The servers of a text, and what of it could not be taken over as it was, in sentences without secrets."""

    servers: tuple[McpServer, ...]
    notes: tuple[str, ...] = ()


def pasted(text: str, *, nested: bool = False) -> Pasted:
    """Read servers from text; `nested` says that the service keeps further members, and names of addresses too.

    A placeholder such as `${TOKEN}` has a mask in its place, which has to be typed over. Raises PasteError.
    """
    servers: list[McpServer] = []
    notes: list[str] = []
    for name, given, transport in _found(_read(text)):
        title = name or "A server"
        if not isinstance(given, dict):
            notes.append(f"{title}: it is no object, and is left out.")
            continue
        try:
            fit = fitted(name, given, transport, nested=nested)
        except UnfitError as error:
            notes.append(f"{title}: {error}, and is left out.")
            continue
        servers.append(fit.server)
        notes += (f"{title}: {words}" for words in _said(name, given, fit.server, fit.left_out))
    if not servers:
        raise PasteError(" ".join(notes) or "There is no MCP server in this text.")
    return Pasted(tuple(servers), tuple(notes))


def _said(name: str, given: Mapping[str, Any], server: McpServer, left_out: tuple[str, ...]) -> Iterator[str]:
    if isinstance(server, StdioServer) and server.name != name:
        yield f"its name is {server.name} here."
    if left_out:
        yield f"this service has no place for {', '.join(left_out)}."
    if given.get("disabled") is True or given.get("enabled") is False:
        yield "it was switched off there; here it is on unless it is parked."


def _read(text: str) -> Any:
    text = text.strip().removeprefix("\ufeff")
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        inner = _without_braces(text)
        if inner is None:
            raise PasteError(f"This is no JSON: look at line {error.lineno}, column {error.colno}.") from None
        return inner
    except RecursionError:
        raise PasteError("This JSON is nested too deep to be read.") from None


def _without_braces(text: str) -> Any:
    """What stands between the braces of an object, as pages often print it."""
    if not text.startswith('"'):
        return None
    try:
        return json.loads(f"{{{text.rstrip().rstrip(',')}}}", object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that is given twice would take the first one's place without a word."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise PasteError(f"The name {name[:60]} is given twice in one object; rename one.")
    return dict(pairs)


def _found(data: Any) -> Iterator[Found]:
    """Every server in data of any of the shapes."""
    if isinstance(data, list):
        yield from ((_own_name(given), given, None) for given in data)
    elif not isinstance(data, dict):
        return
    elif wrapped := next((data[name] for name in _WRAPPERS if isinstance(data.get(name), dict | list)), None):
        yield from _found(wrapped)
    elif data.keys() & _LISTS.keys():
        for name, transport in _LISTS.items():
            listed = data.get(name)
            for given in listed if isinstance(listed, list) else ():
                members = {"url": given} if isinstance(given, str) else given
                yield _own_name(members), members, transport
    elif any(isinstance(data.get(name), str) for name in _OF_A_SERVER):
        yield _own_name(data), data, None
    else:
        for name, given in data.items():
            own = _own_name(given)  # only equal names are numbered: elsewhere it is a title
            yield own if own and name.startswith(f"{own}-") else name, given, None


def _own_name(given: Any) -> str:
    name = given.get("name") if isinstance(given, dict) else None
    return name if isinstance(name, str) else ""
