"""Converts a server's error status and body to an error with words for a person."""

import math
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from quarterdeck.client.errors import ErrorKind, FieldProblem, ServiceError
from quarterdeck.client.network import origin_of
from quarterdeck.client.redact import Location, scrub
from quarterdeck.client.request import WRONG_ADDRESS, Request, Response, decoded, http_date

LONGEST = 200
"""Maximum characters of a server's own words that are passed on."""
NO_ROUTE = "Not Found"
"""The text for a path that a server does not have; any other text names what was not found."""
NOTHING_STORED = "Settings not found"
"""The text if no settings have been stored yet (SERVERS.md: nothing stored, and no such path)."""
NEWER = "A newer release may offer it."
"""The advice for everything that a server lacks."""
ENDS = (".", "!", "?", "…")
"""The characters that end a sentence."""

BAD_REQUEST = 400
"""Statuses below this are redirects."""
FAILED = 500
"""The status of a server's own failure; 502 to 504 may come from a proxy in front of it."""
_SPEAKS_TLS = re.compile(rb"(?i)http request (was sent )?to (an )?https|to an ssl-enabled")
"""What web servers answer to plain http at a TLS port."""
_COMPLAINTS = re.compile(r"\d+ validation errors? for ")
_COMPLAINT = re.compile(r"  (?P<message>\S.*?) \[type=\w+")


def refusal(response: Response, secrets: Iterable[str] = ()) -> ServiceError:
    """Return the error for a response of status 300 or above; `secrets` are removed from the server's words."""
    secrets = tuple(secrets)
    content = None if response.is_html else response.json_or_none()
    problems = tuple(_problems(content, secrets))
    said = _target(response) if response.status < BAD_REQUEST else _said(response, content, problems)
    said = scrub(said, secrets)[:LONGEST].strip()
    wait = _seconds_to_wait(response.headers.get("Retry-After"))
    kind, words, advice = _explained(response, content, said, wait)
    return replace(response.error(kind, words, advice), server_words=said, retry_after=wait, problems=problems)


def _seconds_to_wait(header: str | None) -> float | None:
    """Parse a Retry-After header, seconds or a date (RFC 9110 section 10.2.3); None if missing, past or invalid."""
    try:
        seconds = float(header or "")
    except ValueError:
        moment = http_date(header or "")
        seconds = math.nan if moment is None else moment.timestamp() - time.time()
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def nothing_stored(error: ServiceError) -> bool:
    """Whether an error means that no settings have been stored yet; no other "not found" means that."""
    return error.kind is ErrorKind.MISSING and error.status == 404 and error.server_words == NOTHING_STORED


def not_offered(error: ServiceError) -> bool:
    """Whether an error means that a server has no such path.

    A server that also serves the web page answers unknown paths with that page and status 200.
    """
    return error.kind is ErrorKind.WRONG_API and error.status in (200, 404, 405)


def offers_nothing(words: str, error: ServiceError) -> ServiceError:
    """Return the error for something that this server cannot do."""
    return replace(error, kind=ErrorKind.NOT_OFFERED, words=words, advice=NEWER)


