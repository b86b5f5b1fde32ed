"""MCP servers as JSON text: pasted from other tools or from this service, and written without secrets.

It reads the `mcpServers` object of most tools, VS Code's `servers` (its page "MCP configuration reference"), the map
inside either, and this service's own forms: three lists or a map. It writes `mcpServers`, with `${NAME}` in place of a
secret: no service substitutes it, so when it is read back, the secret must be typed.
"""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from quarterdeck.client.models.base import deeper
from quarterdeck.client.models.mcp import (
    LISTS,
    McpServer,
    ShttpServer,
    SseServer,
    StdioServer,
    free_name,
    model_by_look,
    name_in_map,
    own_name,
)
from quarterdeck.settings import masks, words
from quarterdeck.settings.masks import MASK
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_server import bare, filled, members, place_of

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|^\$[A-Za-z_]\w*$")
_FENCE = re.compile(r"```\w*|\ufeff")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
"""A comment, or a text, in which there is none."""
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[\[{:,]\s*,|,(?=\s*[}\]])', re.DOTALL)
"""The comma behind a last value; or a text, or a comma without a value, which stays wrong."""
_NOT_IN_A_NAME = re.compile(r"[^A-Z0-9]+")
_BEARER = re.compile(r"bearer\s+(\S+)\s*", re.IGNORECASE)
_WRAPPERS = ("mcpServers", "mcp_servers", "servers", "context_servers", "mcp_config", "mcp")
_OF_ONE = ("command", "url", "serverUrl", "httpUrl")
"""Members that tell a server: its command, or an address, as Windsurf and Gemini CLI call it, too (their pages on MCP
servers)."""
_SYNONYMS = {"apiKey": "api_key", "environment": "env", "serverUrl": "url"}
TOO_MUCH = "This is nested too deep, or has too long a number, to be read."
_ABOUT = ("type", "transport", "name", "disabled", "enabled")
_MODELS: Mapping[str, type[McpServer]] = {
    "stdio": StdioServer,
    "local": StdioServer,
    "sse": SseServer,
    "http": ShttpServer,
    "remote": ShttpServer,
    "shttp": ShttpServer,
    "streamablehttp": ShttpServer,
}
"""Words for the kind of server, without separators (MCP specification "Transports")."""


class PasteError(Exception):
    """The text contains no servers; the message says why, and quotes only names."""


