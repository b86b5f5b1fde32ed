"""MCP servers as JSON text: pasted from other tools or from this service, and written without secrets.

Read are the `mcpServers` object of most tools, VS Code's `servers` (its page "MCP configuration reference"), the map
inside either, one server alone, and this service's own shapes: three lists or a map. Written is `mcpServers`, with
`${NAME}` in the place of a secret: no service of ours puts a value there, so read back it is one that has to be typed.
"""

import json
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from quarterdeck.client.models.mcp import McpServer, SseServer, StdioServer
from quarterdeck.settings import masks, words
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import (
    LISTS,
    MODELS,
    Transport,
    bare,
    filled,
    free_name,
    members,
    place_of,
)

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|^\$[A-Za-z_]\w*$")
_NOT_IN_A_NAME = re.compile(r"[^A-Z0-9]+")


def _as_placeholders(value: Any, *names: str) -> Any:
    """JSON data with a placeholder in place of each mask, called after the place where it stands."""
    return _texts(value, names, lambda text, names: text.replace(MASK, _called(names)))


def _as_masks(value: Any) -> Any:
    """JSON data with a mask in place of each placeholder."""
    return _texts(value, (), lambda text, _: _PLACEHOLDER.sub(MASK, text))


def _texts(value: Any, names: tuple[str, ...], change: Callable[[str, tuple[str, ...]], str]) -> Any:
    """JSON data with each text changed; `names` say where it stands, a variable's only how that is called."""
    if isinstance(value, dict):
        above = () if names[-1:] == ("env",) else names
        return {name: _texts(held, (*above, name), change) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(held, (*names, str(number)), change) for number, held in enumerate(value, 1)]
    return change(value, names) if isinstance(value, str) else value


def _called(names: tuple[str, ...]) -> str:
    words = _NOT_IN_A_NAME.sub("_", "_".join(names).upper()).strip("_")
    return f"${{{words or 'SECRET'}}}"


_TRANSPORTS: Mapping[str, Transport] = {
    "stdio": Transport.STDIO,
    "sse": Transport.SSE,
    "http": Transport.SHTTP,
    "shttp": Transport.SHTTP,
    "streamablehttp": Transport.SHTTP,
}
"""Words for a transport, without the signs between their parts (MCP specification "Transports")."""
_ADDRESSES = ("url", "httpUrl", "serverUrl")
"""Where the address is; `httpUrl` is from Gemini CLI's files (its page "MCP servers"), `serverUrl` from Windsurf's."""
_SSE_PATH = re.compile(r"/sse(/|$)")
_ABOUT = ("type", "transport", "name", "disabled", "enabled")


class PasteError(Exception):
    """The text holds no servers; the words say why, and quote names at most."""


def _fitted(
    name: str, given: Mapping[str, Any], transport: Transport | None = None, *, nested: bool = False
) -> tuple[McpServer, tuple[str, ...]]:
    """(server of these members, names of those that it has no place for); placeholders become masks.

    `nested` says that other members and the name of an address are kept. Raises PasteError.
    """
    given = _as_masks({member: value for member, value in given.items() if member != "name"})
    transport = transport or _transport(given)
    found = {member: value for member, value in given.items() if member not in _ABOUT}
    named = {"name": name} if nested else {}
    found = _stdio(name, found) if transport is Transport.STDIO else _remote(found) | named
    left_out = () if nested else tuple(member for member in found if member not in MODELS[transport].model_fields)
    try:
        server = MODELS[transport].model_validate({name: found[name] for name in found if name not in left_out})
    except ValidationError:
        raise PasteError("one of its members is not of the right kind") from None
    return server, left_out


def _transport(given: Mapping[str, Any]) -> Transport:
    """By the word for it; where there is none, by a command or the look of the address, as servers judge it."""
    word = given.get("type", given.get("transport"))
    if isinstance(word, str):
        known = _TRANSPORTS.get(re.sub(r"[-_ ]", "", word.lower()))
        if known is None:
            raise PasteError("its type is none of stdio, SSE and HTTP")
        return known
    if isinstance(given.get("command"), str):
        return Transport.STDIO
    if _SSE_PATH.search(_address(given).partition("?")[0]) and "httpUrl" not in given:
        return Transport.SSE
    return Transport.SHTTP


def _address(given: Mapping[str, Any]) -> str:
    found = next((given[name] for name in _ADDRESSES if isinstance(given.get(name), str)), None)
    if found is None:
        raise PasteError("it has neither a command nor an address")
    return str(found)


