"""Finding out what answers at an address, in a few small requests."""

from enum import Enum, auto
from typing import Any

from quarterdeck.client.bodies import read_json
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.flat import FLAT_SETTINGS
from quarterdeck.client.generations import rules_of
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.nested import NESTED_SETTINGS
from quarterdeck.client.refusals import not_offered
from quarterdeck.client.request import Repeat, Request
from quarterdeck.client.transport import Transport

LOCAL_SERVICE = "quarterdeck-local"


class _Says(Enum):
    """What a settings path answers."""

    OPEN = auto()
    REFUSED = auto()
    FAILING = auto()
    ABSENT = auto()


_KEY = {_Says.OPEN: KeyState.ACCEPTED, _Says.REFUSED: KeyState.REFUSED}


async def describe(transport: Transport) -> Server:
    """Find out the generation of a server, whether it takes the key, and what it does with each field.

    Raises ServiceError when the server cannot be asked at all; a refused key is an answer.
    """
    nested = await _ask(transport, NESTED_SETTINGS)
    # A path that refuses or fails may be one that something in front of the service answers for.
    flat = _Says.ABSENT if nested is _Says.OPEN else await _ask(transport, FLAT_SETTINGS)
    about = await _about(transport)
    if flat is not _Says.ABSENT:
        return _server(Generation.FLAT, flat, about)
    return _server(Generation.NONE if nested is _Says.ABSENT else Generation.NESTED, nested, about)


def _server(generation: Generation, says: _Says, about: dict[str, Any]) -> Server:
    local = generation is not Generation.NONE and about.get("service") == LOCAL_SERVICE
    nested = generation is Generation.NESTED
    merges = nested or (local and about.get("settings_store") == "merge")
    return Server(
        generation,
        _KEY.get(says, KeyState.UNPROVEN),
        release=_release(about),
        local=local,
        simulated=local and about.get("simulated_sandboxes") is not None,
        merges=merges,
        mcp_secrets_hidden=nested,
        secret_values_change=nested,
        profiles=nested,
        schema=nested,
        fields=rules_of(generation, merges=merges),
    )


async def release_of(transport: Transport) -> str | None:
    """Read the release from the server's own description of its interface, half a megabyte of it; None without one."""
    request = Request("GET", "/openapi.json", repeat=Repeat.ONCE, seconds=transport.limits.release, background=True)
    info = (await _object(transport, request)).get("info")
    version = info.get("version") if isinstance(info, dict) else None
    return version if isinstance(version, str) else None


async def _ask(transport: Transport, path: str) -> _Says:
    """Ask a settings path; "nothing stored" and "no such path" are both 404 and differ in the body."""
    request = Request("GET", path)
    try:
        reply = await transport.send(request)
    except ServiceError as error:
        if error.status in (405, 410, 500):
            return _Says.FAILING
        if not_offered(error):
            return _Says.ABSENT
        if error.kind is ErrorKind.MISSING:
            return _Says.OPEN
        if error.kind in (ErrorKind.AUTH, ErrorKind.DENIED):
            return _Says.REFUSED
        raise
    return _Says.OPEN if isinstance(read_json(reply.body, str(request), reply.status), dict) else _Says.ABSENT


async def _about(transport: Transport) -> dict[str, Any]:
    return await _object(transport, Request("GET", "/server_info"))


async def _object(transport: Transport, request: Request) -> dict[str, Any]:
    """Read an object that is nice to have; an empty one when it is not to be had."""
    try:
        content = read_json((await transport.send(request)).body)
    except ServiceError:
        return {}
    return content if isinstance(content, dict) else {}


def _release(about: dict[str, Any]) -> str | None:
    version = about.get("version")
    return version if isinstance(version, str) else None
