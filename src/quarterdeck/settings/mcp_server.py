"""One MCP server: its kind, its identity, and removing and restoring its secrets.

Secrets are keys, environment values, headers, authentication, the user info and query of an address, arguments after a
word like "token", and every text in members that the deck does not know. Each is replaced by `masks.MASK`, which the
checks never let through to a server: what is not restored must be typed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import PlainSerializer, PlainValidator, SecretStr

from quarterdeck.client.models.mcp import LISTS, McpServer, ShttpServer, SseServer, StdioServer, name_of
from quarterdeck.client.redact import replace_secrets
from quarterdeck.settings import masks
from quarterdeck.settings.masks import MASK

MODELS: Mapping[str, type[McpServer]] = {model.kind: model for model in LISTS.values()}
"""The model for each kind of server."""
USUAL_TIMEOUT = 60
"""The default time-out of a streamable HTTP server, in seconds."""
_UNTOLD = frozenset({"api_key", "auth", "env", "headers", "transport", "type"})
"""Members that a service which hides secrets does not tell, or not as they were sent."""


def place_of(server: McpServer) -> tuple[str, str]:
    """Return kind and name: what two versions of a server have in common."""
    return server.kind, name_of(server)


class Version(NamedTuple):
    """A server in some list: `key` identifies it there, `nth` counts servers of the same kind and name."""

    key: int
    server: McpServer
    nth: int | None = None


def versions(servers: Iterable[tuple[int, McpServer]]) -> Iterator[Version]:
    """Yield servers with their keys, numbered within each kind and name."""
    seen = Counter[tuple[str, str]]()
    for key, server in servers:
        place = place_of(server)
        yield Version(key, server, seen[place])
        seen[place] += 1


def paired(wanted: Iterable[Version], held: Iterable[Version]) -> dict[int, int]:
    """Return, by key of a wanted version, the key of the held version of the same kind and name.

    Equal servers are paired first, then the n-th with the n-th, then the rest in order; earlier ones choose first. A
    key may occur in several wanted versions, but is paired once.
    """
    free: dict[tuple[str, str], list[Version]] = defaultdict(list)
    for one in held:
        free[place_of(one.server)].append(one)
    asked = [(one, free[place]) for one in wanted if (place := place_of(one.server)) in free]
    pairs: dict[int, int] = {}
    for is_same in _SAME:
        for one, left in asked:
            found = [] if one.key in pairs else [other for other in left if is_same(one, other)]
            if found:
                best = next((other for other in found if other.nth == one.nth), found[0])
                pairs[one.key] = best.key
                left.remove(best)
    return pairs


_SAME: tuple[Callable[[Version, Version], bool], ...] = (
    lambda one, other: one.server == other.server,
    lambda one, other: one.nth is not None and one.nth == other.nth,
    lambda _one, _other: True,
)


def bare(server: McpServer) -> McpServer:
    """Return a server with a mask in place of each secret."""
    return type(server).model_validate(masks.document(server.model_dump(exclude_unset=True), ""))


def filled(server: McpServer, held: McpServer | None) -> McpServer:
    """Return a server whose masks are replaced by the secrets of `held`, another version of it."""
    if held is None or type(held) is not type(server):
        return server
    return type(server).model_validate(_filled(members(server), members(bare(held)), members(held)))


def _filled(given: Any, shown: Any, held: Any) -> Any:
    """Return JSON data in which a part that equals `shown` is replaced by that part of `held`.

    An argument may have moved, so a masked one is identified by the argument before it; among equal ones, in order.
    """
    if given == shown:
        return held
    if isinstance(given, dict) and isinstance(shown, dict):
        return {name: _filled(value, shown.get(name), held.get(name)) for name, value in given.items()}
    if isinstance(given, list) and isinstance(shown, list) and all(isinstance(text, str) for text in (*given, *shown)):
        behind = defaultdict[Any, list[Any]](list)
        for before, text, value in zip((None, *shown), shown, held, strict=False):
            behind[before, text].append(value)
        pairs = zip((None, *given), given, strict=False)
        return [found.pop(0) if (found := behind[pair]) else pair[1] for pair in pairs]
    return given


def secret_parts(server: McpServer) -> dict[str, Any]:
    """Return each part of a server that may contain a secret, by its name in words."""
    unknown = server.model_extra or {}
    if isinstance(server, StdioServer):
        return {**unknown, "an argument": server.args, **server.env}
    return {**unknown, "a part of the address": server.url, "key": server.api_key}


def missing(server: McpServer) -> Iterator[str]:
    """Yield the parts of a server that are masked and must be typed, in words."""
    return (words for words, value in secret_parts(server).items() if holds_hidden(value))


def typed_anew(server: McpServer, before: McpServer | None) -> tuple[str, ...]:
    """Return which secrets of a server differ from those of an older version, in words."""
    own = secret_parts(server)
    if type(before) is type(server) and secret_parts(before) == own:
        return ()  # finding out which differ takes longer: it is only done where some do
    known = secret_parts(filled(bare(server), before))
    return tuple(words for words, value in own.items() if known[words] != value and not holds_hidden(value))


def holds_hidden(value: Any) -> bool:
    """Whether a JSON value contains a mask anywhere."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, dict):
        return any(map(holds_hidden, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_hidden, value))
    return isinstance(value, str) and MASK in value


def members(server: McpServer) -> dict[str, Any]:
    """Return the members of a server as JSON data, including its secrets."""
    revealed: dict[str, Any] = replace_secrets(server.model_dump(exclude_unset=True), lambda _at, secret, _: secret)
    return revealed


def told(server: McpServer, *, hidden: bool) -> dict[str, Any]:
    """Return the members by which a server is compared with what was sent; if secrets are `hidden`, without those.

    An empty key equals none, and a missing time-out the default one; the name of an address is left out, because only
    one generation has it.
    """
    given = {name: value for name, value in members(server).items() if value is not None}
    if hidden:
        given = {name: value for name, value in given.items() if name not in _UNTOLD}
    if isinstance(server, StdioServer):
        return {"kind": server.kind, "args": [], "env": {}, **given}
    usual = {"kind": server.kind, "api_key": "", "timeout": USUAL_TIMEOUT}
    return usual | {name: value for name, value in given.items() if name != "name"}


def as_data(server: McpServer) -> dict[str, Any]:
    """Return a server as JSON data, including its secrets."""
    return {"transport": server.kind, "server": members(server)}


def _from_data(data: Any) -> McpServer:
    match data:
        case SseServer() | ShttpServer() | StdioServer():
            return data
        case {"transport": str(transport), "server": dict(given)} if transport in MODELS:
            return MODELS[transport].model_validate(given)
        case _:
            raise ValueError("this is not an MCP server")


KeptServer = Annotated[McpServer, PlainValidator(_from_data), PlainSerializer(as_data)]
"""An MCP server in a state file, including its secrets: mask them first (`bare`)."""