def _stdio(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    command = given.get("command")
    if not isinstance(command, str) or not command.strip():
        raise PasteError("it has no command")
    first, *more = _split(command)
    own = {
        "name": re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "server",
        "command": first,
        "args": [*more, *_arguments(given.get("args"))],
        "env": _environment(given.get("env")),
    }
    return _with(given, own)


def _remote(given: Mapping[str, Any]) -> dict[str, Any]:
    """The key may stand as the bearer token of a header."""
    headers = _named_texts(given.get("headers"))
    bearer = next((value for name, value in headers.items() if _is_bearer(name, value)), "")
    key = given.get("api_key") or bearer.partition(" ")[2].strip()
    if key:
        headers = {name: value for name, value in headers.items() if not _is_bearer(name, value)}
    own = {
        **dict.fromkeys(_ADDRESSES),
        "headers": headers,
        "url": _address(given).strip(),
        "api_key": key,
        "timeout": given.get("timeout"),
    }
    return _with(given, own)


def _with(given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Members with others in their place; of those what is empty is left out."""
    others = {name: value for name, value in given.items() if name not in own}
    return others | {name: value for name, value in own.items() if value or value == 0}


def _is_bearer(name: str, value: str) -> bool:
    return name.lower() == "authorization" and value.lower().startswith("bearer ") and len(value.split()) > 1


def _named_texts(given: Any) -> dict[str, str]:
    return {str(name): _text(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _arguments(given: Any) -> list[str]:
    """A list, or one shell-quoted text."""
    if isinstance(given, str):
        return _split(given)
    return [_text(value) for value in given] if isinstance(given, list) else []


def _environment(given: Any) -> dict[str, str]:
    """An object, or one text of K=V pairs with commas between them."""
    if isinstance(given, str):
        pairs = (pair.partition("=") for pair in given.split(",") if pair.strip())
        return {name.strip(): value.strip() for name, _, value in pairs}
    return _named_texts(given)


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


_WRAPPERS = ("mcpServers", "servers", "mcp_config", "mcp")
_OF_A_SERVER = ("command", "url", "httpUrl", "serverUrl")

Found = tuple[str, Any, Transport | None]
"""Name, members, and the transport where the place told it."""


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
            notes.append(f"{title}: it is not an object, and is left out.")
            continue
        try:
            server, left_out = _fitted(name, given, transport, nested=nested)
        except PasteError as error:
            notes.append(f"{title}: {error}, and is left out.")
            continue
        servers.append(server)
        notes += (f"{title}: {words}" for words in _notes(name, given, server, left_out))
    if not servers:
        raise PasteError(" ".join(notes) or "There is no MCP server in this text.")
    return Pasted(tuple(servers), tuple(notes))


def _notes(name: str, given: Mapping[str, Any], server: McpServer, left_out: tuple[str, ...]) -> Iterator[str]:
    if isinstance(server, StdioServer) and server.name != name:
        yield f"its name is {server.name} here."
    if left_out:
        yield f"this service has no place for {', '.join(left_out)}."
    if given.get("disabled") is True or given.get("enabled") is False:
        yield "it was switched off there; here it is on unless it is disabled."


def _read(text: str) -> Any:
    text = text.strip().removeprefix("\ufeff")
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    is_open = text.startswith('"')  # what stands between the braces of an object, as pages often print it
    try:
        return json.loads(f"{{{text.rstrip(',')}}}" if is_open else text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        column = error.colno - 1 if is_open and error.lineno == 1 else error.colno
        raise PasteError(f"This is not JSON: look at line {error.lineno}, column {column}.") from None
    except RecursionError:
        raise PasteError("This JSON is nested too deep to be read.") from None


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
    elif data.keys() & LISTS.keys():
        for name, transport in LISTS.items():
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


def without_secrets(servers: Iterable[McpServer]) -> str:
    """Write servers as text to be pasted elsewhere; `pasted` reads it back."""
    named: dict[str, Any] = {}
    for server in servers:
        wanted = words.server_stem(server)
        key = free_name(wanted, named)
        written = _as_placeholders(_written(bare(server)), key)
        named[key] = {"name": wanted, **written} if isinstance(server, StdioServer) and key != wanted else written
    return json.dumps({"mcpServers": named}, indent=2, ensure_ascii=False)


def _written(server: McpServer) -> dict[str, Any]:
    own = {name: value for name, value in members(server).items() if name != "name" and value is not None}
    if isinstance(server, StdioServer):
        return own
    key = own.pop("api_key", "")
    typed = {"type": "sse" if isinstance(server, SseServer) else "http", **own}
    return typed | {"headers": {**own.get("headers", {}), "Authorization": f"Bearer {key}"}} if key else typed


@dataclass(frozen=True)
class TakenIn:
    """The list with the pasted servers in it, and how many of them it had already."""

    servers: Servers
    found: int
    edited: int = 0
    same: int = 0

    @property
    def words(self) -> str:
        """`3 servers found, 1 is there already and will be edited`."""
        parts = [f"{words.counted(self.found, 'server')} found"]
        if self.edited:
            parts.append(f"{self.edited} {_is(self.edited)} there already and will be edited")
        if self.same:
            parts.append(f"{self.same} {_is(self.same)} there already, unchanged")
        return ", ".join(parts)


def take_in(servers: Servers, pasted: Sequence[McpServer]) -> TakenIn:
    """Put pasted servers into a list: what is there already is edited, the rest is added.

    Members that a pasted one does not speak of stay, secrets above all.
    """
    free = {entry.row: entry for entry in servers.entries}
    rows: dict[object, list[int]] = defaultdict(list)
    for entry in servers.entries:
        for place in _places(entry.server):
            rows[place].append(entry.row)
    edited = same = 0
    for server in pasted:
        row = next((row for place in _places(server) for row in rows[place] if row in free), None)
        if row is None:
            servers = servers.add(server)
            continue
        held = free.pop(row)
        merged = _onto(held.server, server)
        if merged == held.server and not held.removed:
            same += 1
        else:
            edited += 1
            servers = servers.edit(row, merged)
    return TakenIn(servers, len(pasted), edited, same)


def _onto(held: McpServer, pasted: McpServer) -> McpServer:
    given = filled(pasted, held)
    spoken_of = {name: getattr(given, name) for name in given.model_fields_set if name in type(given).model_fields}
    return held.model_copy(update={**(given.model_extra or {}), **spoken_of})


def _places(server: McpServer) -> Iterable[tuple[Transport, str]]:
    """What a server goes by, and what of that a text without secrets says."""
    transport, name = place_of(server)
    return (transport, name), (transport, masks.address(name))


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
