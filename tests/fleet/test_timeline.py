"""What happened to sandboxes and who caused it; what a start displaces."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.displacement import Displacement, KeptCap, forecast, made_room
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import sandbox_row
from quarterdeck.fleet.timeline import IDS, Cause, Event, KeptTimelines

from .fakes import at, sandbox

DAY = 86_400


class Watched:
    """The memories and the timelines of one server, read by hand."""

    def __init__(self, kept: KeptTimelines | None = None) -> None:
        self.awaited = False
        self.memories = SandboxMemories(lambda: self.awaited)
        self.timelines = self.memories.timelines
        if kept is not None:
            self.timelines.recall(kept)

    def read(self, second: float, *statuses: str, beginning: bool = False) -> None:
        """Read sandboxes a, b, c ... in these statuses; "-" stands for one that is not read."""
        records = [sandbox(status, name) for name, status in zip("abcdef", statuses, strict=False) if status != "-"]
        self.memories.observe(records, at(second), beginning=beginning)

    def told(self, name: str = "a") -> list[tuple[str, Cause]]:
        return [(event.what, event.cause) for event in self.timelines.of(name)]

    def kept(self, beside: KeptTimelines | None = None) -> KeptTimelines:
        """What the next run finds, `beside` what was kept already."""
        kept = self.timelines.kept()
        assert kept is not None
        return KeptTimelines.model_validate_json(kept.joined(beside).model_dump_json())


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        # what was asked for here was you, the rest the server
        ("0:RUNNING 10:pause 12:PAUSED 60:RUNNING", "Running unknown, Paused you, Running server"),
        ("0:PAUSED 10:resume 12:STARTING 20:RUNNING", "Paused unknown, Starting you, Running you"),
        ("0:RUNNING 1:PAUSED 2:resume 3:STARTING 4:alive", "Running unknown, Paused server, Starting you, Running you"),
        # a resume that fails did not fail by your will
        ("0:PAUSED 10:resume 12:STARTING 15:MISSING", "Paused unknown, Starting you, Missing server"),
        # a start that was answered was you, also where it was listed or had failed before; one that appeared was not
        ("0:started=RUNNING 1:new=RUNNING", "Running you"),
        ("2:new=STARTING 8:started=STARTING 10:RUNNING", "Starting you, Running you"),
        ("2:new=STARTING 4:ERROR 38:ERROR 39:started=ERROR 44:RUNNING", "Starting you, Error server, Running you"),
        ("2:new=STARTING", "Starting server"),
        # a refused pause explains nothing, nor does one of long ago
        ("0:RUNNING 1:pause 1:refused 10:PAUSED", "Running unknown, Paused server"),
        ("0:RUNNING 1:pause 99:RUNNING 198:RUNNING 297:RUNNING 360:PAUSED", "Running unknown, Paused server"),
        # flaps are no events; what the server does not find is missing from then on
        ("0:RUNNING 1:RUNNING 2:STARTING 3:STARTING 4:RUNNING 5:STARTING", "Running unknown"),
        ("0:RUNNING 1:pause 2:missing", "Running unknown, Missing server"),
        # what a server stops before it deletes it, and lists as missing then, was you
        ("0:RUNNING 1:deletion 2:PAUSED 4:MISSING", "Running unknown, Paused server, Missing you"),
    ],
)
def test_what_was_asked_for_here_was_you_and_the_rest_the_server(story: str, expected: str) -> None:
    watched = Watched()
    for step in story.split():
        second, _, what = step.partition(":")
        word, _, status = what.partition("=")
        now, memories = at(float(second)), watched.memories
        match word:
            case "pause" | "resume" | "deletion":
                memories.asked("a", Action(word), now)
                memories.answered("a")
            case "refused":
                memories.refused("a")
            case "missing":
                memories.missing("a", now)
            case "alive":
                memories.checked("a", now, answered=True)
            case "started":
                memories.started(sandbox(status, "a"), now)
            case _:
                read = sandbox(status or word, "a", served=True)
                memories.observe([read], now, beginning=word == "new")
    assert ", ".join(f"{what} {cause}" for what, cause in watched.told()) == expected


def test_what_appears_while_a_start_of_ours_is_not_answered_may_be_it_and_never_reads_that_nobody_asked() -> None:
    watched = Watched()
    watched.read(0, "-", "RUNNING")
    watched.awaited = True
    watched.read(2, "STARTING", "RUNNING", "STARTING", beginning=True)
    watched.read(4, "RUNNING", "RUNNING", "RUNNING")
    assert watched.told("a") == watched.told("c") == [("Starting", Cause.UNKNOWN), ("Running", Cause.UNKNOWN)]
    assert not any("nobody" in event.words for event in watched.timelines.of("a"))
    assert watched.timelines.perhaps_ours("a")
    watched.awaited = False
    watched.memories.started(sandbox("RUNNING", "a"), at(5))
    assert watched.told("a") == [("Starting", Cause.YOU), ("Running", Cause.YOU)]
    assert watched.timelines.of("a")[0].lasted == 2.0
    assert not watched.timelines.perhaps_ours("c")
    watched.read(9, "RUNNING", "RUNNING", "RUNNING", "STARTING", beginning=True)
    assert watched.told("d") == [("Starting", Cause.SERVER)]


def test_a_pause_that_made_room_for_a_start_of_ours_is_told_apart() -> None:
    watched = Watched()
    displacement = Displacement(watched.timelines, {"a": "Fix login"}.get)
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.asked("b", Action.PAUSE, at(3))
    with displacement.asking("abc") as another, displacement.asking("abc") as new:
        another.answered("another", at(4))
        new.answered("new", at(4))
    watched.read(5, "PAUSED", "PAUSED", "RUNNING")
    (news,) = displacement.read(at(5))
    assert (set(news.ids), news.words) == ({"a"}, "Paused, probably to make room for new: a (Fix login).")
    assert watched.told("a")[-1] == ("Paused", Cause.DISPLACED)
    assert "probably to make room for new" in watched.timelines.of("a")[-1].words
    assert watched.told("b")[-1] == ("Paused", Cause.YOU)


def test_what_stops_while_a_start_is_out_made_room_for_that_one_and_not_for_the_one_before() -> None:
    watched = Watched()
    displacement = Displacement(watched.timelines, lambda each: None)
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    with displacement.asking("abc") as first:
        first.answered("first", at(1))
    with displacement.asking("abc") as second:
        watched.read(5, "PAUSED", "RUNNING", "RUNNING")
        assert not list(displacement.read(at(5)))
        second.answered("second", at(9))
    (news,) = displacement.read(at(10))
    assert news.words == "Paused, probably to make room for second: a."
    assert not list(displacement.read(at(60)))
    assert displacement.kept() == KeptCap(cap=3)


def test_a_change_found_after_a_gap_has_no_known_cause_and_no_known_moment() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.observe((), at(3600), beginning=False)
    watched.read(3600, "PAUSED")
    watched.read(3640, "-", "PAUSED")
    assert watched.told("a")[-1] == watched.told("b")[-1] == ("Paused", Cause.UNKNOWN)
    assert "nobody watched" in watched.timelines.of("a")[-1].words
    assert watched.timelines.of("a")[0].lasted is None
    watched.read(3700, "-", "-", "PAUSED")
    assert watched.told("c")[-1] == ("Paused", Cause.SERVER)


def test_the_next_run_knows_what_happened_before_and_says_what_changed_meanwhile() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "PAUSED")
    watched.memories.asked("a", Action.PAUSE, at(1))
    watched.read(2, "PAUSED", "PAUSED")
    again = Watched(watched.kept())
    again.read(DAY, "RUNNING", "PAUSED")
    assert again.told("a") == [("Running", Cause.UNKNOWN), ("Paused", Cause.YOU), ("Running", Cause.UNKNOWN)]
    assert again.timelines.of("a")[1].lasted is None
    assert again.timelines.of("a")[0] == watched.timelines.of("a")[0]
    assert again.told("b") == [("Paused", Cause.UNKNOWN)]


def test_the_next_run_knows_what_has_run_although_it_reads_as_starting_and_since_when() -> None:
    watched = Watched()
    watched.read(0, "PAUSED", "STARTING")
    watched.read(60, "RUNNING", "STARTING")
    again = Watched(watched.kept())
    again.read(600, "STARTING", "STARTING")
    assert again.told("a") == [("Paused", Cause.UNKNOWN), ("Running", Cause.SERVER)]
    words = [again.memories.by_id[name].state(at(600)).words for name in ("a", "b")]
    assert words == ["Running", "Starting"]
    old = Conversation(id="c", sandbox_id="a", updated_at=at(-3600))
    row = sandbox_row(sandbox("STARTING", "a"), again.memories.by_id["a"], (old,))
    assert row.quiet(at(600)) == 540, "its conversation is older than its running"


def test_what_another_deck_noted_stays_and_what_was_not_seen_for_thirty_days_is_forgotten() -> None:
    watched, other = Watched(), Watched()
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.forget(["b"])
    other.read(0, "-", "-", "-", "PAUSED")
    again = Watched(watched.kept(beside=other.kept()))
    again.read(29 * DAY, "RUNNING")
    assert set(again.kept().sandboxes) == {"a", "b", "c", "d"}
    again.read(31 * DAY, "RUNNING")
    assert set(again.kept().sandboxes) == {"a"}


def test_what_another_deck_asked_for_was_you_as_well() -> None:
    watched, other = Watched(), Watched()
    for deck in (watched, other):
        deck.read(0, "RUNNING")
    other.memories.asked("a", Action.PAUSE, at(1))
    for deck in (watched, other):
        deck.read(3, "PAUSED")
    assert watched.told("a")[-1] == ("Paused", Cause.SERVER)
    kept = watched.kept(beside=other.kept())
    watched.timelines.recall(kept)
    assert watched.told("a") == other.told("a") == Watched(kept).told("a")
    assert watched.told("a")[-1] == ("Paused", Cause.YOU)


def test_thousands_of_sandboxes_are_bounded_and_those_that_changed_last_are_kept() -> None:
    one, other = SandboxMemories(), SandboxMemories()
    one.observe([sandbox("RUNNING", f"{number}") for number in range(2 * IDS)], at(0), beginning=False)
    one.observe([sandbox("PAUSED", "0"), sandbox("RUNNING", "new")], at(5), beginning=True)
    one.observe([sandbox("RUNNING", f"later {number}") for number in range(2 * IDS)], at(9), beginning=False)
    assert [event.what for event in one.timelines.of("0")] == ["Running", "Paused"]
    assert one.timelines.of("1") == ()
    other.observe([sandbox("RUNNING", "other")], at(0), beginning=False)
    mine, theirs = one.timelines.kept(), other.timelines.kept()
    assert mine is not None
    kept = mine.joined(theirs).sandboxes
    assert (len(kept), "new" in kept) == (IDS, True)


def test_the_oldest_running_ones_are_named_when_the_cap_is_reached() -> None:
    foreseen = partial(forecast, ("old", "b", "c", "d"), title_in={"old": "Fix login"}.get)
    one = "4 of about 4 run already: the server will likely pause the oldest one, old (Fix login)."
    assert foreseen(cap=4) == one
    assert foreseen(cap=4, count=2).endswith("the 2 oldest ones, old (Fix login), b.")
    assert foreseen(cap=4, count=9).endswith("the 4 oldest ones, old (Fix login), b, c and 1 more.")
    assert {foreseen(cap=cap) for cap in (5, 3, None)} == {""}, "below the cap, beyond it, and without one"


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
    with displacement.asking(ids) as start:
        start.answered("new", at(1))
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
