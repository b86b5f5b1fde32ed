from datetime import timedelta

import pytest

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.notify import MOST, KeptWatches, Watches

from .fakes import at

SAME = timedelta()
"""The server's clock shows what this machine's does."""


def record(agent: str | None, *, name: str = "c", sandbox: str = "RUNNING", updated: float = 0.0) -> Conversation:
    return Conversation(
        id=name, title=f"Title {name}", sandbox_status=sandbox, execution_status=agent, updated_at=at(updated)
    )


def begin(
    watched: Watches,
    second: float,
    agent: str | None,
    *,
    name: str = "c",
    sandbox: str = "RUNNING",
    offset: timedelta = SAME,
) -> bool:
    told = record(agent, name=name, sandbox=sandbox)
    return watched.begin(told, None, ServerClock(at(second), offset))


def read(
    watched: Watches,
    second: float,
    agent: str | None,
    *,
    name: str = "c",
    sandbox: str = "RUNNING",
    updated: float | None = None,
    offset: timedelta = SAME,
) -> bool:
    told = record(agent, name=name, sandbox=sandbox, updated=second if updated is None else updated)
    return watched.observe(told, None, ServerClock(at(second), offset))


def again(watched: Watches, before: KeptWatches | None = None) -> Watches:
    """What the next run watches."""
    later, kept = Watches(), watched.merge()(before)
    later.recall(KeptWatches.model_validate_json(kept.model_dump_json()) if kept is not None else None)
    return later


def since(watched: Watches) -> float:
    (one,) = watched.by_urgency
    return one.since - at(0).timestamp() if one.since else 0.0


@pytest.mark.parametrize(
    ("story", "news"),
    [
        # what an agent at work comes to is told once
        *((f"running running {out} {out}", out) for out in ("waiting_for_confirmation", "finished", "error", "stuck")),
        # what is no outcome is not, nor what it was at when the watch began
        ("finished idle", ""),
        ("finished paused", ""),
        ("finished running", ""),
        ("finished finished waiting_for_confirmation", "waiting_for_confirmation"),
        # a sandbox that sleeps and wakes brings no news of the agent
        ("running finished PAUSED STARTING RUNNING finished ERROR", "finished"),
    ],
)
def test_what_an_agent_comes_to_is_told_once(story: str, news: str) -> None:
    first, *steps = story.split()
    watched = Watches()
    begin(watched, 0, first)
    told = [
        step
        for second, step in enumerate(steps, 1)
        if (read(watched, second, None, sandbox=step) if step.isupper() else read(watched, second, step))
    ]
    assert told == news.split()


def test_what_was_watched_asleep_is_told_only_when_something_was_done_since() -> None:
    old, new = Watches(), Watches()
    for watched in (old, new):
        begin(watched, 100, None, sandbox="PAUSED")
    assert not read(old, 200, "finished", updated=50)
    assert read(new, 200, "finished", updated=150)


def test_the_one_that_needs_a_person_most_stands_first() -> None:
    watched = Watches()
    for agent, name in [("running", "a"), ("finished", "b"), ("error", "d"), ("waiting_for_confirmation", "e")]:
        begin(watched, 0, agent, name=name)
    assert [each.id for each in watched.by_urgency] == ["e", "d", "b", "a"]
    read(watched, 5, "waiting_for_confirmation", name="a")
    assert [each.id for each in watched.by_urgency][:2] == ["a", "e"]


def test_there_is_a_limit_to_how_many_are_watched() -> None:
    watched = Watches()
    assert all(begin(watched, 0, "running", name=f"{number}") for number in range(MOST))
    assert begin(watched, 0, "running", name="0")
    assert not begin(watched, 0, "running", name="one more")
    watched.end("3")
    assert begin(watched, 0, "running", name="one more")


def test_the_next_run_goes_on_and_tells_what_happened_meanwhile() -> None:
    watched = Watches()
    for name in "abc":
        begin(watched, 0, "running", name=name)
    read(watched, 10, "finished", name="a")
    watched.end("c")
    later = again(watched)
    assert later.ids == {"a", "b"}
    assert [each.state for each in later.by_urgency] == [None, None]
    assert not read(later, 900, "finished", name="a")
    assert read(later, 900, "error", name="b", updated=700)
    moments = {each.id: each.since - at(0).timestamp() for each in later.by_urgency}
    assert moments == {"a": 10, "b": 700}


def test_nothing_is_claimed_of_a_time_that_nobody_knows() -> None:
    watched = Watches()
    begin(watched, 50, "running")
    assert since(watched) == 0
    later = again(watched)
    read(later, 900, None, sandbox="PAUSED")
    assert since(later) == 0


def test_decks_beside_each_other_keep_what_only_the_other_watches() -> None:
    one, other = Watches(), Watches()
    begin(one, 0, "running", name="a")
    begin(other, 0, "running", name="b")
    note = one.merge()(other.merge()(None))
    later = Watches()
    later.recall(note)
    assert later.ids == {"a", "b"}
    later.end("a")
    assert again(later, note).ids == {"b"}
    later.end("b")
    assert later.merge()(note) is None


def test_a_clock_of_the_server_that_is_wrong_hides_no_news() -> None:
    watched, behind = Watches(), timedelta(hours=-2)
    begin(watched, 0, None, sandbox="PAUSED", offset=behind)
    assert read(watched, 100, "finished", updated=50 + behind.total_seconds(), offset=behind)
    assert since(watched) == 100
