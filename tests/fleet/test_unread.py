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


def told(story: str) -> Unread:
    """The marks after what is told: `running@0` is a reading of c, `b:finished@5` one of b, `look@6` a look at c.

    `PAUSED@6` and `ERROR@6` are readings of a sandbox that does not let its agent be heard.
    """
    marks = Unread()
    for step in story.split():
        what, _, second = step.rpartition("@")
        name, _, word = what.rpartition(":")
        if word == "look":
            marks.looked([name or "c"], at(float(second)))
        elif word.isupper():
            read(marks, float(second), None, sandbox=word, name=name or "c")
        else:
            read(marks, float(second), word, name=name or "c")
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
        # another outcome is unread again, however soon after the look
        ("running@0 waiting_for_confirmation@5 look@8 error@9", "c"),
    ],
)
def test_what_an_agent_came_to_is_unread_until_somebody_looks(story: str, unread: str) -> None:
    assert told(story).ids == set(unread)


def test_only_news_is_told() -> None:
    marks = told("running@0")
    assert [read(marks, second, "finished") for second in (5, 6)] == [True, False]
    assert marks.looked(["c", "none"], at(6)) == {"c"}
    assert not read(marks, 7, "finished")


def test_the_next_run_finds_the_marks_and_what_finished_meanwhile() -> None:
    marks = told("a:running@0 b:finished@0 a:finished@5 d:running@5")
    later = again(kept(marks))
    assert "a" in later, "it is marked before anything is read"
    for name in "abcd":
        read(later, 900, "finished", name=name, updated=0 if name == "b" else 800)
    assert later.ids == {"a", "c", "d"}


def test_what_worked_and_finished_again_while_no_deck_ran_is_unseen_again() -> None:
    marks = told("running@0 finished@5 look@8")
    note = kept(marks)
    quiet, busy = again(note), again(note)
    read(quiet, 900, "finished", updated=5)
    read(busy, 900, "finished", updated=600)
    assert (quiet.ids, busy.ids) == (set(), {"c"})


def test_a_late_change_of_what_is_seen_sets_no_mark_in_this_run_nor_in_the_next() -> None:
    marks = told("running@0 finished@5 look@8")
    read(marks, 30, "finished", updated=20)
    assert marks.ids == set()
    later = again(kept(marks))
    read(later, 900, "finished", updated=20)
    assert later.ids == set()


def test_with_two_decks_a_look_in_one_takes_the_mark_of_both() -> None:
    one, other = told("running@0 finished@5 look@8"), told("running@0")
    read(other, 15, "finished", updated=5)
    assert other.ids == {"c"}, "nothing was noted yet"
    note = kept(other, kept(one))
    other.recall(note)
    assert other.ids == set()
    assert again(note).ids == set()


def test_with_two_decks_what_one_missed_is_unseen_in_the_end() -> None:
    one, other = told("running@0 finished@5 look@8 running@20 finished@40"), told("running@0 finished@5")
    for note in (kept(one, kept(other)), kept(other, kept(one))):
        assert again(note).ids == {"c"}


def test_a_reading_like_the_last_one_counts_of_an_agent_at_work_and_of_what_another_deck_told() -> None:
    def same(marks: Unread, agent: str, second: float) -> bool:
        """Whether a reading that changed no record, taken so late, is news."""
        record = Conversation(id="c", sandbox_status="RUNNING", execution_status=agent, updated_at=at(5))
        return bool(marks.read([record], {}, ServerClock(at(second))))

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
    one, other = (told(f"{name}:running@0 {name}:finished@5") for name in "ab")
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
