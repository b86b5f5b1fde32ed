import pytest

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.conversations import conversation_state
from quarterdeck.fleet.unread import KEPT, KeptUnread, Unread

from .fakes import at


def read(
    marks: Unread,
    second: float,
    agent: str | None,
    *,
    sandbox: str = "RUNNING",
    name: str = "c",
    updated: float | None = None,
) -> bool:
    changed = at(second if updated is None else updated)
    record = Conversation(id=name, sandbox_status=sandbox, execution_status=agent, updated_at=changed)
    return marks.observe(name, conversation_state(record), changed, at(second))


def kept(marks: Unread, before: KeptUnread | None = None) -> KeptUnread:
    """What the next run finds in the file."""
    after = marks.merge()(before)
    assert after is not None
    return KeptUnread.model_validate_json(after.model_dump_json())


def again(note: KeptUnread) -> Unread:
    marks = Unread()
    marks.recall(note)
    return marks


@pytest.mark.parametrize("agent", ["finished", "error", "stuck", "waiting_for_confirmation"])
def test_what_an_agent_came_to_is_unseen_until_somebody_looks(agent: str) -> None:
    marks = Unread()
    read(marks, 0, "running")
    assert read(marks, 5, agent)
    assert marks.ids == {"c"}
    assert not read(marks, 6, agent)
    assert marks.looked(["c"], at(6))
    assert not read(marks, 7, agent)
    assert marks.ids == set()


def test_a_look_at_the_very_moment_of_the_reading_counts() -> None:
    marks = Unread()
    read(marks, 0, "running")
    read(marks, 0, "finished")
    marks.looked(["c"], at(0))
    assert "c" not in marks


def test_what_had_happened_before_the_first_look_is_not_unseen_and_what_is_new_is() -> None:
    marks = Unread()
    read(marks, 0, "finished", name="old")
    read(marks, 0, "running", name="at work")
    read(marks, 9, "finished", name="new")
    read(marks, 9, "finished", name="at work")
    assert marks.ids == {"new", "at work"}


def test_a_mark_outlives_the_sleep_of_the_sandbox_and_ends_when_the_agent_works_again() -> None:
    marks = Unread()
    read(marks, 0, "running")
    read(marks, 5, "finished")
    assert not read(marks, 6, None, sandbox="PAUSED")
    assert marks.ids == {"c"}
    assert read(marks, 7, "running")
    assert marks.ids == set()
    assert read(marks, 8, "finished")
    assert marks.ids == {"c"}


def test_a_broken_sandbox_is_no_news_of_the_agent() -> None:
    marks = Unread()
    read(marks, 0, "running")
    assert not read(marks, 5, None, sandbox="ERROR")
    assert marks.ids == set()


def test_a_look_at_work_under_way_does_not_take_the_mark_of_what_comes_of_it() -> None:
    marks = Unread()
    read(marks, 0, "running")
    assert not marks.looked(["c"], at(4))
    read(marks, 5, "finished")
    assert marks.ids == {"c"}


def test_another_outcome_is_unseen_again_however_soon_after_the_look() -> None:
    marks = Unread()
    read(marks, 0, "running")
    read(marks, 5, "waiting_for_confirmation")
    marks.looked(["c"], at(8))
    read(marks, 9, "error")
    assert marks.ids == {"c"}


def test_the_next_run_finds_the_marks_and_what_finished_meanwhile() -> None:
    marks = Unread()
    read(marks, 0, "running", name="a")
    read(marks, 0, "finished", name="b")
    read(marks, 5, "finished", name="a")
    read(marks, 5, "running", name="d")
    later = again(kept(marks))
    assert "a" in later, "it is marked before anything is read"
    for name in "abcd":
        read(later, 900, "finished", name=name, updated=0 if name == "b" else 800)
    assert later.ids == {"a", "c", "d"}


