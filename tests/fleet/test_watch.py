from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.errors import ErrorKind
from quarterdeck.fleet.ages import age, age_of, stopwatch
from quarterdeck.fleet.health import Health, HealthState, health_words
from quarterdeck.fleet.watch import Changes, Store, backoff

from .fakes import NOON, Deck, Item, at, failure

FIVE = ("a", "b", "c", "d", "e")


async def test_the_first_page_is_published_while_the_rest_still_streams_in() -> None:
    async with Deck(*FIVE, latency=1.0) as deck:
        await deck.clock.run(1.0)
        assert (deck.ids, deck.published[0].added) == (["a", "b"], frozenset("ab"))
        assert deck.state() is HealthState.LOADING
        await deck.clock.run(2.0)
        assert deck.ids == list(FIVE)
        assert deck.state() is HealthState.ONLINE
        assert not deck.watch.health.incomplete


async def test_a_row_that_a_shifting_page_leaves_out_is_not_gone() -> None:
    async with Deck(*FIVE, latency=1.0) as deck:
        await deck.clock.run(4.0)
        deck.watch.refresh()
        await deck.clock.run(1.5)
        del deck.server.items[0]
        await deck.clock.run(35.0)
        assert [changes.gone for changes in deck.published if changes.gone] == [{"a"}]
        assert deck.watch.records.keys() == set("bcde")


UNDER_WAY = {"visible": "a", "transitional": "e"}


@pytest.mark.parametrize(
    ("rows", "latency", "by_batch", "viewport", "question", "times"),
    [
        # a pass reads all, at each tick where that is short; ticks between two passes read what is looked at
        ("abcde", 0.1, True, {"visible": "ab"}, "page 0", pytest.approx([5.3 * each for each in range(7)])),
        ("abcde", 0.1, True, {"visible": "ab"}, "read a,b", []),
        ("abcde", 1.0, True, {"visible": "ab"}, "read a,b", [*range(5, 35, 6)]),
        ("abcde", 1.0, True, {"visible": "ab"}, "page 0", [0, 27]),  # an eighth of the time goes into that
        ("abcde", 0.0, True, UNDER_WAY, "read e,a", [each for each in range(35) if each % 5 in (2, 4)]),
        # hidden, only what is in transition is read between two passes
        ("abcde", 0.0, True, UNDER_WAY | {"hidden": True}, "read e", [*range(2, 30, 2), 32, 34]),
        ("a", 0.0, True, {"visible": "a", "hidden": True}, "page 0", [0, 30]),
        # a list of one page, and one without batch reading, is read whole at each tick
        ("ab", 0.0, True, {"visible": "ab"}, "page 0", [*range(0, 35, 5)]),
        ("abcde", 0.0, False, {"visible": "a"}, "page 0", [*range(0, 35, 5)]),
        # what takes long to read whole gets as long a rest, and does not hold up what is looked at
        ("abcde", 3.0, False, {"visible": "a"}, "page 0", [0, 24]),
        ("abcdefghijklmnopqrstuvwxyz0123456789abcd", 1.0, True, {"visible": "d"}, "read d", [*range(5, 35, 6)]),
    ],
)
async def test_what_is_looked_at_decides_what_is_read_and_how_often(
    rows: str, latency: float, by_batch: bool, viewport: dict[str, Any], question: str, times: list[float]
) -> None:
    async with Deck(*rows, latency=latency) as deck:
        deck.server.by_batch = by_batch
        deck.look(**viewport)
        await deck.clock.run(34.9)
        assert deck.server.times(question) == times


async def test_what_is_shown_again_is_read_at_once() -> None:
    async with Deck("a") as deck:
        deck.look("a", hidden=True)
        await deck.clock.run(14.0)
        deck.look("a")
        await deck.clock.run()
        assert deck.server.times("page 0") == [0.0, 14.0]


