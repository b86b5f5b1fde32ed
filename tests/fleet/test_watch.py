"""The loop, driven by a clock turned by hand against a server that is an object."""

import itertools

import pytest

from quarterdeck.client.errors import ErrorKind
from quarterdeck.fleet.health import HealthState

from .fakes import Deck, Item, failure

FIVE = ("a", "b", "c", "d", "e")


async def test_the_first_page_is_published_while_the_rest_still_streams_in() -> None:
    async with Deck(*FIVE, latency=1.0) as deck:
        await deck.clock.run(1.0)
        assert deck.ids == ["a", "b"]
        assert deck.published[0].added == {"a", "b"}
        assert deck.state() is HealthState.LOADING
        await deck.clock.run(2.0)
        assert deck.ids == list(FIVE)
        assert deck.state() is HealthState.ONLINE
        assert not deck.watch.health.incomplete


async def test_what_is_gone_stays_until_the_pass_is_complete() -> None:
    async with Deck(*FIVE) as deck:
        await deck.clock.run()
        del deck.server.items[0]
        deck.server.latency = 1.0
        deck.watch.refresh()
        await deck.clock.run(2.5)
        assert "a" in deck.ids
        await deck.clock.run(2.0)
        assert deck.ids == ["b", "c", "d", "e"]
        assert [changes.gone for changes in deck.published if changes.gone] == [{"a"}]


async def test_a_row_that_a_shifting_page_leaves_out_is_not_gone() -> None:
    async with Deck(*FIVE, latency=1.0) as deck:
        await deck.clock.run(4.0)
        deck.watch.refresh()
        await deck.clock.run(1.5)
        del deck.server.items[0]
        await deck.clock.run(35.0)
        assert [changes.gone for changes in deck.published if changes.gone] == [{"a"}]
        assert deck.watch.records.keys() == set("bcde")


async def test_ticks_read_what_is_visible_or_in_transition_and_a_slow_pass_the_rest() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a", "b"])
        await deck.clock.run(16.0)
        assert deck.server.times("read a,b") == [5.0, 10.0, 15.0]
        deck.watch.look(visible=["a"], transitional=["e"])
        await deck.clock.run(5.0)
        assert deck.server.times("read e,a") == [17.0, 19.0, 21.0]
        await deck.clock.run(10.0)
        assert deck.server.times("page 0") == [0.0, 30.0]


async def test_what_is_seen_changes_at_the_next_tick_and_the_rest_at_the_next_pass() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a", "b"])
        await deck.clock.run()
        deck.server.items = [Item("new"), Item("a", 1), *map(Item, "cd"), Item("e", 1)]
        await deck.clock.run(5.0)
        assert [(each.id, each.version) for each in deck.watch.records.values()] == [
            ("a", 1),
            ("c", 0),
            ("d", 0),
            ("e", 0),
        ]
        await deck.clock.run(25.0)
        assert deck.ids == ["new", "a", "c", "d", "e"]
        assert deck.watch.records["e"].version == 1


async def test_a_list_of_one_page_is_read_whole_at_each_tick() -> None:
    async with Deck("a", "b") as deck:
        deck.watch.look(visible=["a", "b"])
        await deck.clock.run(11.0)
        assert deck.server.asked == [(0.0, "page 0"), (5.0, "page 0"), (10.0, "page 0")]


async def test_without_batch_reading_the_whole_list_is_the_tick() -> None:
    async with Deck(*FIVE) as deck:
        deck.server.by_batch = False
        deck.watch.look(visible=["a"])
        await deck.clock.run(16.0)
        assert deck.server.times("read a") == [5.0]
        assert deck.server.times("page 0") == [0.0, 5.0, 10.0, 15.0]


async def test_a_list_that_takes_long_to_read_whole_gets_as_long_a_rest() -> None:
    async with Deck(*FIVE, latency=4.0) as deck:
        deck.server.by_batch = False
        deck.watch.look(visible=["a"])
        await deck.clock.run(60.0)
        asked = deck.server.times("page 0")
        assert asked[-1] - asked[-2] == 24.0


