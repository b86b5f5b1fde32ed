from datetime import UTC, datetime

import pytest

from quarterdeck.fleet.ages import age, age_of, stopwatch

from .fakes import NOON, at


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (float("inf"), "-"),
        (-86400.0, "now"),
        (0.9, "now"),
        (12.9, "12s"),
        (59.9, "59s"),
        (60.0, "1m"),
        (3599.0, "59m"),
        (3600.0, "1h00m"),
        (11_550.0, "3h12m"),
        (86_399.0, "23h59m"),
        (86_400.0, "1d"),
        (200_000.0, "2d"),
    ],
)
def test_a_duration_in_a_word(seconds: float | None, words: str) -> None:
    assert age(seconds) == words


def test_how_long_ago() -> None:
    assert age_of(at(-90), NOON) == "1m"
    assert age_of(at(90), NOON) == "now"
    assert age_of(None, NOON) == "-"
    assert age_of(datetime(1, 1, 1, tzinfo=UTC), NOON).endswith("d")


@pytest.mark.parametrize(("seconds", "words"), [(-3.0, "0:00"), (41.0, "0:41"), (130.9, "2:10"), (3723.0, "1:02:03")])
def test_a_wait_being_watched(seconds: float, words: str) -> None:
    assert stopwatch(seconds) == words
