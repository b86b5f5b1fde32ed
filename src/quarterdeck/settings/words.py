"""Values as words, without secrets, for the form and the review.

The text may come from a server and is not safe to paint.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from quarterdeck.client.models.mcp import McpServer, ShttpServer, StdioServer, name_of, own_name
from quarterdeck.client.redact import is_secret_name
from quarterdeck.settings import masks, mcp_server
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.fields import Control, Field, Unreadable, typed
from quarterdeck.settings.mcp import Entry, Servers
from quarterdeck.settings.mcp_server import USUAL_TIMEOUT, holds_hidden, missing

NOT_SET = "not set"


def value_words(entry: Field, value: Any) -> str:
    """Return a field's value as words; not for secrets."""
    if value is None:
        return NOT_SET
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Unreadable):
        return value.text
    if isinstance(value, Servers):
        return counted(len(value.remaining), "server")
    if isinstance(value, str | int | float):
        text = typed(value)
        words = entry.choices.get(value, "")
        if not text:
            return "empty"
        text = masks.address(text)
        return f"{text} · {words}" if words else text
    return typed(masks.document(value, entry.key))


def editable(entry: Field, value: Any) -> str:
    """Return a field's value as a line to be edited; secret parts are masked."""
    return typed(masks.document(value, entry.key)) if isinstance(value, list | dict) else masks.address(typed(value))


def known_words(entry: Field, known: Any) -> str:
    """Return what is known of a stored value; for a secret, whether there is one."""
    if entry.secret:
        return {True: "stored", False: "not stored", None: "this server does not tell"}[known]
    return value_words(entry, known)


def edited_words(entry: Field, value: Any) -> str:
    """Return the new value of an edited field."""
    if entry.secret:
        return "cleared" if value is None else "new value"
    return value_words(entry, value)


def after_save(draft: Draft, key: str) -> str:
    """Return what a field has after a save."""
    return edited_words(draft.field_at(key), draft.edits[key]) if key in draft.edits else former(draft, key)


def former(draft: Draft, key: str) -> str:
    """Return what a field has, or had before its edit."""
    entry = draft.field_at(key)
    if entry.control is Control.READ_ONLY:
        providers = (f"{provider} ({host})" if host else provider for provider, host in draft.tokens.items())
        return ", ".join(providers) or "none"
    return known_words(entry, draft.known(key))


def server_name(server: McpServer) -> str:
    """Return a server's name, or its address without secret parts."""
    return name_of(server) if isinstance(server, StdioServer) else masks.address(name_of(server))


def server_title(server: McpServer) -> str:
    """Return kind and name."""
    return f"{server.kind} {server_name(server)}"


def server_details(server: McpServer) -> str:
    """Return the rest of a server in one line: command and arguments, or the name it is stored under and time-out."""
    if isinstance(server, StdioServer):
        line = command_line(server)
        return f"{line} · {counted(len(server.env), 'variable')}" if server.env else line
    said = [own_name(server)]
    if isinstance(server, ShttpServer) and server.timeout not in (None, USUAL_TIMEOUT):
        said.append(f"time-out {server.timeout} s")
    return " · ".join(filter(None, said))


def command_line(server: StdioServer) -> str:
    """Return command and arguments, with masked secrets."""
    return " ".join((server.command, *map(_quoted, masks.arguments(server.args))))


def _quoted(argument: str) -> str:
    """Return an argument, in quotes if it is empty or has blanks."""
    return argument if argument and not re.search(r"\s", argument) else shlex.quote(argument)


def key_words(server: McpServer, *, hidden: bool = False) -> str:
    """Return whether a server has a key; `hidden` means that the service returns none, so a known one was typed."""
    if any(missing(server)):
        return "to type"
    if hidden:
        return "typed" if has_secret(server) else "not told"
    if isinstance(server, StdioServer):
        return ""
    return "stored" if has_secret(server) else "none"


def entry_place_word(entry: Entry) -> str:
    """Return where an MCP server is now, in a word; empty if it is new."""
    if entry.was is not None:
        return "on"
    return "" if entry.kept is None else "disabled"


