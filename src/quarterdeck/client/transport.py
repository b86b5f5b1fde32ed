"""Sends requests to one server: at a decent pace, in time, with its key, and once more where that is safe.

Everything goes through one httpx.AsyncClient, whether the server is on the network, in this process or a stand-in.
"""

import asyncio
import copy
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.limits import Limits, Pace
from quarterdeck.client.network import (
    ANYONE,
    SANDBOX,
    TRUST,
    App,
    Network,
    Progress,
    checked_address,
    failure,
    proxy_for,
    shown_host,
    unusable,
)
from quarterdeck.client.redact import secrets_in
from quarterdeck.client.refusals import if_offered, refusal
from quarterdeck.client.request import (
    LOST,
    KeyHeader,
    LoggedRequest,
    Repeat,
    Request,
    Response,
    again,
    encoded,
    query_text,
    wrong_api,
)

Settle = Callable[[], Awaitable[Outcome]]
"""Reads back whether a write whose answer got lost was done: APPLIED, NOT_APPLIED, or UNKNOWN when it cannot tell."""
SETTLED = Response(200, b"{}")
"""Stands for the lost answer of a write that turned out to be done."""
FAILED = 500
"""The status of a server's own failure; 502 to 504 may come from what stands before it."""
HOPS = 3
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "quarterdeck"}
PACKED = ("", "identity", "gzip", "deflate")
"""Content encodings that are unpacked (RFC 9110 section 8.4.1)."""
NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, TimeoutError, UnicodeError)
"""What it looks like when no whole answer arrives; UnicodeError is a host name that cannot be one."""
CLOCK_GRAIN = timedelta(seconds=2)
"""Below which a server's `Date` header says nothing: it counts whole seconds, and has been on its way."""

# httpx logs whole addresses, and those of tool servers may hold a token.
logging.getLogger("httpx").setLevel(logging.WARNING)


USUAL = Limits()


@dataclass(frozen=True)
class Access:
    """How a server is reached."""

    header: KeyHeader = KeyHeader.SESSION
    """How the key is sent."""
    read_only: bool = False
    ca_file: str | None = None
    """A PEM file with the only certificates trusted at an https address."""
    app: App | None = None
    """An ASGI application that answers in this process."""
    transport: httpx.AsyncBaseTransport | None = None
    """What takes the network's place."""
    limits: Limits = USUAL