async def test_one_request_is_under_way_at_a_time() -> None:
    async with Deck(*FIVE, latency=7.0) as deck:
        deck.look("a", "b")
        for _ in range(20):
            deck.watch.refresh()
            await deck.clock.run(3.0)
        moments = [when for when, _ in deck.server.asked]
        assert all(later - earlier >= 7.0 for earlier, later in pairwise(moments))
        assert len(moments) >= 8


@pytest.mark.parametrize(("latency", "after", "times"), [(0.0, 3.0, [0.0, 3.0, 4.0]), (1.5, 1.0, [0.0, 2.5])])
async def test_a_refresh_reads_at_once_but_once_a_second(latency: float, after: float, times: list[float]) -> None:
    async with Deck("a", latency=latency) as deck:
        await deck.clock.run(after)
        for _ in range(10):
            deck.watch.refresh()
            await deck.clock.run(0.1)
        await deck.clock.run(1.5)
        assert deck.server.times("page 0") == pytest.approx(times)


async def test_a_refused_key_stops_the_reading_until_somebody_asks() -> None:
    async with Deck("a") as deck:
        await deck.clock.run()
        deck.server.fail_with = failure(ErrorKind.AUTH)
        await deck.clock.run(3600.0)
        assert (len(deck.server.asked), deck.state(), deck.ids) == (2, HealthState.REFUSED, ["a"])
        deck.server.fail_with = None
        deck.watch.refresh()
        await deck.clock.run(6.0)
        assert (len(deck.server.asked), deck.state()) == (4, HealthState.ONLINE)


async def test_three_failures_are_offline_and_two_good_readings_are_online_again() -> None:
    async with Deck("a") as deck:
        await deck.clock.run()
        deck.server.fail_with = failure()
        await deck.clock.run(5.0 + 2.0 + 4.0)
        assert deck.state() is HealthState.OFFLINE
        deck.server.fail_with = None
        await deck.clock.run(8.0)
        assert deck.state() is HealthState.DEGRADED
        await deck.clock.run(5.0)
        assert deck.state() is HealthState.ONLINE


async def test_after_a_suspend_there_is_one_whole_reading_and_no_burst() -> None:
    async with Deck(*FIVE) as deck:
        deck.look("a")
        await deck.clock.run(6.0)
        deck.server.asked.clear()
        deck.clock.now += 20.0  # as when a laptop sleeps
        await deck.clock.run(4.0)
        assert {when for when, _ in deck.server.asked} == {26.0}
        assert sorted(asked for _, asked in deck.server.asked) == ["page 0", "page 1", "page 2"]


@pytest.mark.parametrize("back", [True, False])
async def test_rows_of_a_doubted_list_that_come_back_were_never_gone(back: bool) -> None:
    async with Deck("a", "b") as deck:
        await deck.clock.run()
        deck.server.items, kept = [], deck.server.items
        await deck.clock.run(5.0)
        assert (deck.watch.health.doubted, deck.ids) == (True, ["a", "b"])
        deck.server.items = kept if back else []
        await deck.clock.run(2.0)
        assert (deck.watch.health.doubted, deck.ids) == (False, ["a", "b"] if back else [])
        assert any(changes.gone for changes in deck.published) is not back


async def test_a_page_that_fails_leaves_what_was_read_and_says_incomplete() -> None:
    async with Deck(*FIVE) as deck:
        deck.server.fail_with, deck.server.fail_page = failure(ErrorKind.SERVER), 2
        await deck.clock.run()
        assert (deck.ids, deck.watch.health.incomplete) == (["a", "b", "c", "d"], True)
        assert deck.state() is HealthState.DEGRADED
        deck.server.fail_with = None
        await deck.clock.run(2.0)
        assert (deck.ids, deck.watch.health.incomplete) == (list(FIVE), False)
        del deck.server.items[0]
        deck.server.fail_with, deck.server.fail_page = failure(ErrorKind.BROKEN), 1
        await deck.clock.run(30.0)
        assert (set(deck.ids), deck.watch.health.incomplete) == (set(FIVE), True), "nothing is removed"