async def test_a_list_read_by_batch_that_takes_long_to_read_whole_is_read_so_an_eighth_of_the_time() -> None:
    async with Deck(*FIVE, latency=4.0) as deck:
        deck.watch.look(visible=["a"])
        await deck.clock.run(30.0)
        whole = deck.watch.health.whole_at
        assert whole is not None
        took = whole - 1000.0
        await deck.clock.run(9 * took - 20.0)
        again = deck.server.times("page 0")[1]
        assert 8 * took <= again - took < 8 * took + 5.0


async def test_a_hidden_list_is_read_every_half_minute_and_at_once_when_shown_again() -> None:
    async with Deck("a") as deck:
        deck.watch.look(visible=["a"], hidden=True)
        await deck.clock.run(44.0)
        assert deck.server.times("page 0") == [0.0, 30.0]
        deck.watch.look(visible=["a"])
        await deck.clock.run()
        assert deck.server.times("page 0") == [0.0, 30.0, 44.0]


async def test_only_what_is_in_transition_is_read_while_hidden() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a"], transitional=["b"], hidden=True)
        await deck.clock.run(2.0)
        assert deck.server.asked[-1] == (2.0, "read b")


async def test_one_request_is_under_way_at_a_time() -> None:
    async with Deck(*FIVE, latency=7.0) as deck:
        deck.watch.look(visible=["a"], transitional=["b"])
        for _ in range(20):
            deck.watch.refresh()
            await deck.clock.run(3.0)
        assert deck.server.most_at_once == 1
        assert len(deck.server.asked) >= 8


async def test_a_long_pass_does_not_hold_up_the_visible_rows() -> None:
    items = [str(number) for number in range(40)]
    async with Deck(*items, latency=1.0) as deck:
        deck.watch.look(visible=["3"])
        await deck.clock.run(20.0)
        assert deck.server.times("read 3") == [5.0, 11.0, 17.0]


async def test_a_refresh_reads_at_once_but_never_twice_in_a_second() -> None:
    async with Deck("a") as deck:
        await deck.clock.run(3.0)
        for _ in range(10):
            deck.watch.refresh()
            await deck.clock.run(0.1)
        assert deck.server.times("page 0") == pytest.approx([0.0, 3.0, 4.0])


async def test_a_refresh_asked_for_during_a_reading_is_a_reading_of_its_own() -> None:
    async with Deck("a", latency=3.0) as deck:
        await deck.clock.run(2.0)
        deck.watch.refresh()
        await deck.clock.run(2.0)
        assert deck.server.times("page 0") == [0.0, 3.0]


async def test_failures_are_waited_out_ever_longer_up_to_a_minute() -> None:
    async with Deck("a") as deck:
        deck.server.fail_with = failure()
        await deck.clock.run(200.0)
        asked = deck.server.times("page 0")
        waits = [late - early for early, late in itertools.pairwise(asked)]
        assert waits == [2, 4, 8, 16, 30, 30, 30, 30, 30]


async def test_a_server_may_ask_for_a_longer_wait_but_not_for_hours() -> None:
    async with Deck("a") as deck:
        deck.server.fail_with = failure(ErrorKind.RATE, retry_after=20.0)
        await deck.clock.run(19.0)
        assert deck.watch.health.next_try_at == deck.clock.now + 1.0
        deck.server.fail_with = failure(ErrorKind.RATE, retry_after=7200.0)
        await deck.clock.run(1.0)
        assert deck.watch.health.next_try_at == deck.clock.now + 120.0


