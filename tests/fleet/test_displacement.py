import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.displacement import (
    Displacement,
    KeptCap,
    cap_learned,
    forecast,
    made_room,
)
from quarterdeck.fleet.timeline import Cause, Event

from .fakes import at

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


def test_a_displacement_teaches_the_cap() -> None:
    five = KeptCap(cap=5)
    assert cap_learned(None, running=5, displaced=1) == five
    assert cap_learned(five, running=8, displaced=6) == KeptCap(cap=3)
    assert cap_learned(five, running=4, displaced=0) == five
    assert cap_learned(five, running=5, displaced=0) == KeptCap(cap=None)
    assert cap_learned(None, running=50, displaced=0) is None


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
