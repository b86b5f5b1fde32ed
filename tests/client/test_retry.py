from datetime import UTC, datetime
from itertools import product

import pytest

from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.request import Again, Repeat, again, seconds_to_wait

UNOPENED = (ErrorKind.DNS, ErrorKind.UNREACHABLE, ErrorKind.CONNECT_TIMEOUT)
AT_ONCE, AFTER_READING = Again(), Again(recheck=True)
ALLOWED = {
    (Repeat.READ, ErrorKind.DNS): (AT_ONCE, AT_ONCE),
    (Repeat.READ, ErrorKind.UNREACHABLE): (AT_ONCE, AT_ONCE),
    (Repeat.READ, ErrorKind.STALLED): (AT_ONCE, AT_ONCE),
    (Repeat.READ, ErrorKind.BROKEN): (AT_ONCE, AT_ONCE),
    (Repeat.READ, ErrorKind.RATE): (Again(1.0), Again(1.0)),
    (Repeat.CHECKED, ErrorKind.DNS): (AT_ONCE,),
    (Repeat.CHECKED, ErrorKind.UNREACHABLE): (AT_ONCE,),
    (Repeat.CHECKED, ErrorKind.CONNECT_TIMEOUT): (AT_ONCE,),
    (Repeat.CHECKED, ErrorKind.STALLED): (AFTER_READING,),
    (Repeat.CHECKED, ErrorKind.BROKEN): (AFTER_READING,),
    (Repeat.CHECKED, ErrorKind.SERVER): (AFTER_READING,),
    (Repeat.ONCE, ErrorKind.DNS): (AT_ONCE,),
    (Repeat.ONCE, ErrorKind.UNREACHABLE): (AT_ONCE,),
    (Repeat.ONCE, ErrorKind.CONNECT_TIMEOUT): (AT_ONCE,),
}
"""What is sent again, and how often; whatever is not written here is not."""


@pytest.mark.parametrize(("repeat", "kind"), product(Repeat, ErrorKind))
def test_only_what_the_table_allows_is_sent_again(repeat: Repeat, kind: ErrorKind) -> None:
    steps = tuple(again(repeat, kind, repeats=repeats) for repeats in range(4))
    allowed = ALLOWED.get((repeat, kind), ())
    assert steps == allowed + (None,) * (4 - len(allowed))


@pytest.mark.parametrize("kind", UNOPENED)
def test_the_watch_is_told_at_once_that_no_connection_came_about(kind: ErrorKind) -> None:
    assert again(Repeat.READ, kind, background=True) is None


@pytest.mark.parametrize("status", range(500, 600))
def test_a_read_is_repeated_on_the_server_errors_that_pass(status: int) -> None:
    steps = [again(Repeat.READ, ErrorKind.SERVER, status=status, repeats=repeats) for repeats in range(3)]
    times = {500: 1, 502: 2, 503: 2, 504: 2}.get(status, 0)
    assert [step is not None for step in steps] == [repeats < times for repeats in range(3)]


def test_a_server_that_asks_for_time_is_given_it_up_to_half_a_minute() -> None:
    assert again(Repeat.READ, ErrorKind.RATE, retry_after=30) == Again(30)
    assert again(Repeat.READ, ErrorKind.RATE, retry_after=30.5) is None
    assert again(Repeat.READ, ErrorKind.SERVER, status=503, retry_after=4) == Again(4)
    assert again(Repeat.CHECKED, ErrorKind.RATE, retry_after=1) is None


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