def entry_key_words(entry: Entry, *, hidden: bool) -> str:
    """Return whether a server of the form has a key, and whether that is stored already."""
    word = key_words(entry.server, hidden=hidden and entry.was is not None)
    if word != "stored" or entry.server == entry.before:
        return word
    own, before = ({} if each is None else mcp_server.members(each) for each in (entry.server, entry.before))
    return "typed" if own["api_key"] != before.get("api_key") else word


def has_secret(server: McpServer) -> bool:
    """Whether a key or a variable of a server is known here."""
    if isinstance(server, StdioServer):
        return bool(server.env)
    return server.api_key is not None and bool(server.api_key.get_secret_value())


def holds_secret(server: McpServer) -> bool:
    """Whether anything of a server is known here that a service which hides secrets does not return."""
    return has_secret(server) or bool((server.model_extra or {}).get("headers"))


def unknown_words(name: str, value: object) -> str:
    """Return the value of an unknown field; it is not shown if its name or form suggests a secret."""
    if is_secret_name(name) or isinstance(value, dict | list):
        return "empty" if not value else "not shown"
    if isinstance(value, bool):
        return "on" if value else "off"
    return NOT_SET if value is None else str(value)


MOST_NAMED = 10


def few(names: Sequence[str], between: str = ", ") -> str:
    """Return names as a list; of many, the first ones and how many more there are."""
    if len(names) <= MOST_NAMED:
        return between.join(names)
    return f"{between.join(names[:3])} and {len(names) - 3:,} more"


def together(said: Iterable[tuple[str, str]]) -> list[str]:
    """Return each sentence of (name, sentence) once, behind the names of all that it is about."""
    about: dict[str, list[str]] = defaultdict(list)
    for name, sentence in dict.fromkeys(said):
        about[sentence].append(name)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in about.items()]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def differences(was: McpServer, now: McpServer) -> tuple[list[str], list[str]]:
    """Return (old, new): the parts that differ, as words."""
    old, new = parts(was), parts(now)
    before: list[str] = []
    after: list[str] = []
    for name in {**old, **new}:
        (shown, value), (now_shown, now_value) = old.get(name, ABSENT), new.get(name, ABSENT)
        if value == now_value:
            continue
        before += [f"{name} {shown}"] if shown and shown != now_shown else []
        if now_value is None:
            after += [f"{name} removed"] if value or not shown else []  # a default goes without a word
        elif now_shown and shown != now_shown:
            after.append(f"{name} {now_shown}")
        elif holds_hidden(now_value):
            continue  # not known here, and to be typed
        elif now_shown:
            after.append(f"a hidden part of the {name} changed")
        else:
            after.append(f"{name} added" if value is None else f"{name} new value")
    return before, after


ABSENT: tuple[str, Any] = "", None
_CALLED = {"cwd": "directory"}
"""Words for further members whose names are no words."""


def _strategy(value: Any) -> Any:
    """Return the strategy of an authentication that tells no more, any other value as it is."""
    return value["strategy"] if isinstance(value, dict) and value.keys() == {"strategy"} else value


def parts(server: McpServer) -> dict[str, tuple[str, Any]]:
    """Return, by name, each part of a server: how it is shown (empty if never) and its value.

    The name of an address in a map is left out, because the map chooses it.
    """
    members, masked = mcp_server.members(server), mcp_server.members(mcp_server.bare(server))
    name, key = members.pop("name", None), members.pop("api_key", None)
    if isinstance(server, StdioServer):
        command = (members.pop("command"), members.pop("args", []))
        said = {"name": (name, name), "command": (command_line(server), command)}
        secret = members.pop("env", {})
    else:
        kind = server.kind, members.pop("transport", None)
        said = {"type": (server.kind, kind), "address": (server_name(server), members.pop("url"))}
        if isinstance(server, ShttpServer):
            wait = members.pop("timeout", None)
            said["time-out"] = ("default" if wait is None else f"{wait} s", wait or "")
        secret = {} if key is None else {"key": key}
    if isinstance(members.get("headers"), dict):
        secret |= {f"header {header}": value for header, value in members.pop("headers").items()}
    shown = {member: typed(_strategy(masked[member])) for member in members}
    others = {
        _CALLED.get(member, member): ("" if masks.MASK in shown[member] else shown[member], members[member])
        for member in members
    }
    return said | {part: ("", value) for part, value in secret.items()} | others
