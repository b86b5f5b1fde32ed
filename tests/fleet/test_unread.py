"""What conversations came to and who has looked, from run to run and from deck to deck; which of them ring."""

import pytest

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.unread import KEPT, KeptUnread, Unread

from .fakes import at


def record(word: str, name: str = "c", updated: float = 0.0) -> Conversation:
    """A record with the word of its agent, or, like PAUSED, of a sandbox that does not let its agent be heard."""
    agent, sandbox = (None, word) if word.isupper() else (word, "RUNNING")
    return Conversation(name, f"Title {name}", None, sandbox, agent, updated_at=at(updated))


def read(marks: Unread, second: float, word: str, name: str = "c", updated: float | None = None) -> list[str]:
    """Take a reading; gives what is rung for."""
    told = record(word, name, second if updated is None else updated)
    changed = marks.read([told], {name}, ServerClock(at(second)))
    return [news.words for news in marks.calls(changed, {name: told}, whole=False)]


def kept(marks: Unread, before: KeptUnread | None = None) -> KeptUnread:
    """What the next run finds in the file."""
    mine = marks.kept()
    assert mine is not None
    return KeptUnread.model_validate_json(mine.joined(before).model_dump_json())


def again(note: KeptUnread) -> Unread:
    marks = Unread()
    marks.recall(note)
    return marks


def told(story: str) -> Unread:
    """The marks after what is told: `running@0` is a reading of c, `b:finished@5` one of b, `look@6` a look at c."""
    marks = Unread()
    for step in story.split():
        what, _, second = step.rpartition("@")
        name, _, word = what.rpartition(":")
        if word == "look":
            marks.mark_read([name or "c"], at(float(second)))
        else:
            read(marks, float(second), word, name or "c")
    return marks


@pytest.mark.parametrize(
    ("story", "unread"),
    [
        # what an agent came to is unread until somebody looks
        *((f"running@0 {agent}@5", "c") for agent in ("finished", "error", "stuck", "waiting_for_confirmation")),
        ("running@0 finished@5 finished@6 look@6 finished@7", ""),
        ("running@0 finished@0 look@0", ""),
        # what had happened before the first reading is not, and what is new is
        ("o:finished@0 w:running@0 n:finished@9 w:finished@9", "nw"),
        # a mark outlives the sleep of the sandbox and ends when the agent works again
        ("running@0 finished@5 PAUSED@6", "c"),
        ("running@0 finished@5 PAUSED@6 running@7", ""),
        ("running@0 finished@5 PAUSED@6 running@7 finished@8", "c"),
        # a broken sandbox is no news of the agent
        ("running@0 ERROR@5", ""),
        # a look at work under way does not take the mark of what comes of it
        ("running@0 look@4 finished@5", "c"),
        # the same word is unread again after somebody dealt with it, and where it changed long after it was settled
        ("running@0 waiting_for_confirmation@5 look@8 idle@9 waiting_for_confirmation@10", "c"),
        ("running@0 waiting_for_confirmation@5 idle@9", ""),
        ("running@0 finished@5 look@8 finished@39", ""),
        ("running@0 finished@5 look@8 finished@60", "c"),
        ("running@0 finished@5 look@8 finished@60 look@61 finished@62", ""),
        # another outcome is unread again, however soon after the look
        ("running@0 waiting_for_confirmation@5 look@8 error@9", "c"),
    ],
)
def test_what_an_agent_came_to_is_unread_until_somebody_looks(story: str, unread: str) -> None:
    assert told(story).ids == set(unread)


def test_the_next_run_finds_the_marks_and_what_finished_meanwhile() -> None:
    later = again(kept(told("a:running@0 b:finished@0 a:finished@5 d:running@5")))
    assert "a" in later.ids, "it is marked before anything is read"
    for name in "abcd":
        read(later, 900, "finished", name=name, updated=0 if name == "b" else 800)
    assert later.ids == {"a", "c", "d"}