@dataclass(frozen=True)
class Pasted:
    """The servers of a text, and sentences without secrets about those left out, and about what else was not read."""

    servers: tuple[McpServer, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    off: tuple[McpServer, ...] = ()
    """The servers that are switched off there."""


def pasted(text: str, *, nested: bool = False) -> Pasted:
    """Read servers from text; `nested` means that the service keeps further members, also names of addresses.

    A placeholder such as `${TOKEN}` becomes a mask, which must be replaced. Raises PasteError.
    """
    servers: list[McpServer] = []
    off: list[McpServer] = []
    left_out: list[str] = []
    notes: list[str] = []
    data = _data(text)
    for number, (key, given) in enumerate(_found(data), 1):
        name = _own_name(given) or key
        title = name or f"Server {number}"
        try:
            server, said = _read(name, given, nested=nested)
        except PasteError as error:
            left_out.append(f"{title}: {error}.")
        else:
            servers.append(server)
            if given.get("disabled") is True or given.get("enabled") is False:
                off.append(server)
            notes += (f"{title}: {words}" for words in said)
    maps = [
        name for name in (*_WRAPPERS, "projects") if isinstance(data, dict) and isinstance(data.get(name), dict | list)
    ]
    if len(maps) > 1:
        notes.append(f"Only {maps[0]} is read, not {', '.join(maps[1:])}.")
    if not servers:
        raise PasteError(" ".join(left_out) or "There is no MCP server in this text.")
    return Pasted(tuple(servers), tuple(left_out), tuple(notes), tuple(off))


def _data(text: str) -> Any:
    """Parse JSON as web pages and editors have it: in a code fence, without braces, with comments and last commas.

    What is not JSON becomes spaces, so that the place of an error stays right.
    """
    text = _COMMENT.sub(_blank, _FENCE.sub(lambda fence: " " * len(fence[0]), text))
    brace = "{" if text.lstrip().startswith('"') else ""
    text = _LAST_COMMA.sub(_blank, f"{brace}{text.rstrip()}}}" if brace else text)
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        column = error.colno - (len(brace) if error.lineno == 1 else 0)
        raise PasteError(f"This is not JSON: look at line {error.lineno}, column {column}.") from None
    except (RecursionError, ValueError):
        raise PasteError(TOO_MUCH) from None
    if deeper(data):
        raise PasteError(TOO_MUCH)
    return data


def _blank(found: re.Match[str]) -> str:
    """Return spaces in place of a comma, or of a comment that ends, but for line ends; all else stays."""
    text = found[0]
    is_comment = text.startswith("//") or (text.startswith("/*") and text.endswith("*/"))
    return re.sub(r"[^\n]", " ", text) if is_comment or text == "," else text


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises PasteError for a duplicate name, because the first value would be lost."""
    given = dict(members)
    if len(given) < len(members):
        names = [name for name, _ in members]
        raise PasteError(f"{next(name for name in names if names.count(name) > 1)} is given twice.")
    return given


def _found(data: Any) -> Iterable[tuple[str, Any]]:
    """Return (name in a map, members) of every server in data of any supported form."""
    if isinstance(data, list):
        return [("", one) for one in data]
    if not isinstance(data, dict):
        return ()
    wrapped = next((data[name] for name in _WRAPPERS if isinstance(data.get(name), dict | list)), None)
    if wrapped is not None:
        return _found(wrapped)
    if data.keys() & LISTS.keys():
        lists = ((model, data[name]) for name, model in LISTS.items() if isinstance(data.get(name), list))
        return [("", _of_kind(model, one)) for model, servers in lists for one in servers]
    return [("", data)] if any(isinstance(data.get(member), str) for member in _OF_ONE) else data.items()


def _of_kind(model: type[McpServer], given: Any) -> Any:
    """Return the members of a server in a list of one kind; config.toml has addresses in place of some."""
    members = {"url": given} if isinstance(given, str) else given
    return {**members, "type": model.kind} if isinstance(members, dict) else members


def _own_name(given: Any) -> str:
    name = given.get("name") if isinstance(given, dict) else None
    return name if isinstance(name, str) else ""


def _read(name: str, given: Any, *, nested: bool) -> tuple[McpServer, list[str]]:
    """Return (server, what could not be read); empty members count as missing."""
    if not isinstance(given, dict):
        raise PasteError("it is not an object")
    if isinstance(command := given.get("command"), dict):  # as Zed has it
        given = {**given, "command": command.pop("path", None), **command}
    if "httpUrl" in given:
        given = {"type": "http", **given, "url": given["httpUrl"]}
        del given["httpUrl"]
    given = {member if (own := _SYNONYMS.get(member, member)) in given else own: given[member] for member in given}
    model = _model_of(given)
    given = _in_words(given) if model is StdioServer else _with_key(given)
    found = {member: value for member, value in given.items() if member not in _ABOUT and (value or value == 0)}
    found = _texts(found, "", lambda text, _: _PLACEHOLDER.sub(MASK, text))
    if nested or model is StdioServer:
        found["name"] = name
    left_out = [] if nested else [member for member in found if member not in model.model_fields]
    try:
        server = model.model_validate({member: value for member, value in found.items() if member not in left_out})
    except ValidationError as error:
        member = error.errors(include_input=False)[0]["loc"][0]
        raise PasteError(f"its {member} is missing or not of the right kind") from None
    named = ", ".join(
        f"headers ({', '.join(found[each])})" if each == "headers" and isinstance(found[each], dict) else each
        for each in left_out
    )
    return server, [f"this service has no place for {named}."] if left_out else []


def _model_of(given: Mapping[str, Any]) -> type[McpServer]:
    """Return the model by the word for the kind, otherwise by the form of the members."""
    word = given.get("type", given.get("transport"))
    if isinstance(word, str):
        model = _MODELS.get(re.sub(r"[-_ ]", "", word.lower()))
        if model is None:
            raise PasteError("its type is none of stdio, SSE and HTTP")
        return model
    model = model_by_look(given)
    if model is None:
        raise PasteError("it has neither a command nor an address")
    return model


def _in_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return members of a command as a shell expects them: numbers as text, and a command line split into arguments."""
    told = dict(given)
    if isinstance(line := told.get("command"), list) and line and not told.get("args"):  # as opencode has it
        told["command"], *told["args"] = line
    if isinstance(args := told.get("args"), list):
        told["args"] = [_as_text(value) for value in args]
    if isinstance(env := told.get("env"), dict):
        told["env"] = {name: _as_text(value) for name, value in env.items() if value is not None}
    line = told.get("command")
    if isinstance(line, str) and " " in line.strip() and not args:
        with suppress(ValueError):  # an unterminated quote; the command is refused later, in the form
            told["command"], *told["args"] = shlex.split(line)
    return told


def _as_text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _with_key(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return members with the key in its own member, if it is a bearer token in a header."""
    headers = given.get("headers")
    if not isinstance(headers, dict) or given.get("api_key"):
        return given
    for name, value in headers.items():
        token = _BEARER.fullmatch(value) if isinstance(value, str) and name.lower() == "authorization" else None
        if token:
            others = {other: held for other, held in headers.items() if other != name}
            return {**given, "headers": others, "api_key": token[1]}
    return given


def without_secrets(servers: Iterable[McpServer]) -> str:
    """Return servers as text to paste elsewhere, with a variable of its own for each secret; `pasted` reads it back."""
    named: dict[str, Any] = {}
    variables: set[str] = set()

    def with_variables(text: str, name: str) -> str:
        while MASK in text:
            wanted = _NOT_IN_A_NAME.sub("_", name.upper()).strip("_") or "SECRET"
            variables.add(free := free_name(wanted, variables, "_"))
            text = text.replace(MASK, f"${{{free}}}", 1)
        return text

    for server in servers:
        own = name_in_map(server)
        key = free_name(own, named)
        written = _texts(_written(bare(server)), "", with_variables)
        named[key] = written if key == own else {"name": own, **written}
    return json.dumps({"mcpServers": named}, indent=2, ensure_ascii=False)


def _written(server: McpServer) -> dict[str, Any]:
    own = {name: value for name, value in members(server).items() if name != "name" and value is not None}
    if isinstance(server, StdioServer):
        return own
    key = own.pop("api_key", "")
    typed = {"type": server.kind.lower(), **own}
    return typed | {"headers": {**own.get("headers", {}), "Authorization": f"Bearer {key}"}} if key else typed


def _texts(value: Any, name: str, change: Callable[[str, str], str]) -> Any:
    """Return JSON data with each text changed; `name` is the name of the member that contains it."""
    if isinstance(value, dict):
        return {member: _texts(held, member, change) for member, held in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(held, name, change) for held in value]
    return change(value, name) if isinstance(value, str) else value


@dataclass(frozen=True)
class MergedPaste:
    """The list with the pasted servers, in words how many of them it already had, and what was not taken over."""

    servers: Servers
    words: str
    notes: tuple[str, ...] = ()


EDITED, SAME = "there already and will be edited", "there already, unchanged"
OFF = "switched off: disabled, without secrets"
ON_HERE = "it is switched off there, and on here."


def merge_pasted(servers: Servers, pasted: Sequence[McpServer], off: Sequence[McpServer] = ()) -> MergedPaste:
    """Add pasted servers to a list: existing servers are edited, others are added; new ones of `off` are disabled.

    Members that a pasted server does not contain are kept, above all secrets.
    """
    free = {entry.row: entry for entry in servers.entries}
    rows: dict[object, list[int]] = defaultdict(list)
    for entry in servers.entries:
        for place in _places(entry.server):
            rows[place].append(entry.row)
    taken = {own_name(entry.server) for entry in servers.remaining}
    became: list[str] = []
    notes: list[str] = []
    for server in pasted:
        row = next((row for place in _places(server) for row in rows[place] if row in free), None)
        if row is None:
            named = _with_free_name(server, taken)
            if named is not server:
                notes.append(f"{words.server_title(server)}: its name is taken; it is called {own_name(named)}.")
            added = servers.add(named)
            servers = added.disable(servers.next_row, with_secrets=False) if server in off else added
            became.append(OFF if server in off else "")
            taken |= set() if server in off else {own_name(named)}
            continue
        held = free.pop(row)
        merged = _onto(held.server, server)
        is_same = merged == held.server and not held.removed
        servers = servers if is_same else servers.edit(row, merged)
        taken.add(own_name(merged))
        became.append(SAME if is_same else EDITED)
        notes += [f"{words.server_title(server)}: {ON_HERE}"] if server in off and not held.disabled else []
    counts = [(became.count(what), what) for what in (EDITED, SAME, OFF) if what in became]
    said = [f"{count} {'is' if count == 1 else 'are'} {what}" for count, what in counts]
    return MergedPaste(servers, ", ".join([f"{words.counted(len(pasted), 'server')} found", *said]), tuple(notes))


def _with_free_name(server: McpServer, taken: Collection[str]) -> McpServer:
    """Return an address as it can be stored in a map by name, where another server may have its name."""
    name = own_name(server)
    if not name or name not in taken or isinstance(server, StdioServer):
        return server
    return server.model_copy(update={"name": free_name(name, taken)})


def _onto(held: McpServer, pasted: McpServer) -> McpServer:
    given = filled(pasted, held)
    spoken_of = {name: getattr(given, name) for name in given.model_fields_set if name in type(given).model_fields}
    return held.model_copy(update={**(given.model_extra or {}), **spoken_of})


def _places(server: McpServer) -> Iterable[tuple[str, str]]:
    """Return what identifies a server, also without the secret parts of its address."""
    kind, name = place_of(server)
    return (kind, name), (kind, masks.address(name))