class Transport:
    """The way to one server and back.

    Raises ServiceError(LOCAL) for an address, key, CA file or proxy that cannot be used.
    """

    def __init__(self, url: str, key: SecretStr | None, access: Access) -> None:
        self.url = checked_address(url)
        """The server's address, without a trailing slash."""
        self.access = access
        self.limits = limits = access.limits
        self.clock_offset = timedelta()
        """What the server's clock is ahead of this machine's, by its latest answer; zero where it tells none."""
        self.in_process = access.app is not None
        self._log: deque[LoggedRequest] = deque(maxlen=limits.log)
        self._base = _address(self.url)
        self._host = shown_host(self.url)
        self._key = _checked_key(key)
        self._pace = None if self.in_process else Pace(limits.per_second)
        self._elsewhere: Mapping[str, Any] = {}
        """What marks a request to another address than the server's."""
        self._network = Network(self.url, access.ca_file, limits, access.app) if access.transport is None else None
        self._http = httpx.AsyncClient(
            transport=access.transport or self._network,
            trust_env=False,
            headers=HEADERS,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    @property
    def log(self) -> Sequence[LoggedRequest]:
        """The latest requests, newest last."""
        return self._log

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def beside(self, url: str, key: SecretStr | None) -> "Transport":
        """The way to an address that this server vouches for, with that address's own key and never this server's.

        Connections, log, limits and what may be sent are shared; it has no pace of its own. Raises ServiceError(LOCAL)
        for an address or key that cannot be used.
        """
        other = copy.copy(self)
        other.url = checked_address(url)
        other._base, other._host = _address(other.url), shown_host(other.url)
        other._key, other._pace = _checked_key(key), None
        other.access = replace(self.access, header=KeyHeader.SESSION)
        if _origin(other._base) != _origin(self._base):
            other._elsewhere = {TRUST: SANDBOX}
        return other

    async def socket_options(self) -> dict[str, Any]:
        """How a socket is opened there: as a request would be, with its key, its trust and its proxy.

        Raises ServiceError(NOT_OFFERED) where no network is asked.
        """
        if self._network is None or (self.in_process and not self._elsewhere):
            raise ServiceError(ErrorKind.NOT_OFFERED, "There are no sockets within this process.")
        secure = self._base.scheme == "https"
        return {
            "additional_headers": _key_headers(self._key, self.access.header),
            "ssl": await self._network.trusted(self.url, SANDBOX) if secure else None,
            "proxy": proxy_for(self.url),
        }

    def note(self, request: LoggedRequest) -> None:
        """Put a request into the log that went another way than through `send`."""
        self._log.append(request)

    async def send(self, request: Request, settle: Settle | None = None) -> Response:
        """Send a request and return its answer of status 2xx, repeating it as the retry table allows.

        All tries of a read share one deadline. Raises ServiceError for every other end.
        """
        if self.access.read_only and request.method != "GET":
            words, advice = "This connection is read-only.", "Open it without --read-only to change anything."
            raise ServiceError(ErrorKind.READ_ONLY, words, advice, request=str(request), outcome=Outcome.NOT_SENT)
        await self._turn(request)
        since, seconds = _now(), request.seconds or self.limits.total
        deadline = since + seconds
        for attempt in count(1):
            try:
                return await self._attempt(request, attempt, since, deadline)
            except ServiceError as error:
                step = again(
                    request.repeat,
                    error.kind,
                    status=error.status,
                    retry_after=error.retry_after,
                    repeats=attempt - 1,
                    background=request.background,
                )
                if step is None:
                    if await _ended(request, error, settle) is Outcome.APPLIED:
                        return SETTLED
                    raise _final(request, error) from None
                wait = max(step.after, self.limits.repeat_after * 2 ** (attempt - 1))
                if request.repeat is Repeat.READ and _now() + wait >= deadline:
                    raise
                await asyncio.sleep(wait)
                done = await _settled(settle) if step.recheck else Outcome.NOT_APPLIED
                if done is Outcome.APPLIED:
                    return SETTLED
                if done is Outcome.UNKNOWN:
                    raise _final(request, error) from None
            await self._turn(request)
            deadline = deadline if request.repeat is Repeat.READ else _now() + seconds
        raise AssertionError("counting has no end")

    async def status_at(
        self,
        address: str,
        seconds: float,
        *,
        accept: str = HEADERS["Accept"],
        secret: SecretStr | None = None,
        of_sandbox: bool = False,
    ) -> int:
        """Read no more than the status at another address, with a key that belongs to that address or none.

        Nothing is followed, and the key of the server is not sent. `of_sandbox`: the server vouches for the address.
        Raises ServiceError where nothing answers, and for what cannot be read as an address.
        """
        url, key = _address(address), _checked_key(secret)
        request, progress, since = Request("GET", "/", seconds=seconds), Progress(), _now()
        headers = {"Accept": accept, **_key_headers(key, KeyHeader.BEARER)}
        ours = _origin(url) == _origin(self._base)
        elsewhere = self._elsewhere if ours else {TRUST: SANDBOX if of_sandbox else ANYONE}
        asked = self._built(request, url, headers, progress, elsewhere)
        try:
            async with asyncio.timeout(seconds), self._answer(asked, None if key is None else httpx.Auth()) as answer:
                return answer.status_code
        except NO_ANSWER as error:
            passed, secure = _now() - since, url.scheme == "https"
            raise failure(error, request, url.netloc.decode(), progress, seconds=passed, secure=secure) from None

    async def _turn(self, request: Request) -> None:
        if self._pace is not None:
            await self._pace.turn(background=request.background)

    async def _attempt(self, request: Request, attempt: int, since: float, deadline: float) -> Response:
        """Send a request once and log it; `since` is when it was sent first, on the loop's clock as the deadline."""
        started, when = time.perf_counter(), datetime.now(UTC)
        status: int | None = None
        kind: ErrorKind | None = None
        progress = Progress()
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._exchange(request, progress)
            status = response.status
            return response
        except ServiceError as error:
            status, kind = error.status, error.kind
            raise
        except NO_ANSWER as error:
            passed, secure = _now() - since, self._base.scheme == "https"
            failed = failure(error, request, self._host, progress, seconds=passed, secure=secure)
            kind = failed.kind
            raise failed from None
        finally:
            ms = (time.perf_counter() - started) * 1000
            self._log.append(LoggedRequest(request.method, request.path, status, kind, ms, when, attempt))

    async def _exchange(self, request: Request, progress: Progress) -> Response:
        """Send a request, follow a read within the same origin, and return an answer of status 2xx."""
        url = _address(self.url + request.path + query_text(request.query))
        for hops_left in reversed(range(HOPS + 1)):
            asked = self._built(request, url, _key_headers(self._key, self.access.header), progress, self._elsewhere)
            async with self._answer(asked) as answer:
                self._note_clock(answer.headers.get("Date"))
                target = self._next_hop(request, answer) if hops_left else None
                if target is None:
                    response = await _received(request, answer, request.largest or self.limits.body)
                    return self._accepted(request, response)
            url = target
        raise AssertionError("the last hop is never followed")

    def _built(
        self,
        request: Request,
        url: httpx.URL,
        headers: Mapping[str, str],
        progress: Progress,
        extensions: Mapping[str, Any] | None = None,
    ) -> httpx.Request:
        limits, content = self.limits, None if request.body is None else encoded(request.body)
        return self._http.build_request(
            request.method,
            url,
            content=content,
            headers={**headers, "Content-Type": "application/json"} if content is not None else dict(headers),
            timeout=httpx.Timeout(
                request.seconds or limits.read, connect=limits.connect, write=limits.write, pool=limits.pool
            ),
            extensions={"trace": progress, **(extensions or {})},
        )

    @asynccontextmanager
    async def _answer(self, asked: httpx.Request, auth: httpx.Auth | None = None) -> AsyncIterator[httpx.Response]:
        """The head of an answer; what is not read of its body is lost, and its connection with it.

        Without `auth`, a user name in the address is sent as httpx does by itself.
        """
        answer = await self._http.send(asked, auth=auth, stream=True)
        try:
            yield answer
        finally:
            await answer.aclose()

    def _next_hop(self, request: Request, answer: httpx.Response) -> httpx.URL | None:
        """Where a read is sent on to within its own origin; None for every other answer."""
        location = answer.headers.get("Location")
        if request.method != "GET" or answer.status_code not in (301, 302, 303, 307, 308) or not location:
            return None
        try:
            target = answer.url.join(location)
        except httpx.InvalidURL:
            return None
        return target if _origin(target) == _origin(self._base) and not target.userinfo else None

    def _accepted(self, request: Request, response: Response) -> Response:
        """Pass on an answer of status 2xx that is data; raises ServiceError for every other."""
        if not 200 <= response.status < 300:
            key = () if self._key is None else (self._key.get_secret_value(),)
            raise refusal(request, response, (*key, *secrets_in(request.body)))
        if response.is_html:
            raise wrong_api(f"{self._host} answered with a web page instead of data.", str(request), response.status)
        return response

    def _note_clock(self, date: str | None) -> None:
        try:
            theirs = parsedate_to_datetime(date or "")
        except ValueError:
            return
        offset = (theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)) - datetime.now(UTC)
        self.clock_offset = offset if abs(offset) >= CLOCK_GRAIN else timedelta()


