"""Whether a sandbox or a tool server answers at its address, seen from this machine."""

import time
from dataclasses import dataclass

from pydantic import SecretStr

from quarterdeck.client.address import origin_of
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.transport import Transport

EITHER = "application/json, text/event-stream"
"""What a tool server may answer with, whichever way it speaks."""
READ_REFUSED = (400, 405, 406)
"""What a streamable HTTP server may say to a plain read: it wants a session, a POST, or another form of answer."""
_BRIEF = {
    ErrorKind.DNS: "no such host",
    ErrorKind.UNREACHABLE: "no connection",
    ErrorKind.CONNECT_TIMEOUT: "no answer",
    ErrorKind.STALLED: "no answer",
    ErrorKind.TLS: "TLS fails",
    ErrorKind.WRONG_API: "no HTTP",
    ErrorKind.LOCAL: "not tried",
}


@dataclass(frozen=True)
class Probe:
    """What came of trying an address once."""

    brief: str
    """A word or two for a list."""
    words: str
    """What is said after the name of the server."""
    good: bool


async def alive(transport: Transport, url: str) -> bool:
    """Ask `/alive` at the origin of a sandbox's address, without any key; whether anything answers there."""
    try:
        return await transport.status_at(f"{origin_of(url)}/alive", transport.limits.alive, of_sandbox=True) < 500
    except (ServiceError, ValueError):
        return False


async def probe(transport: Transport, url: str, key: SecretStr | None) -> Probe:
    """Try an address with one read; a sandbox may see another network, and the words say so."""
    if url.partition("://")[0].lower() not in ("http", "https"):
        return Probe("not tried", "was not tried: only http:// and https:// addresses are.", good=False)
    started = time.perf_counter()
    try:
        status = await transport.status_at(url, transport.limits.probe, accept=EITHER, secret=key)
    except ServiceError as error:
        brief, told = _BRIEF.get(error.kind, "broken off"), error.words
        if error.kind is not ErrorKind.LOCAL:
            told += " Tried from this machine; a sandbox's network may differ."
        return Probe(brief, told, good=False)
    with_key = key is not None and bool(key.get_secret_value())
    return _answered(status, (time.perf_counter() - started) * 1000, with_key=with_key)


def _answered(status: int, ms: float, *, with_key: bool) -> Probe:
    """What a status means for a tool server."""
    answers = f"answers {status} from this machine in {ms:.0f} ms"
    match status:
        case 401 | 403 if with_key:
            return Probe(f"key refused {status}", f"refuses its key ({status}), tried from this machine.", good=False)
        case 401 | 403:
            return Probe(f"needs a key {status}", f"needs a key ({status}), tried from this machine.", good=False)
        case 404:
            return Probe("404", f"{answers}: nothing is at this path.", good=False)
        case _ if 300 <= status < 400:
            words = f"{answers}: it points to another address, which was not followed."
            return Probe(f"moved {status}", words, good=False)
        case _ if 200 <= status < 300 or status in READ_REFUSED:
            return Probe(f"{status} in {ms:.0f} ms", f"{answers}; a sandbox's network may differ.", good=True)
        case _:
            return Probe(f"answers {status}", f"{answers}; that is no welcome.", good=False)
