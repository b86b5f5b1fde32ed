import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.displacement import (
    Displacement,
    KeptCap,
    forecast,
    made_room,
)
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.timeline import Cause, Event

from .fakes import at, sandbox

FOUR = ("old", "b", "c", "d")


@pytest.mark.parametrize(
    ("cap", "count", "named"),
    [
        (4, 1, "4 of about 4 run already: the server will likely pause the oldest one, old (Fix login)."),
        (4, 2, "the 2 oldest ones, old (Fix login), b."),
        (4, 9, "the 4 oldest ones, old (Fix login), b, c and 1 more."),
        # nothing is foreseen below the cap, beyond it, and without one
        (5, 1, ""),
        (3, 1, ""),
        (None, 1, ""),
    ],
)
def test_the_oldest_running_ones_are_named_when_the_cap_is_reached(cap: int | None, count: int, named: str) -> None:
    seen = forecast(FOUR, cap, {"old": "Fix login"}.get, count)
    assert seen.endswith(named) if named else not seen


def found(running: str, after: dict[str, str], by: str = "new", **causes: Cause) -> tuple[str, ...]:
    """What made room, where the words of these are read after it."""
    return made_room(running, by, lambda name: [Event(after[name], at(0), cause=causes.get(name, Cause.SERVER))])


def test_the_oldest_that_ran_before_and_are_paused_after_were_displaced_but_for_what_was_asked_for() -> None:
    after = {"a": "Paused", "b": "Error", "d": "Paused", "f": "Running", "g": "Paused", "new": "Running"}
    assert found("abdfg", after) == ("a", "d")
    assert found("abdfg", after, d=Cause.YOU) == found("abdfg", after, d=Cause.DISPLACED) == ("a",)
    assert found("abdfg", after, by="a") == ("d",)


@pytest.mark.parametrize(
    ("before", "running", "after", "cap"),
    [
        (KeptCap(cap=7), 5, "PAUSED RUNNING", KeptCap(cap=5)),
        (None, 5, "PAUSED PAUSED RUNNING", KeptCap(cap=4)),
        # more than was thought run beside each other
        (KeptCap(cap=5), 5, "RUNNING", KeptCap(cap=None)),
        (KeptCap(cap=5), 4, "RUNNING", KeptCap(cap=5)),
        (None, 50, "RUNNING", None),
    ],
)
def test_what_made_room_for_a_start_teaches_the_cap(
    before: KeptCap | None, running: int, after: str, cap: KeptCap | None
) -> None:
    ids, memories = [f"{number:02}" for number in range(running)], SandboxMemories()
    displacement = Displacement(memories.timelines, lambda each: None)
    displacement.learned = before
    memories.observe([sandbox("RUNNING", each) for each in ids], at(0), beginning=False)
    displacement.answered("new", ids, at(1))
    read = [sandbox(status, each) for status, each in zip(after.split(), ids, strict=False)]
    memories.observe([*read, sandbox("RUNNING", "new")], at(2), beginning=True)
    for second in (2, 40):
        list(displacement.read(at(second)))
    assert displacement.kept() == cap


@given(st.none() | st.integers(1, 100))
def test_a_learned_cap_is_known_in_the_next_run_unless_that_knows_better(about: int | None) -> None:
    again = Displacement(SandboxMemories().timelines, lambda each: None)
    again.recall(KeptCap.model_validate_json(KeptCap(cap=about).model_dump_json()))
    again.recall(KeptCap(cap=7))
    assert again.kept() == KeptCap(cap=about)
