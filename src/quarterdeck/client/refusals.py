"""What a server means by a status and a body: one place that turns both into an error a person can read."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from quarterdeck.client.errors import ErrorKind, FieldProblem, Outcome, ServiceError
from quarterdeck.client.network import origin_of
from quarterdeck.client.redact import Location, scrub
from quarterdeck.client.request import Request, Response, json_or_none, seconds_to_wait, wrong_api

LONGEST = 200
"""Characters of a server's own words that are passed on."""
NO_ROUTE = "Not Found"
"""What servers say of a path they do not have; anything else names what was looked for."""
NOTHING_STORED = "Settings not found"
"""What they say of settings that nobody stored yet (SERVERS.md: nothing stored)."""
ENDS = (".", "!", "?", "…")
"""What a sentence ends with."""

BAD_REQUEST = 400
NOT_FOUND = 404
TOO_LARGE = 413
_SPEAKS_TLS = re.compile(rb"(?i)http request (was sent )?to (an )?https|to an ssl-enabled")
"""What web servers say to plain http at a port that speaks TLS."""
_COMPLAINTS = re.compile(r"\d+ validation errors? for ")
_COMPLAINT = re.compile(r"  (?P<message>\S.*?) \[type=\w+")


def refusal(request: Request, response: Response, secrets: Iterable[str] = ()) -> ServiceError:
    """Make the error for an answer of status 300 and above; `secrets` are taken out of whatever the server says.

    A write that ends in a server error may have happened all the same: its outcome is unknown.
    """
    secrets = tuple(secrets)
    content = None if response.is_html else json_or_none(response.body)
    kind = _kind(request, response.status, content, response.body)
    said = _target(response) if kind is ErrorKind.REDIRECTED else _said(content, response)
    said = scrub(said, secrets)[:LONGEST].strip()
    wait = seconds_to_wait(response.headers.get("Retry-After"))
    words, advice = _words(kind, request, response.status, said, wait)
    return ServiceError(
        kind,
        words,
        advice,
        request=str(request),
        status=response.status,
        server_words=said,
        retry_after=wait,
        outcome=Outcome.UNKNOWN if kind is ErrorKind.SERVER and request.method != "GET" else Outcome.NOT_APPLIED,
        problems=tuple(_problems(content, secrets)),
    )


def nothing_stored(error: ServiceError) -> bool:
    """Whether an error says that no settings were stored yet; no other "not found" means that."""
    return error.kind is ErrorKind.MISSING and error.status == NOT_FOUND and error.server_words == NOTHING_STORED


def not_offered(error: ServiceError) -> bool:
    """Whether an error says that a server has no such path.

    A server that also serves the web page answers unknown paths with that page and status 200.
    """
    return error.kind is ErrorKind.WRONG_API and error.status in (200, 404, 405)


def if_offered(error: ServiceError, words: str) -> ServiceError:
    """The error to raise: that this server cannot do it at all, where it has no such path, else the error itself."""
    return offers_nothing(words, error) if not_offered(error) else error


def offers_nothing(words: str, error: ServiceError) -> ServiceError:
    """Make the error for something this server cannot do at all."""
    return replace(error, kind=ErrorKind.NOT_OFFERED, words=words, advice="A newer release may offer it.")


def _kind(request: Request, status: int, content: Any, body: bytes) -> ErrorKind:
    if status >= 500:
        return ErrorKind.SERVER
    if status < 400:
        return ErrorKind.REDIRECTED
    if status in (404, 410):
        return ErrorKind.MISSING if request.item or _names_a_record(request, content) else ErrorKind.WRONG_API
    if status == BAD_REQUEST and _SPEAKS_TLS.search(body[:4096]):
        return ErrorKind.WRONG_API
    known = {
        401: ErrorKind.AUTH,
        403: ErrorKind.DENIED,
        405: ErrorKind.WRONG_API,
        409: ErrorKind.CONFLICT,
        412: ErrorKind.CONFLICT,
        429: ErrorKind.RATE,
    }
    return known.get(status, ErrorKind.INVALID)


def _names_a_record(request: Request, content: Any) -> bool:
    """Whether "not found" is said of a record: as `error` when nothing is stored, as `detail` by a write of one."""
    if not isinstance(content, dict):
        return False
    if isinstance(content.get("error"), str):
        return True
    return request.method != "GET" and isinstance(content.get("detail"), str) and content["detail"] != NO_ROUTE