def _explained(response: Response, content: Any, said: str, wait: float | None) -> tuple[ErrorKind, str, str]:
    """Return the kind, a sentence about what is wrong, with the status, and a sentence about what to do."""
    status, reads = response.status, response.request.reads
    told = (f": {said}" if said else "") + ("" if said.endswith(ENDS) else ".")
    because = f" (status {status}){told}"
    match status:
        case 401:
            words = f"The key is missing or not the right one (status {status})."
            return ErrorKind.AUTH, words, "Check the key that is given for this server."
        case 403:
            words, advice = f"The server does not allow this{because}", "Ask whoever runs it, or use another key."
            return ErrorKind.DENIED, words, advice
        case 404 | 410 if _names_a_record(response.request, content):
            words = f"The server does not find it, or could not do it (status {status})."
            return ErrorKind.MISSING, words, "Read the list again to see whether it is gone."
        case 405:
            words = f"The server does not take {response.request.method} there (status {status})."
            return ErrorKind.WRONG_API, words, WRONG_ADDRESS
        case 404 | 410:
            return ErrorKind.WRONG_API, f"The server has nothing at this path (status {status}).", WRONG_ADDRESS
        case 407:
            words = f"A proxy on the way wants a name and a password (status {status})."
            return ErrorKind.LOCAL, words, "Write them into HTTP_PROXY; NO_PROXY names the hosts that need none."
        case 409 | 412:
            return ErrorKind.CONFLICT, f"Its state does not allow this{because}", "Read again and decide anew."
        case 429:
            advice = "Try again in a moment." if wait is None else f"Try again in {wait:.0f} s."
            return ErrorKind.RATE, f"The server asks for fewer requests (status {status}).", advice
        case 400 if _SPEAKS_TLS.search(response.body[:4096]):
            words = f"This port uses https, but the request was plain http (status {status})."
            return ErrorKind.WRONG_API, words, "Write the address with https://."
        case 413:
            advice = "Send less, or have the limit raised by whoever runs the server or the proxy before it."
            return ErrorKind.INVALID, f"The server refuses this as too large{because}", advice
        case _ if status >= FAILED:
            return ErrorKind.SERVER, f"The server failed with {status}{told}", "Its own log says more."
        case _ if status < BAD_REQUEST:
            words = f"The server redirects {said} (status {status})."
            return ErrorKind.REDIRECTED, words, "Use the address it really has."
        case _ if reads:
            advice = "Read again; if it stays so, the server may be of a release not known here."
            return ErrorKind.INVALID, f"The server does not answer this{because}", advice
        case _:
            return ErrorKind.INVALID, f"The server refuses this{because}", "Correct it and send it again."


def _names_a_record(request: Request, content: Any) -> bool:
    """Whether "not found" refers to a record: in `error` if nothing is stored, in `detail` after a write."""
    if request.item or not isinstance(content, dict):
        return request.item
    detail = content.get("detail")
    return isinstance(content.get("error"), str) or (
        not request.reads and isinstance(detail, str) and detail != NO_ROUTE
    )


def _target(response: Response) -> str:
    """Return the target of a redirect, without path and query."""
    location = response.headers.get("Location", "").strip()
    try:
        origin = origin_of(location).strip(":/")
    except ValueError:
        location = ""
    if not location:
        return "somewhere else without saying where"
    return f"to {origin or 'another path'}, which is not followed"


def _said(response: Response, content: Any, problems: Iterable[FieldProblem]) -> str:
    """Return the server's own words, from where servers put them (SERVERS.md: refusals)."""
    if isinstance(content, str):
        return content
    if problems:
        return "; ".join(map(str, problems))
    if isinstance(content, dict):
        texts = (content.get(name) for name in ("detail", "error", "message"))
        return next((text for text in texts if isinstance(text, str)), "")
    if content is None and not response.is_html:
        return decoded(response.body[:4096]).strip().partition("\n")[0]
    return ""


def _problems(content: Any, secrets: Iterable[str]) -> Iterator[FieldProblem]:
    """Yield errors about values of a body, without the values themselves, which may be secret."""
    if not isinstance(content, dict):
        return
    detail, error = content.get("detail"), content.get("error")
    found: Iterable[tuple[Location, str]] = ()
    if isinstance(detail, list):
        found = _listed(detail)
    elif isinstance(error, str):
        found = _in_text(error)
    for location, message in found:
        yield FieldProblem(location, scrub(message.removeprefix("Value error, "), secrets)[:LONGEST])


def _listed(detail: list[Any]) -> Iterator[tuple[Location, str]]:
    """Yield errors from a list; their `input` is ignored."""
    for problem in detail:
        if isinstance(problem, dict) and isinstance(problem.get("msg"), str):
            loc = problem.get("loc")
            location = tuple(part for part in loc if isinstance(part, str | int)) if isinstance(loc, list) else ()
            yield location[1:] if location[:1] == ("body",) else location, problem["msg"]


def _in_text(error: str) -> Iterator[tuple[Location, str]]:
    """Yield errors from a text of the nested generation: a line with the location, then an indented message."""
    if _COMPLAINTS.match(error) is None:
        return
    location: Location = ()
    for line in error.splitlines()[1:]:
        if found := _COMPLAINT.match(line):
            yield location, found["message"]
            location = ()
        elif not line.startswith(" "):
            location = tuple(line.strip().split("."))