def test_what_worked_and_finished_again_while_no_deck_ran_is_unseen_again() -> None:
    marks = Unread()
    read(marks, 0, "running")
    read(marks, 5, "finished")
    marks.looked(["c"], at(8))
    note = kept(marks)
    quiet, busy = again(note), again(note)
    read(quiet, 900, "finished", updated=5)
    read(busy, 900, "finished", updated=600)
    assert (quiet.ids, busy.ids) == (set(), {"c"})


def test_a_late_change_of_what_is_seen_sets_no_mark_in_this_run_nor_in_the_next() -> None:
    marks = Unread()
    read(marks, 0, "running")
    read(marks, 5, "finished")
    marks.looked(["c"], at(8))
    read(marks, 30, "finished", updated=20)
    assert marks.ids == set()
    later = again(kept(marks))
    read(later, 900, "finished", updated=20)
    assert later.ids == set()


def test_with_two_decks_a_look_in_one_takes_the_mark_of_both() -> None:
    one, other = Unread(), Unread()
    for deck in (one, other):
        read(deck, 0, "running")
    read(one, 5, "finished")
    one.looked(["c"], at(8))
    read(other, 15, "finished", updated=5)
    assert other.ids == {"c"}, "nothing was noted yet"
    note = kept(other, kept(one))
    other.recall(note)
    assert other.ids == set()
    assert again(note).ids == set()


def test_with_two_decks_what_one_missed_is_unseen_in_the_end() -> None:
    one, other = Unread(), Unread()
    for deck in (one, other):
        read(deck, 0, "running")
        read(deck, 5, "finished")
    one.looked(["c"], at(8))
    read(one, 20, "running")
    read(one, 40, "finished")
    for note in (kept(one, kept(other)), kept(other, kept(one))):
        assert again(note).ids == {"c"}


def test_a_reading_like_the_last_one_counts_of_an_agent_at_work_and_of_what_another_deck_told() -> None:
    def same(marks: Unread, agent: str, second: float) -> bool:
        """Whether a reading that changed no record, taken so late, is news."""
        record = Conversation(id="c", sandbox_status="RUNNING", execution_status=agent, updated_at=at(5))
        return bool(marks.read([record], frozenset(), {}, ServerClock(at(second))))

    one, other = Unread(), Unread()
    one.recall(None)
    read(one, 0, "running")
    assert not same(one, "running", 9)
    assert kept(one).conversations["c"].after == at(9).timestamp(), "work is kept as of its last reading"
    read(one, 10, "finished", updated=5)
    assert not same(one, "finished", 11)
    read(other, 12, "running")
    read(other, 14, "error")
    one.recall(kept(other))
    assert same(one, "finished", 15)
    assert not same(one, "finished", 16)


def test_decks_beside_each_other_keep_what_only_the_other_has_read() -> None:
    one, other = Unread(), Unread()
    for name, deck in {"a": one, "b": other}.items():
        read(deck, 0, "running", name=name)
        read(deck, 5, "finished", name=name)
    assert again(kept(one, kept(other))).ids == {"a", "b"}


def test_only_the_newest_are_noted_and_what_is_left_out_does_not_come_back_as_news() -> None:
    marks = Unread()
    read(marks, 0, "running", name="w")
    for number in range(KEPT + 10):
        read(marks, 10 + number, "finished", name=f"{number}")
        marks.looked([f"{number}"], at(10 + number))
    note = kept(marks)
    assert len(note.conversations) == KEPT
    later = again(note)
    for number in range(KEPT + 10):
        read(later, 90_000, "finished", name=f"{number}", updated=10 + number)
    assert later.ids == set()


def test_old_conversations_nobody_worked_in_are_not_kept() -> None:
    marks = Unread()
    for number in range(50):
        read(marks, 0, "finished", name=f"{number}", updated=-3600)
    assert kept(marks).conversations == {}


def test_a_clock_that_was_wrong_once_hides_no_news() -> None:
    marks = Unread()
    read(marks, 9_000_000, "finished", name="old")
    later = again(kept(marks))
    read(later, 10, "running", name="old", updated=10)
    read(later, 20, "finished", name="new", updated=15)
    assert later.ids == {"new"}
