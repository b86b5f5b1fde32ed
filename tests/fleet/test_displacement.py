import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.displacement import (
    Displacement,
    KeptCap,
    cap_learned,
    forecast,
    made_room,
    probable_cap,
    running_oldest_first,
)
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row
from quarterdeck.fleet.timeline import Cause, Event

from .fakes import at


def rows(*told: tuple[str, str, float | None], pausing: str = "") -> list[SandboxRow]:
    """Rows of (id, status, when created)."""
    memories = SandboxMemories()
    records = [
        Sandbox(id=name, status=status, created_at=None if created is None else at(created))
        for name, status, created in told
    ]
    memories.observe(records, at(0), beginning=False)
    if pausing:
        memories.asked(pausing, Action.PAUSE, at(0))
    title = Conversation(id="c", title="Fix login")
    return [
        sandbox_row(record, memories.by_id[record.id], (title,) if record.id == "old" else ()) for record in records
    ]


FIVE = [("d", "RUNNING", 40.0), ("old", "RUNNING", 10.0), ("c", "RUNNING", 30.0), ("b", "RUNNING", 20.0)]


def test_the_oldest_created_running_one_is_named_when_the_cap_is_reached() -> None:
    seen = forecast(rows(*FIVE, ("p", "PAUSED", 1.0)), at(0), 4, Action.RESUME)
    assert seen.ids == ("old",)
    assert "old (Fix login)" in seen.words
    assert "4 of about 4" in seen.words


@pytest.mark.parametrize(
    ("cap", "action"), [(5, Action.START), (None, Action.START), (3, Action.START), (4, Action.PAUSE)]
)
def test_nothing_is_foreseen_below_the_cap_beyond_it_without_one_and_for_a_pause(
    cap: int | None, action: Action
) -> None:
    seen = forecast(rows(*FIVE), at(0), cap, action)
    assert (seen.ids, seen.words) == ((), "")


def test_several_at_once_displace_several_oldest_first_but_never_more_than_run() -> None:
    assert forecast(rows(*FIVE), at(0), 4, Action.RESUME, count=2).ids == ("old", "b")
    assert forecast(rows(*FIVE), at(0), 4, Action.RESUME, count=9).ids == ("old", "b", "c", "d")


def test_what_is_being_paused_already_does_not_count() -> None:
    assert forecast(rows(*FIVE, pausing="b"), at(0), 4, Action.START).ids == ()


def test_one_of_unknown_age_is_thought_the_youngest() -> None:
    seen = forecast(rows(*FIVE, ("x", "RUNNING", None)), at(0), 5, Action.START, count=5)
    assert seen.ids == ("old", "b", "c", "d", "x")


def found(running: str, after: dict[str, str], by: str = "new", **causes: Cause) -> tuple[str, ...]:
    """What made room, where the words of these are read after it."""
    return made_room(running, by, lambda name: [Event(after[name], at(0), cause=causes.get(name, Cause.SERVER))])


def test_the_oldest_that_ran_before_and_are_paused_after_were_displaced_but_for_what_was_asked_for() -> None:
    after = {"a": "Paused", "b": "Error", "d": "Paused", "f": "Running", "g": "Paused", "new": "Running"}
    assert found("abdfg", after) == ("a", "d")
    assert found("abdfg", after, d=Cause.YOU) == found("abdfg", after, d=Cause.DISPLACED) == ("a",)
    assert found("abdfg", after, by="a") == ("d",)


def test_one_that_is_paused_while_older_ones_run_made_no_room() -> None:
    assert found("ab", {"a": "Running", "b": "Paused"}) == ()
    assert found("ab", {"a": "Starting", "b": "Paused"}) == ()


def test_what_is_asked_for_something_already_does_not_run() -> None:
    memories = SandboxMemories()
    told = [("young", "RUNNING", at(2)), ("off", "PAUSED", at(0)), ("old", "RUNNING", at(1)), ("new", "RUNNING", None)]
    records = [Sandbox(id=name, status=status, created_at=created) for name, status, created in told]
    memories.observe(records, at(3), beginning=False)
    assert running_oldest_first(records, memories.by_id) == ("old", "young", "new")
    memories.asked("young", Action.PAUSE, at(3))
    assert running_oldest_first(records, memories.by_id) == ("old", "new")


def test_a_displacement_teaches_the_cap() -> None:
    five = KeptCap(cap=5)
    assert cap_learned(None, running=5, displaced=1) == five
    assert cap_learned(five, running=8, displaced=6) == KeptCap(cap=3)
    assert cap_learned(five, running=4, displaced=0) == five
    assert cap_learned(five, running=5, displaced=0) == KeptCap(cap=None)
    assert cap_learned(None, running=50, displaced=0) is None


def test_containers_let_guess_the_usual_cap_until_one_is_learned() -> None:
    assert probable_cap(None, ["oh-agent-server-7WN"]) == 5
    assert probable_cap(None, ["7WN"]) is None
    assert probable_cap(KeptCap(cap=None), ["oh-agent-server-7WN"]) is None


@given(st.none() | st.integers(1, 100))
def test_a_learned_cap_is_known_in_the_next_run_unless_that_knows_better(about: int | None) -> None:
    first, again = Displacement(), Displacement()
    assert first.merge()(None) is None
    first.learned = KeptCap(cap=about)
    kept = first.merge()(None)
    assert kept is not None
    again.recall(KeptCap.model_validate_json(kept.model_dump_json()))
    again.recall(KeptCap(cap=7))
    assert again.learned == first.learned
    assert Displacement().merge()(kept) == kept