def _words(kind: ErrorKind, request: Request, status: int, said: str, wait: float | None) -> tuple[str, str]:
    """One sentence of what is wrong, which names the status, and one of what to do."""
    told = (f": {said}" if said else "") + ("" if said.endswith(ENDS) else ".")
    because = f" (status {status}){told}"
    match kind:
        case ErrorKind.AUTH:
            return f"The key is missing or not the right one (status {status}).", "Check the key of this connection."
        case ErrorKind.DENIED:
            return f"The server does not allow this{because}", "Ask whoever runs it, or use another key."
        case ErrorKind.MISSING:
            words = f"The server does not find it, or could not do it (status {status})."
            return words, "Read the list again to see whether it is gone."
        case ErrorKind.WRONG_API if status == BAD_REQUEST:
            words = f"This port speaks https, and was asked in plain http (status {status})."
            return words, "Write the address with https://."
        case ErrorKind.WRONG_API:
            error = wrong_api(f"The server has nothing at this path (status {status}).")
            return error.words, error.advice
        case ErrorKind.CONFLICT:
            return f"It is not in the state for this{because}", "Read again and decide anew."
        case ErrorKind.RATE:
            advice = "Try again in a moment." if wait is None else f"Try again in {wait:.0f} s."
            return f"The server asks for fewer requests (status {status}).", advice
        case ErrorKind.REDIRECTED:
            return f"The server points {said} (status {status}).", "Use the address it really has."
        case ErrorKind.SERVER:
            return f"The server failed with {status}{told}", "Its own log says more."
        case _ if status == TOO_LARGE:
            advice = "Send less, or have the limit raised by whoever runs the server or the proxy before it."
            return f"The server refuses this as too large{because}", advice
        case _ if request.method == "GET":
            advice = "Read again; if it stays so, the server may be of a release not known here."
            return f"The server does not answer this{because}", advice
        case _:
            return f"The server refuses this{because}", "Correct it and send it again."


def _target(response: Response) -> str:
    """Where a redirect points, without the path and query of it."""
    location = response.headers.get("Location", "").strip()
    try:
        origin = origin_of(location).strip(":/")
    except ValueError:
        location = ""
    if not location:
        return "somewhere else without saying where"
    return f"to {origin or 'another path'}, which is not followed"


def _said(content: Any, response: Response) -> str:
    """The server's own words, looked for where servers put them (SERVERS.md: refusals)."""
    said = content if isinstance(content, str) else _said_in(content)
    if not said and content is None and not response.is_html:
        said = response.body[:4096].decode("utf-8", "replace").strip().partition("\n")[0]
    return said


def _said_in(content: Any) -> str:
    if not isinstance(content, dict):
        return ""
    problems = tuple(_problems(content, ()))
    if problems:
        return "; ".join(
            f"{'.'.join(map(str, problem.location))}: {problem.message}" if problem.location else problem.message
            for problem in problems
        )
    texts = (content.get(name) for name in ("detail", "error", "message"))
    return next((text for text in texts if isinstance(text, str)), "")


def _problems(content: Any, secrets: Iterable[str]) -> Iterator[FieldProblem]:
    """Complaints about places of a body, without what they repeat of it, which may be a secret."""
    if not isinstance(content, dict):
        return
    detail, error = content.get("detail"), content.get("error")
    found = _listed(detail) if isinstance(detail, list) else _in_text(error) if isinstance(error, str) else ()
    for location, message in found:
        yield FieldProblem(location, scrub(message.removeprefix("Value error, "), secrets)[:LONGEST])


def _listed(detail: list[Any]) -> Iterator[tuple[Location, str]]:
    """Complaints as a list; `input` in them is left alone."""
    for problem in detail:
        if isinstance(problem, dict) and isinstance(problem.get("msg"), str):
            loc = problem.get("loc")
            location = tuple(part for part in loc if isinstance(part, str | int)) if isinstance(loc, list) else ()
            yield location[1:] if location[:1] == ("body",) else location, problem["msg"]


def _in_text(error: str) -> Iterator[tuple[Location, str]]:
    """Complaints as the text that the nested generation answers: a line with the place and an indented one."""
    if _COMPLAINTS.match(error) is None:
        return
    location: Location = ()
    for line in error.splitlines()[1:]:
        if found := _COMPLAINT.match(line):
            yield location, found["message"]
            location = ()
        elif not line.startswith(" "):
            location = tuple(line.strip().split("."))
