from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.request import Request, again, seconds_to_wait

UNOPENED = (ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT)


async def _unknown() -> Outcome:
    return Outcome.UNKNOWN


READ, CHECKED, WRITE = Request("GET", "/"), Request("POST", "/", settle=_unknown), Request("POST", "/")
ALLOWED = {
    (READ, ErrorKind.DNS): (0, 0),
    (READ, ErrorKind.UNREACHABLE): (0, 0),
    (READ, ErrorKind.STALLED): (0, 0),
    (READ, ErrorKind.BROKEN): (0, 0),
    (READ, ErrorKind.RATE): (1.0, 1.0),
    **{(CHECKED, kind): (0,) for kind in (*UNOPENED, ErrorKind.STALLED, ErrorKind.BROKEN, ErrorKind.SERVER)},
    **{(WRITE, kind): (0,) for kind in UNOPENED},
}
"""What is sent again after how many seconds at least, and how often; whatever is not written here is not."""


def steps(request: Request, kind: ErrorKind, *, status: int | None = None, wait: float | None = None) -> list[Any]:
    error = ServiceError(kind, "", status=status, retry_after=wait)
    return [again(request, error, repeats) for repeats in range(4)]


@pytest.mark.parametrize(("request_", "kind"), product((READ, CHECKED, WRITE), ErrorKind))
def test_only_what_the_table_allows_is_sent_again(request_: Request, kind: ErrorKind) -> None:
    allowed = ALLOWED.get((request_, kind), ())
    assert steps(request_, kind) == [*allowed, *[None] * (4 - len(allowed))]


@pytest.mark.parametrize("kind", UNOPENED)
def test_the_watch_is_told_at_once_that_no_connection_came_about(kind: ErrorKind) -> None:
    assert steps(READ._replace(background=True), kind)[0] is None


@pytest.mark.parametrize(
    ("status", "times"), [(500, 1), (501, 0), (502, 2), (503, 2), (504, 2), (505, 0), (520, 0), (599, 0)]
)
def test_a_read_is_repeated_on_the_server_errors_that_pass(status: int, times: int) -> None:
    assert steps(READ, ErrorKind.SERVER, status=status) == [0.0] * times + [None] * (4 - times)


def test_a_server_that_asks_for_time_is_given_it_up_to_half_a_minute() -> None:
    assert steps(READ, ErrorKind.RATE, wait=30)[0] == 30
    assert steps(READ, ErrorKind.RATE, wait=30.5)[0] is None
    assert steps(READ, ErrorKind.SERVER, status=503, wait=4)[0] == 4
    assert steps(CHECKED, ErrorKind.RATE, wait=1)[0] is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2),
        ("0.5", 0.5),
        ("Fri, 20 Nov 2026 15:00:10 GMT", 10),
        ("Fri, 20 Nov 2026 14:00:00 GMT", None),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Fri, 99 Nov 2026 15:00:10 GMT", None),
        (None, None),
    ],
)
def test_the_time_a_server_asks_for_is_read_or_ignored(header: str | None, seconds: float | None) -> None:
    assert seconds_to_wait(header, datetime(2026, 11, 20, 15, tzinfo=UTC)) == seconds
