from datetime import UTC, datetime

import pytest

from quarterdeck.client.errors import ErrorKind
from quarterdeck.fleet.ages import age, age_of, stopwatch
from quarterdeck.fleet.health import Health, health_words
from quarterdeck.fleet.watch import backoff

from .fakes import NOON, at, failure

GOOD = Health().answered(100.0).passed(100.0, 0)


def failed(health: Health, kind: ErrorKind = ErrorKind.STALLED, times: int = 1) -> Health:
    for _ in range(times):
        health = health.failed(failure(kind), next_try_at=150.0, broken=False)
    return health


@pytest.mark.parametrize(
    ("health", "now", "words"),
    [
        (Health(), 100.0, "loading…"),
        (GOOD, 100.4, "live now"),
        (GOOD, 102.0, "live 2s ago"),
        (GOOD.answered(109.0), 109.5, "live now"),
        (GOOD.answered(112.0), 112.5, "live now, all 12s ago"),
        (GOOD, 226.0, "live 2m ago"),
        (GOOD.answered(225.0), 226.0, "live 1s ago, all 2m ago"),
        (GOOD._replace(incomplete=True), 103.0, "live 3s ago, incomplete"),
        (GOOD._replace(unreadable=3), 103.0, "live 3s ago, 3 unreadable"),
        (GOOD._replace(doubted=True), 101.0, "live 1s ago, server lists none, asking again"),
        (failed(GOOD), 142.0, "stale 42s, retry in 8s"),
        (failed(GOOD), 149.5, "stale 49s, trying…"),
        # three failures are offline, but of a server that says no
        (failed(GOOD, ErrorKind.SERVER, times=2), 142.0, "stale 42s, retry in 8s"),
        (failed(GOOD, ErrorKind.SERVER, times=3), 142.0, "offline, stale 42s, retry in 8s"),
        (failed(GOOD, ErrorKind.RATE, times=5), 142.0, "stale 42s, retry in 8s"),
        (failed(Health()), 142.0, "nothing read yet, retry in 8s"),
        (failed(Health(), times=3), 142.0, "offline, retry in 8s"),
        (failed(GOOD, ErrorKind.AUTH), 142.0, "key needed"),
        (failed(GOOD).answered(109.0), 110.0, "back 1s ago"),
        (failed(GOOD).answered(143.0), 144.0, "back 1s ago, all 44s ago"),
        (failed(GOOD).answered(143.0).answered(148.0).passed(148.0, 0), 149.0, "live 1s ago"),
    ],
)
def test_words_for_the_header(health: Health, now: float, words: str) -> None:
    assert health_words(health, now) == words


def test_a_wait_grows_to_a_minute_and_is_as_long_as_was_asked_for_up_to_two() -> None:
    assert (backoff(3, 0.0), backoff(3, 1.0), backoff(10_000, 1.0)) == (8.0, 16.0, 60.0)
    assert (backoff(1, 0.0, 30.0), backoff(6, 0.9, 1.0), backoff(1, 0.0, 3600.0)) == (30.0, 57.0, 120.0)
    assert {backoff(1, 0.0, garbage) for garbage in (-5.0, 0.0, float("nan"))} == {2.0}


def test_a_duration_in_a_word() -> None:
    seconds = (-86400.0, 0.9, 12.9, 59.9, 60.0, 3599.0, 3600.0, 11_550.0, 86_399.0, 86_400.0, 200_000.0)
    assert " ".join(map(age, seconds)) == "now now 12s 59s 1m 59m 1h00m 3h12m 23h59m 1d 2d"
    assert {age(unknown) for unknown in (None, float("nan"), float("inf"))} == {"-"}


def test_how_long_ago() -> None:
    assert [age_of(when, NOON) for when in (at(-90), at(90), None)] == ["1m", "now", "-"]
    assert age_of(datetime(1, 1, 1, tzinfo=UTC), NOON).endswith("d")
    assert [stopwatch(seconds) for seconds in (-3.0, 41.0, 130.9, 3723.0)] == ["0:00", "0:41", "2:10", "1:02:03"]
