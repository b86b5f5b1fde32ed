"""One MCP server: how it is reached, what makes it the same one, and its secrets taken out and filled in again.

Secret are keys, environment values, headers and what signs in, user info and query of an address, and arguments after a
telling word. In place of each stands `masks.MASK`, which no check lets through to a server: what is not filled in again
has to be typed.
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
"""The word for how a server is reached -> its model."""


def place_of(server: McpServer) -> tuple[str, str]:
    """Kind and name: what two versions of a server have in common."""
    return server.kind, name_of(server)


class Version(NamedTuple):
    """A server somewhere: `key` tells it from the others there, `nth` counts those that are alike."""

    key: int
    server: McpServer
    nth: int | None = None


def versions(servers: Iterable[tuple[int, McpServer]]) -> Iterator[Version]:
    """Servers with their keys, those of one kind and name counted."""
    seen = Counter[tuple[str, str]]()
    for key, server in servers:
        place = place_of(server)
        yield Version(key, server, seen[place])
        seen[place] += 1


def paired(wanted: Iterable[Version], held: Iterable[Version]) -> dict[int, int]:
    """Key of each wanted version that is held -> key of the held one, which has its kind and name.

    Equal ones join first, then the n-th joins the n-th, then what is left in order; who comes first chooses first. A
    key may be wanted in several versions, and joins once.
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
    """A server with a mask in place of each secret."""
    return type(server).model_validate(masks.document(members(server), ""))


def filled(server: McpServer, held: McpServer | None) -> McpServer:
    """A server with those of its masks filled in that stand for a secret of `held`, another version of it."""
    if held is None or type(held) is not type(server):
        return server
    return type(server).model_validate(_filled(members(server), members(bare(held)), members(held)))


def _filled(given: Any, shown: Any, held: Any) -> Any:
    """JSON data with what is `held` in place of what is given just as it is `shown`, as a whole or part by part.

    A masked argument is looked for behind the same argument, for it may have moved; of several alike the first comes
    first.
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
    """Words -> value, for each part of a server that a secret can be in."""
    unknown = server.model_extra or {}
    if isinstance(server, StdioServer):
        return {**unknown, "an argument": server.args, **server.env}
    return {**unknown, "a part of the address": server.url, "key": server.api_key}


def missing(server: McpServer) -> Iterator[str]:
    """What of a server stands behind a mask and has to be typed, in words."""
    return (words for words, value in secret_parts(server).items() if holds_hidden(value))


def typed_anew(server: McpServer, before: McpServer | None) -> tuple[str, ...]:
    """Which secrets of a server are not those of an older version of it, in words."""
    known = secret_parts(filled(bare(server), before))
    return tuple(words for words, value in secret_parts(server).items() if known[words] != value)


def holds_hidden(value: Any) -> bool:
    """Whether a mask stands anywhere in a JSON value, or is a secret."""
    if isinstance(value, SecretStr):
        return value.get_secret_value() == MASK
    if isinstance(value, dict):
        return any(map(holds_hidden, value.values()))
    if isinstance(value, list | tuple):
        return any(map(holds_hidden, value))
    return isinstance(value, str) and MASK in value


def members(server: McpServer) -> dict[str, Any]:
    """The members of a server as JSON data, with the secrets that are in it."""
    revealed: dict[str, Any] = replace_secrets(server.model_dump(exclude_unset=True), lambda _, secret: secret)
    return revealed


def as_data(server: McpServer) -> dict[str, Any]:
    """A server as JSON data, with the secrets that are in it."""
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
"""An MCP server in a state file, with the secrets that are in it: whoever keeps one masks them first (`bare`)."""