async def test_what_the_last_page_brought_is_told_though_the_question_about_left_out_rows_fails() -> None:
    async with Deck(*FIVE, latency=1.0) as deck:
        await deck.clock.run(4.0)
        deck.server.items = [*deck.server.items[1:], Item("f")]
        deck.watch.refresh()
        await deck.clock.run(3.5)
        deck.server.fail_with = failure(ErrorKind.STALLED)
        await deck.clock.run(1.0)
        assert [changes.added for changes in deck.published if "f" in changes.added] == [{"f"}]
        assert set(deck.ids) == set("abcdef")


async def test_a_batch_that_knows_none_of_the_rows_is_doubted_until_the_whole_list_says_so() -> None:
    async with Deck(*FIVE) as deck:
        deck.look("", transitional="ab")
        await deck.clock.run()
        del deck.server.items[:2]
        await deck.clock.run(2.0)
        assert deck.ids == list(FIVE)
        await deck.clock.run(1.0)
        assert deck.ids == ["c", "d", "e"]


IDS, VERSIONS = st.sampled_from("abcdef"), st.integers(0, 2)
PAGE = st.lists(st.builds(Item, IDS, VERSIONS), max_size=3)
BATCH, LISTED = st.dictionaries(IDS, st.none() | VERSIONS, max_size=4), st.lists(IDS, max_size=6).map(tuple)


@given(st.lists(PAGE | BATCH | LISTED, max_size=8))
def test_readings_leave_what_a_dict_would_hold(readings: list[list[Item] | dict[str, int | None] | tuple[str]]) -> None:
    store: Store[Item] = Store()
    expected: dict[str, Item] = {}
    for reading in readings:
        before = dict(expected)
        if isinstance(reading, list):
            expected |= {item.id: item for item in reading}
            changes = store.take(reading)
            assert changes.read == tuple(reading)
        elif isinstance(reading, dict):
            records = {each: Item(each, version) for each, version in reading.items() if version is not None}
            held = {**expected, **records}
            expected = {each: item for each, item in held.items() if reading.get(each, 0) is not None}
            changes = store.take(records.values(), reading.keys() - records.keys())
        else:
            expected = {each: expected[each] for each in reading if each in expected}
            changes = Changes(gone=store.keep_only(reading))
            assert list(store.by_id) == list(expected)
        assert dict(store.by_id) == expected
        assert changes.added == expected.keys() - before.keys()
        assert changes.gone == before.keys() - expected.keys()
        assert changes.changed >= {each for each in expected.keys() & before.keys() if expected[each] != before[each]}


def test_an_equal_record_does_not_take_the_place_of_the_one_held() -> None:
    store: Store[Item] = Store()
    store.take([held := Item("a")])
    assert not store.take([Item("a")])
    assert store.by_id["a"] is held


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
        (GOOD._replace(partial=True), 103.0, "live 3s ago, perhaps not all"),
        (GOOD._replace(unreadable=3), 103.0, "live 3s ago, 3 unreadable"),
        (GOOD._replace(doubted=True), 101.0, "live 1s ago, server lists none, asking again"),
        (failed(GOOD), 142.0, "stale 42s, retry in 8s"),
        (failed(GOOD), 149.5, "stale 49s, trying…"),
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


def test_durations_and_how_long_ago_in_a_word() -> None:
    seconds = (-86400.0, 0.9, 12.9, 59.9, 60.0, 3599.0, 3600.0, 11_550.0, 86_399.0, 86_400.0, 200_000.0)
    assert " ".join(map(age, seconds)) == "now now 12s 59s 1m 59m 1h00m 3h12m 23h59m 1d 2d"
    assert {age(unknown) for unknown in (None, float("nan"), float("inf"))} == {"-"}
    assert [age_of(when, NOON) for when in (at(-90), at(90), None)] == ["1m", "now", "-"]
    assert age_of(datetime(1, 1, 1, tzinfo=UTC), NOON).endswith("d")
    assert [stopwatch(seconds) for seconds in (-3.0, 41.0, 130.9, 3723.0)] == ["0:00", "0:41", "2:10", "1:02:03"]