async def _received(request: Request, answer: httpx.Response, most: int) -> Response:
    """Read a body of up to `most` bytes when unpacked.

    Raises ServiceError: TOO_LARGE, WRONG_API for a packing nobody asked for.
    """
    status, headers = answer.status_code, answer.headers
    if headers.get("Content-Encoding", "").strip().lower() not in PACKED:
        raise wrong_api("The server packs its answers in a way nobody asked for.", str(request), status)
    body = bytearray()
    async for piece in answer.aiter_bytes():
        if len(body) + len(piece) > most:
            words = f"The answer is larger than {most / 2**20:g} MB."
            advice = "Check the address: the service has no answers of this size."
            raise ServiceError(ErrorKind.TOO_LARGE, words, advice, request=str(request), status=status)
        body += piece
    return Response(
        status,
        bytes(body),
        content_type=headers.get("Content-Type", ""),
        retry_after=headers.get("Retry-After"),
        location=headers.get("Location"),
    )


async def _settled(settle: Settle | None) -> Outcome:
    """Ask whether a write was done; a question that fails leaves it unknown."""
    try:
        return Outcome.UNKNOWN if settle is None else await settle()
    except ServiceError:
        return Outcome.UNKNOWN


async def _ended(request: Request, error: ServiceError, settle: Settle | None) -> Outcome:
    """What became of a write that is not repeated.

    A server that answers that it failed has nothing under way for that record any more: one more reading tells.
    """
    if settle is not None and request.item and error.status == FAILED:
        error.outcome = await _settled(settle)
    return error.outcome


def _final(request: Request, error: ServiceError) -> ServiceError:
    """The error that is raised when nothing more is tried: a write whose answer is lost has an unknown outcome."""
    if request.lacking:
        error = if_offered(error, request.lacking)
    failed = error.kind is ErrorKind.SERVER and error.outcome is Outcome.UNKNOWN
    lost = failed or error.kind in LOST or error.kind is ErrorKind.TOO_LARGE
    no_http = error.kind is ErrorKind.WRONG_API and error.status is None
    if request.method == "GET" or not (lost or no_http):
        return error
    return ServiceError(
        ErrorKind.UNKNOWN_OUTCOME,
        f"Unknown whether it happened. {error.words}",
        "Look whether it did before doing it again.",
        request=error.request,
        status=error.status,
        retry_after=error.retry_after,
        outcome=Outcome.UNKNOWN,
        problems=error.problems,
    )


def _address(text: str) -> httpx.URL:
    """Take an address apart; raises ServiceError(LOCAL) for one that cannot be asked."""
    try:
        url = httpx.URL(text)
        if url.scheme in ("http", "https") and urlsplit(text).hostname:
            return url
    except (httpx.InvalidURL, ValueError):
        pass
    raise unusable("The address cannot be read.")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    """A key that a header can hold, None for an empty one; raises ServiceError(LOCAL) for any other."""
    if key is None or not key.get_secret_value():
        return None
    if not all("!" <= letter <= "~" for letter in key.get_secret_value()):
        words = "The key has a blank, a line break or a letter in it that a key cannot have."
        raise unusable(words, "Copy it again, without what is around it.")
    return key


def _key_headers(key: SecretStr | None, header: KeyHeader) -> dict[str, str]:
    if key is None:
        return {}
    prefix = "Bearer " if header is KeyHeader.BEARER else ""
    return {header.value: prefix + key.get_secret_value()}


def _now() -> float:
    return asyncio.get_running_loop().time()