def test_what_worked_and_finished_again_while_no_deck_ran_is_unseen_again() -> None:
    for updated, unread in ((5, set[str]()), (600, {"c"})):
        later = again(kept(told("running@0 finished@5 look@8")))
        read(later, 900, "finished", updated=updated)
        assert later.ids == unread


def test_a_late_change_of_what_is_seen_sets_no_mark_in_this_run_nor_in_the_next() -> None:
    marks = told("running@0 finished@5 look@8")
    read(marks, 30, "finished", updated=20)
    later = again(kept(marks))
    read(later, 900, "finished", updated=20)
    assert (marks.ids, later.ids) == (set(), set())


def test_with_two_decks_what_one_missed_is_unseen_in_the_end_and_what_only_one_has_read_is_kept() -> None:
    one = told("a:running@0 a:finished@5 running@0 finished@5 look@8 running@20 finished@40")
    other = told("b:running@0 b:finished@5 running@0 finished@5")
    for note in (kept(one, kept(other)), kept(other, kept(one))):
        assert again(note).ids == {"a", "b", "c"}


def test_only_the_newest_are_noted_and_what_is_left_out_does_not_come_back_as_news() -> None:
    marks = told("w:running@0")
    for number in range(KEPT + 10):
        read(marks, 10 + number, "finished", name=f"{number}")
        marks.mark_read([f"{number}"], at(10 + number))
    note = kept(marks)
    assert len(note.conversations) == KEPT
    later = again(note)
    for number in range(KEPT + 10):
        read(later, 90_000, "finished", name=f"{number}", updated=10 + number)
    assert later.ids == set()


def test_a_clock_that_was_wrong_once_hides_no_news() -> None:
    later = again(kept(told("old:finished@9000000")))
    read(later, 10, "running", name="old", updated=10)
    read(later, 20, "finished", name="new", updated=15)
    assert later.ids == {"new"}


@pytest.mark.parametrize(
    ("story", "rung"),
    [
        *((f"running {out} {out}", out.title()) for out in ("finished", "error", "stuck")),
        ("running waiting_for_confirmation waiting_for_confirmation", "Needs you"),
        ("finished idle", ""),
        ("finished finished waiting_for_confirmation", "Needs you"),
        ("running finished PAUSED STARTING RUNNING finished ERROR", "Finished"),
    ],
)
def test_what_a_watched_one_comes_to_is_rung_for_once(story: str, rung: str) -> None:
    first, *steps = story.split()
    marks = told(f"{first}@0")
    marks.watch([record(first)])
    heard = [words for second, step in enumerate(steps, 1) for words in read(marks, second, step)]
    assert heard == ([f"Title c: {rung}."] if rung else [])


def test_what_ends_again_between_two_readings_rings_again_though_nobody_has_looked() -> None:
    marks = told("running@0")
    marks.watch([record("running")])
    assert [read(marks, second, "finished") for second in (5, 6, 60)] == [
        ["Title c: Finished."],
        [],
        ["Title c: Finished."],
    ]


def test_the_next_run_rings_for_what_happened_meanwhile_and_for_what_another_deck_watches() -> None:
    one, other = told("a:running@0 b:running@0 a:finished@10"), told("d:running@0")
    one.watch([record("running", name=name) for name in "abc"])
    one.unwatch("c")
    other.watch([record("running", name="d")])
    later = again(kept(one, kept(other)))
    assert later.watched.keys() == {"a", "b", "d"}
    assert not read(later, 900, "finished", name="a", updated=10)
    assert read(later, 900, "error", name="b", updated=700)
    found = later.by_urgency({name: record("finished", name=name) for name in "ab"})
    assert {each.id: each.since for each in found} == {"a": at(10).timestamp(), "b": at(700).timestamp(), "d": 0.0}
    later.unwatch("a")
    assert again(kept(later, kept(one))).watched.keys() == {"b", "d"}