async def test_a_refused_key_stops_the_reading_until_somebody_asks() -> None:
    async with Deck("a") as deck:
        await deck.clock.run()
        deck.server.fail_with = failure(ErrorKind.AUTH)
        await deck.clock.run(3600.0)
        assert len(deck.server.asked) == 2
        assert deck.state() is HealthState.REFUSED
        assert deck.ids == ["a"]
        deck.server.fail_with = None
        deck.watch.refresh()
        await deck.clock.run(6.0)
        assert len(deck.server.asked) == 4
        assert deck.state() is HealthState.ONLINE


async def test_three_failures_are_offline_and_two_good_readings_are_online_again() -> None:
    async with Deck("a") as deck:
        await deck.clock.run()
        deck.server.fail_with = failure()
        await deck.clock.run(5.0 + 2.0 + 4.0)
        deck.server.fail_with = None
        deck.states.clear()
        await deck.clock.run(8.0)
        assert deck.states[0] is HealthState.DEGRADED
        await deck.clock.run(5.0)
        assert deck.state() is HealthState.ONLINE


async def test_after_a_suspend_there_is_one_whole_reading_and_no_burst() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a"])
        await deck.clock.run(6.0)
        deck.server.asked.clear()
        deck.clock.stop_the_world(20.0)
        await deck.clock.run(4.0)
        assert {when for when, _ in deck.server.asked} == {26.0}
        assert sorted(asked for _, asked in deck.server.asked) == ["page 0", "page 1", "page 2", "read a"]


async def test_a_list_that_is_suddenly_empty_is_doubted_once() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a"])
        await deck.clock.run(29.0)
        deck.server.items.clear()
        deck.watch.refresh()
        await deck.clock.run()
        assert deck.watch.health.doubted
        assert deck.ids == list(FIVE)
        await deck.clock.run(2.0)
        assert deck.ids == []
        assert not deck.watch.health.doubted


async def test_rows_of_a_doubted_list_that_come_back_were_never_gone() -> None:
    async with Deck("a", "b") as deck:
        await deck.clock.run()
        deck.server.items, kept = [], deck.server.items
        await deck.clock.run(5.0)
        deck.server.items = kept
        await deck.clock.run(2.0)
        assert deck.ids == ["a", "b"]
        assert not deck.watch.health.doubted
        assert not any(changes.gone for changes in deck.published)


async def test_a_page_that_fails_leaves_what_was_read_and_says_incomplete() -> None:
    async with Deck(*FIVE) as deck:
        deck.server.fail_with, deck.server.fail_page = failure(ErrorKind.SERVER), 2
        await deck.clock.run()
        assert deck.ids == ["a", "b", "c", "d"]
        assert deck.watch.health.incomplete
        assert deck.state() is HealthState.DEGRADED
        deck.server.fail_with = None
        await deck.clock.run(2.0)
        assert deck.ids == list(FIVE)
        assert not deck.watch.health.incomplete


async def test_a_later_pass_that_breaks_in_the_middle_removes_nothing() -> None:
    async with Deck(*FIVE) as deck:
        await deck.clock.run()
        del deck.server.items[0]
        deck.server.fail_with, deck.server.fail_page = failure(ErrorKind.BROKEN), 1
        await deck.clock.run(30.0)
        assert set(deck.ids) == set(FIVE)
        assert deck.watch.health.incomplete


async def test_a_batch_that_knows_none_of_the_rows_is_doubted_until_the_whole_list_says_so() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a", "b"])
        await deck.clock.run()
        del deck.server.items[:2]
        await deck.clock.run(5.0)
        assert deck.ids == list(FIVE)
        await deck.clock.run(1.0)
        assert deck.ids == ["c", "d", "e"]


async def test_a_reading_that_changes_nothing_publishes_no_change() -> None:
    async with Deck(*FIVE) as deck:
        deck.watch.look(visible=["a"])
        await deck.clock.run()
        before = dict(deck.watch.records)
        deck.published.clear()
        await deck.clock.run(35.0)
        assert len(deck.published) == 7 + 3, "seven ticks and a pass of three pages"
        assert not any(deck.published)
        assert all(record is before[record_id] for record_id, record in deck.watch.records.items())
