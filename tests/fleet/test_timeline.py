import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.timeline import EVENTS, IDS, Cause, Event, KeptTimeline, KeptTimelines, Timelines

from .fakes import at, sandbox

DAY = 86_400


class Watched:
    """The memories and the timelines of one server, read by hand."""

    def __init__(self, kept: KeptTimelines | None = None) -> None:
        self.timelines = Timelines()
        self.timelines.recall(kept)
        self.memories = SandboxMemories(self.timelines)

    def read(self, second: float, *statuses: str, beginning: bool = False) -> None:
        """Read sandboxes a, b, c ... in these statuses; "-" stands for one that is not read."""
        records = [sandbox(status, name) for name, status in zip("abcdef", statuses, strict=False) if status != "-"]
        self.memories.observe(records, at(second), beginning=beginning)

    def told(self, name: str = "a") -> list[tuple[str, Cause]]:
        return [(event.what, event.cause) for event in self.timelines.of(name)]

    def kept(self, beside: KeptTimelines | None = None) -> KeptTimelines:
        """What the next run finds, `beside` what was kept already."""
        kept = self.timelines.merge()(beside)
        assert kept is not None
        return KeptTimelines.model_validate_json(kept.model_dump_json())


def test_what_was_asked_for_here_was_you_and_the_rest_the_server() -> None:
    watched = Watched()
    watched.read(0, "RUNNING")
    watched.memories.asked("a", Action.PAUSE, at(10))
    watched.memories.answered("a")
    watched.read(12, "PAUSED")
    watched.read(60, "RUNNING")
    assert watched.told() == [("Running", Cause.UNKNOWN), ("Paused", Cause.YOU), ("Running", Cause.SERVER)]


def test_what_a_knock_finds_running_is_so_in_its_timeline() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", "a", served=True)], at(0), beginning=False)
    memories.observe([sandbox("PAUSED", "a")], at(1), beginning=False)
    memories.asked("a", Action.RESUME, at(2))
    memories.observe([sandbox("STARTING", "a")], at(3), beginning=False)
    memories.checked("a", at(4), answered=True)
    assert [event.what for event in memories.timelines.of("a")] == ["Running", "Paused", "Starting", "Running"]
    assert memories.timelines.of("a")[-1].cause is Cause.YOU


def test_a_start_that_failed_before_it_was_answered_was_asked_for_and_failed_by_itself() -> None:
    watched = Watched()
    watched.read(0, "-", "RUNNING")
    watched.read(2, "STARTING", "RUNNING", beginning=True)
    for second in (4, 6, 8):
        watched.read(second, "ERROR", "RUNNING")
    watched.memories.started(sandbox("ERROR", "a"), at(9))
    watched.read(14, "RUNNING", "RUNNING")
    assert watched.told() == [("Starting", Cause.YOU), ("Error", Cause.SERVER), ("Running", Cause.YOU)]
    assert watched.timelines.of("a")[1].words == "what became of the start you asked for"


def test_what_appears_while_a_start_of_ours_is_not_answered_may_be_it_and_never_reads_that_nobody_asked() -> None:
    watched = Watched()
    watched.read(0, "-", "RUNNING")
    watched.timelines.start_asked()
    watched.read(2, "STARTING", "RUNNING", "STARTING", beginning=True)
    watched.read(4, "RUNNING", "RUNNING", "RUNNING")
    assert watched.told("a") == watched.told("c") == [("Starting", Cause.UNKNOWN), ("Running", Cause.UNKNOWN)]
    assert not any("nobody" in event.words for event in watched.timelines.of("a"))
    assert watched.timelines.perhaps_ours("a")
    watched.memories.started(sandbox("RUNNING", "a"), at(5))
    watched.timelines.start_ended(at(5))
    assert watched.told("a") == [("Starting", Cause.YOU), ("Running", Cause.YOU)]
    assert watched.timelines.of("a")[0].lasted == 2.0
    assert watched.told("c") == [("Starting", Cause.SERVER), ("Running", Cause.SERVER)]
    assert not watched.timelines.perhaps_ours("a")
    assert not watched.timelines.perhaps_ours("c")


def test_what_appears_after_a_start_whose_answer_was_lost_may_be_it() -> None:
    watched = Watched()
    watched.read(0, "-", "RUNNING")
    watched.timelines.start_asked()
    watched.timelines.start_ended(at(1), lost=True)
    watched.read(2, "STARTING", "RUNNING", beginning=True)
    assert watched.told("a") == [("Starting", Cause.UNKNOWN)]
    watched.read(90, "RUNNING", "RUNNING", "STARTING", beginning=True)
    assert watched.told("c") == [("Starting", Cause.SERVER)]


def test_a_resume_that_fails_was_asked_for_here_and_did_not_fail_by_your_will() -> None:
    watched = Watched()
    watched.read(0, "PAUSED")
    watched.memories.asked("a", Action.RESUME, at(10))
    watched.read(12, "STARTING")
    watched.read(15, "MISSING")
    last = watched.timelines.of("a")[-1]
    assert (last.what, last.cause) == ("Missing", Cause.SERVER)
    assert "resume" in last.words


def test_a_start_asked_for_here_was_you_and_one_that_just_appeared_was_not() -> None:
    watched = Watched()
    watched.memories.started(sandbox("RUNNING", "a"), at(0))
    watched.read(1, "RUNNING", "STARTING", beginning=True)
    assert watched.told("a") == [("Running", Cause.YOU)]
    assert watched.told("b") == [("Starting", Cause.SERVER)]


