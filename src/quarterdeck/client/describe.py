"""Finds out with a few small requests what a server is, and what responds at the address of a tool server."""

import time
from collections.abc import Container
from typing import Any, NamedTuple

from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.flat import FLAT_SETTINGS, flat_rules
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.nested import AGENT, CONVERSATION, FIELDS, NESTED_RULES, NESTED_SETTINGS
from quarterdeck.client.refusals import not_offered, nothing_stored
from quarterdeck.client.request import Request
from quarterdeck.client.transport import Transport

LOCAL_SERVICE = "quarterdeck-local"
_MEMBERS = frozenset({*FIELDS, AGENT, CONVERSATION})
"""What a settings record has some of; anything else that answers with 200 says nothing about a key."""
_MOMENTARY = frozenset({None, 429, 502, 503, 504})
"""Statuses, None without an answer, that say nothing of what a server is."""


async def describe(transport: Transport) -> Server:
    """Find out the generation of a server, whether it accepts the key, and what it does with each field.

    Raises ServiceError if the server cannot be reached, or not for the moment; a refused key is a result.
    """
    generation, key = Generation.NESTED, await _key_state(transport, NESTED_SETTINGS)
    # A refusal or failure at this path may come from something in front of the service.
    if key is not KeyState.ACCEPTED and (flat := await _key_state(transport, FLAT_SETTINGS)) is not None:
        generation, key = Generation.FLAT, flat
    about = await read_object(transport, Request("GET", "/server_info"), raised=_MOMENTARY)
    if key is None:
        return Server(Generation.NONE, KeyState.UNPROVEN, release=release_in(about))
    local = about.get("service") == LOCAL_SERVICE
    merges = generation is Generation.NESTED or (local and about.get("settings_store") == "merge")
    return Server(
        generation,
        key,
        release=release_in(about),
        local=local,
        simulated=local and about.get("simulated_sandboxes") is not None,
        merges=merges,
        fields=NESTED_RULES if generation is Generation.NESTED else flat_rules(merges=merges),
    )


async def release_of(transport: Transport) -> str:
    """Return the release from the server's description of its interface, half a megabyte; empty if there is none."""
    request = Request("GET", "/openapi.json", seconds=transport.limits.release, background=True)
    info = (await read_object(transport, request)).get("info")
    return release_in(info) if isinstance(info, dict) else ""


async def _key_state(transport: Transport, path: str) -> KeyState | None:
    """Return what a settings path says about the key (SERVERS.md: the key), None if there are no settings.

    "Nothing stored" and "no such path" are both 404 and differ in the body.
    """
    try:
        response = await transport.send(Request("GET", path))
    except ServiceError as error:
        if error.status in (405, 410, 500):
            return KeyState.UNPROVEN
        if nothing_stored(error):
            return KeyState.ACCEPTED
        if not_offered(error) or error.kind is ErrorKind.MISSING:
            return None
        if error.kind in (ErrorKind.AUTH, ErrorKind.DENIED):
            return KeyState.REFUSED
        raise
    record = response.json()
    is_record = isinstance(record, dict) and (not record or bool(_MEMBERS & record.keys()))
    return KeyState.ACCEPTED if is_record else None


async def read_object(
    transport: Transport, request: Request, *, raised: Container[int | None] = frozenset()
) -> dict[str, Any]:
    """Return an optional object; an empty one if it cannot be read, unless that ends with a status that is raised."""
    try:
        content = (await transport.send(request)).json()
    except ServiceError as error:
        if error.status in raised:
            raise
        return {}
    return content if isinstance(content, dict) else {}


def release_in(about: dict[str, Any]) -> str:
    """Return the release that a server tells of itself; empty if it does not."""
    version = about.get("version")
    return version if isinstance(version, str) else ""


READ_REFUSED = (400, 405, 406)
"""Statuses of a streamable HTTP server for a plain GET: it wants a session, POST or another content type."""
_BRIEF = {
    ErrorKind.DNS: "no such host",
    ErrorKind.UNREACHABLE: "no connection",
    ErrorKind.CONNECT_TIMEOUT: "no answer",
    ErrorKind.STALLED: "no answer",
    ErrorKind.TLS: "TLS fails",
    ErrorKind.WRONG_API: "no HTTP",
    ErrorKind.LOCAL: "not tried",
}


class Probe(NamedTuple):
    """The result of trying an address once."""

    brief: str
    """One or two words for a list."""
    words: str
    """The words that follow the name of the server."""
    good: bool


async def probe(transport: Transport, url: str, key: SecretStr | None) -> Probe:
    """Try an address with one GET; the words say that a sandbox may be in another network."""
    if url.partition("://")[0].lower() not in ("http", "https"):
        return Probe("not tried", "was not tried: only http:// and https:// addresses are.", good=False)
    started = time.perf_counter()
    try:
        status = await transport.status_at(url, key=key, untrusted=True)
    except ServiceError as error:
        where = "" if error.kind is ErrorKind.LOCAL else " Tried from this machine; a sandbox's network may differ."
        return Probe(_BRIEF.get(error.kind, "broken off"), error.words + where, good=False)
    ms = f"{(time.perf_counter() - started) * 1000:.0f} ms"
    answers = f"answers {status} from this machine in {ms}"
    match status:
        case 401 | 403 if key is not None and key.get_secret_value():
            return Probe(f"key refused {status}", f"refuses its key ({status}), tried from this machine.", good=False)
        case 401 | 403:
            return Probe(f"needs a key {status}", f"needs a key ({status}), tried from this machine.", good=False)
        case 404:
            return Probe("404", f"{answers}: nothing is at this path.", good=False)
        case _ if 300 <= status < 400:
            words = f"{answers}: it points to another address, which was not followed."
            return Probe(f"moved {status}", words, good=False)
        case _ if 200 <= status < 300 or status in READ_REFUSED:
            return Probe(f"{status} in {ms}", f"{answers}; a sandbox's network may differ.", good=True)
        case _:
            return Probe(f"answers {status}", f"{answers}; that is no welcome.", good=False)