def test_a_refused_pause_explains_nothing_and_nor_does_one_of_long_ago() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "RUNNING")
    watched.memories.asked("a", Action.PAUSE, at(1))
    watched.memories.refused("a")
    watched.memories.asked("b", Action.PAUSE, at(1))
    for second in range(2, 400, 60):
        watched.read(second, "RUNNING", "RUNNING")
    watched.read(410, "PAUSED", "PAUSED")
    assert watched.told("a")[-1] == ("Paused", Cause.SERVER)
    assert watched.told("b")[-1] == ("Paused", Cause.SERVER)


@pytest.mark.parametrize("told_first", [True, False])
def test_a_pause_that_made_room_for_a_start_of_ours_is_told_apart(told_first: bool) -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "RUNNING")
    if told_first:
        watched.timelines.displaced(["a"], "new", at(4))
    watched.memories.asked("b", Action.PAUSE, at(3))
    watched.read(5, "PAUSED", "PAUSED")
    if not told_first:
        watched.timelines.displaced(["a", "b"], "new", at(6))
    assert watched.told("a")[-1] == ("Paused", Cause.DISPLACED)
    assert "new" in watched.timelines.of("a")[-1].words
    assert watched.told("b")[-1] == ("Paused", Cause.YOU)


def test_a_state_lasts_until_the_next_one_was_seen() -> None:
    watched = Watched()
    watched.read(0, "RUNNING")
    watched.read(90, "PAUSED")
    watched.read(100, "PAUSED")
    assert [event.lasted for event in watched.timelines.of("a")] == [90.0, None]
    assert watched.timelines.of("a")[-1].seen_at == at(90)


def test_a_change_found_after_a_gap_has_no_known_cause_and_no_known_moment() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.observe((), at(3600), beginning=False)
    watched.read(3600, "PAUSED")
    watched.read(3640, "-", "PAUSED")
    assert watched.told("a")[-1] == ("Paused", Cause.UNKNOWN)
    assert watched.told("b")[-1] == ("Paused", Cause.UNKNOWN)
    assert "1h00m" in watched.timelines.of("a")[-1].words
    assert watched.timelines.of("a")[0].lasted is None
    watched.read(3700, "-", "-", "PAUSED")
    assert watched.told("c")[-1] == ("Paused", Cause.SERVER)


def test_readings_that_change_nothing_and_flaps_are_no_events() -> None:
    watched = Watched()
    for second, status in enumerate(["RUNNING", "RUNNING", "STARTING", "STARTING", "RUNNING", "STARTING"]):
        watched.read(second, status)
    assert watched.told() == [("Running", Cause.UNKNOWN)]


def test_a_sandbox_the_server_does_not_find_is_missing_from_then_on() -> None:
    watched = Watched()
    watched.read(0, "RUNNING")
    watched.memories.asked("a", Action.PAUSE, at(1))
    watched.memories.missing("a", at(2))
    assert watched.memories.by_id["a"].state(at(2)).word == "Missing"
    assert watched.told()[-1] == ("Missing", Cause.SERVER)


# From run to run


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


def test_what_another_deck_noted_stays() -> None:
    one, other = Watched(), Watched()
    one.read(0, "RUNNING", "-")
    other.read(0, "-", "PAUSED")
    assert set(one.kept(beside=other.kept()).sandboxes) == {"a", "b"}


def test_a_sandbox_that_was_not_seen_for_thirty_days_is_forgotten_and_a_steady_one_is_not() -> None:
    watched = Watched()
    watched.read(0, "RUNNING", "RUNNING", "RUNNING")
    watched.memories.forget(["b"])
    again = Watched(watched.kept())
    again.read(29 * DAY, "RUNNING")
    assert set(again.kept().sandboxes) == {"a", "b", "c"}
    again.read(31 * DAY, "RUNNING")
    assert set(again.kept().sandboxes) == {"a"}


def test_thousands_of_sandboxes_are_bounded_and_those_that_change_are_the_ones_that_are_kept() -> None:
    timelines = Timelines()
    memories = SandboxMemories(timelines)
    many = [sandbox("RUNNING", f"box-{number}") for number in range(IDS + 500)]
    memories.observe(many, at(0), beginning=False)
    last = f"box-{IDS + 400}"
    assert timelines.of(last) == ()
    memories.observe([sandbox("PAUSED", last)], at(5), beginning=True)
    assert [event.what for event in timelines.of(last)] == ["Paused"]
    kept = timelines.merge()(None)
    assert kept is not None
    assert len(kept.sandboxes) == IDS


EVENT = st.builds(
    Event,
    st.sampled_from(["Running", "Paused", "x\u202e"]),
    st.integers(0, 10**6).map(at),
    st.none() | st.integers(0, 10**6).map(float),
    st.sampled_from(Cause),
    st.text(max_size=9),
)


@given(st.lists(EVENT, min_size=1, max_size=EVENTS))
def test_a_state_file_holds_all_that_was_known(events: list[Event]) -> None:
    kept = KeptTimelines(sandboxes={"a": KeptTimeline(at(0), tuple(events))})
    watched = Watched(KeptTimelines.model_validate_json(kept.model_dump_json()))
    assert watched.timelines.of("a") == tuple(events)
    assert watched.kept() == kept
