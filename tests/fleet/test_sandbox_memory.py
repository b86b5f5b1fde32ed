"""One sandbox through its readings; seconds are counted from noon."""

import pytest

from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action, SandboxMemory, SandboxState, StateWord

from .fakes import at, sandbox


class Story:
    """Readings of one sandbox, one a call."""

    def __init__(self, *statuses: str, beginning: bool = False) -> None:
        self.memories = SandboxMemories()
        self.second = 0.0
        self.beginning = beginning
        self.read(*statuses)

    def read(self, *statuses: str, after: float = 1.0) -> "Story":
        for status in statuses:
            self.second += after
            record = sandbox(status, served=status == "RUNNING")
            self.memories.observe([record], at(self.second), beginning=self.beginning)
        return self

    def asks(self, action: Action) -> "Story":
        self.memories.asked("abc", action, at(self.second))
        return self

    def is_answered(self) -> "Story":
        self.memories.answered("abc")
        return self

    def checks(self, *, answered: bool) -> "Story":
        self.memories.checked("abc", at(self.second), answered=answered)
        return self

    @property
    def known(self) -> SandboxMemory:
        return self.memories.by_id["abc"]

    def state(self, later: float = 0.0) -> SandboxState:
        return self.known.state(at(self.second + later))

    def transitional(self, later: float = 0.0) -> bool:
        return self.known.in_transition(at(self.second + later))


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("STARTING", "Starting"),
        ("RUNNING", "Running"),
        ("PAUSED", "Paused"),
        ("ERROR", "Error"),
        ("MISSING", "Missing"),
        ("HIBERNATING", "HIBERNATING"),
    ],
)
def test_a_first_reading_is_shown_by_its_word(status: str, word: str) -> None:
    assert Story(status).state().words == word


def test_an_unknown_word_is_none_of_ours() -> None:
    assert Story("HIBERNATING").state().known is None
    assert Story("RUNNING").state().known is StateWord.RUNNING


def test_one_that_has_run_stays_running_while_it_reads_as_starting() -> None:
    state = Story("RUNNING", "STARTING", "STARTING", "RUNNING", "STARTING").state()
    assert state.words == "Running"
    assert "idle" in state.note


@pytest.mark.parametrize("status", ["PAUSED", "ERROR", "MISSING"])
def test_one_that_stopped_is_starting_again_when_it_reads_so(status: str) -> None:
    assert Story("RUNNING", status, "STARTING").state().word == "Starting"


def test_an_unknown_word_between_does_not_make_it_forget_that_it_ran() -> None:
    assert Story("RUNNING", "HIBERNATING", "STARTING").state().word == "Running"


def test_addresses_and_key_are_remembered_while_it_is_quiet() -> None:
    quiet = Story("RUNNING", "STARTING").known
    assert quiet.agent_server is not None
    assert quiet.key is not None


def test_a_pause_drops_the_key_and_keeps_the_address_until_it_is_gone() -> None:
    paused = Story("RUNNING", "STARTING", "PAUSED")
    assert paused.known.agent_server is not None
    assert paused.known.key is None
    assert paused.read("MISSING").known.agent_server is None


def test_one_that_comes_up_again_where_it_was_runs_once_a_knock_is_answered() -> None:
    story = Story("RUNNING", "PAUSED").asks(Action.RESUME).read("STARTING")
    assert story.known.wants_check(at(story.second))
    assert story.state().words == "Starting"
    assert story.checks(answered=False).state().words == "Starting"
    assert story.checks(answered=True).state().words == "Running"
    assert story.read("STARTING").state().words == "Running"
    assert not story.transitional()


def test_an_error_while_it_boots_is_believed_at_the_third_reading() -> None:
    story = Story("ERROR", beginning=True)
    assert story.state().words == "Starting"
    assert story.read("ERROR").state().words == "Starting"
    assert story.read("ERROR").state().words == "Error"
    assert Story("ERROR", "STARTING", "ERROR", beginning=True).state().words == "Starting"
    assert Story("ERROR").state().words == "Error"
    assert Story("RUNNING", "ERROR").state().words == "Error"


def test_a_start_that_was_answered_is_not_called_slow() -> None:
    story = Story("STARTING", beginning=True).is_answered()
    assert story.state(later=500.0).words == "Starting"
    assert "idle sandboxes" in story.state(later=500.0).note


def test_a_state_lasts_through_flips_and_says_when_its_beginning_was_not_seen() -> None:
    story = Story("RUNNING").read("STARTING", "RUNNING", after=30.0)
    assert story.state().lasted(at(61.0)) == "≥1m"
    story.read("PAUSED", after=9.0)
    assert story.state().lasted(at(80.0)) == "<1m"
    assert story.read("STARTING").state().lasted(at(81.0)) == "10s"


def test_the_beginning_of_running_is_unknown_for_one_found_starting() -> None:
    assert Story("STARTING", "RUNNING").state().exact is False
    assert Story("STARTING", "RUNNING", beginning=True).state().exact is True


def test_a_reading_that_says_nothing_new_gives_the_same_memory() -> None:
    for story in (Story("RUNNING"), Story("PAUSED"), Story("RUNNING", *["STARTING"] * 3)):
        before = story.known
        status = "STARTING" if before.quiet else before.status
        story.read(status)
        assert story.known is before


def test_one_found_starting_is_neither_transitional_nor_slow() -> None:
    story = Story("STARTING")
    assert not story.transitional()
    assert story.state(later=3600.0).words == "Starting"


def test_one_that_began_here_is_transitional_for_two_minutes_and_then_slow() -> None:
    story = Story("STARTING", beginning=True)
    assert story.transitional(later=119.0)
    assert story.state(later=119.0).words == "Starting"
    assert not story.transitional(later=121.0)
    assert story.state(later=130.0).words == "Starting slow 2:10"
    assert story.state(later=130.0).slow


def test_a_start_ends_with_the_first_running_reading() -> None:
    story = Story("STARTING", "RUNNING", beginning=True)
    assert not story.transitional()
    assert story.state(later=600.0).words == "Running"


def test_one_that_is_resumed_elsewhere_is_seen_to_begin() -> None:
    story = Story("PAUSED", "STARTING")
    assert story.transitional()
    assert story.state().word == "Starting"


def test_a_pause_is_pending_until_a_reading_says_paused() -> None:
    story = Story("RUNNING").asks(Action.PAUSE).read("RUNNING", "STARTING")
    assert story.state().words == "Pausing"
    assert story.transitional()
    story.read("PAUSED")
    assert story.state().words == "Paused"
    assert not story.transitional()


@pytest.mark.parametrize("status", ["ERROR", "MISSING"])
def test_a_pause_of_one_that_fails_meanwhile_is_over(status: str) -> None:
    assert Story("RUNNING").asks(Action.PAUSE).read(status).state().word == StateWord[status]


def test_a_pause_that_does_not_happen_is_called_so_after_a_minute() -> None:
    story = Story("RUNNING").asks(Action.PAUSE)
    assert story.state(later=59.0).words == "Pausing"
    late = story.state(later=61.0)
    assert (late.words, late.word) == ("still Running", "Running")
    assert "Pause was asked for 1m ago" in late.note
    assert story.transitional(later=120.0)
    assert not story.transitional(later=121.0)


@pytest.mark.parametrize(
    ("status", "word"),
    [("STARTING", "Starting"), ("RUNNING", "Running"), ("ERROR", "Starting"), ("MISSING", "Missing")],
)
def test_any_reading_but_paused_confirms_a_resume(status: str, word: str) -> None:
    story = Story("PAUSED").asks(Action.RESUME).read("PAUSED")
    assert story.state().words == "Resuming"
    assert story.read(status).state().words == word


def test_a_resume_that_only_starts_is_followed_and_its_time_counts_from_the_asking() -> None:
    story = Story("PAUSED").asks(Action.RESUME).read("STARTING", after=100.0)
    assert story.transitional()
    assert story.state(later=30.0).words == "Starting slow 2:10"


def test_a_resume_that_does_not_happen_is_called_so_after_two_minutes() -> None:
    story = Story("PAUSED").asks(Action.RESUME)
    assert story.state(later=119.0).words == "Resuming"
    assert story.state(later=121.0).words == "still Paused"


def test_an_action_that_was_refused_leaves_what_was_read() -> None:
    story = Story("RUNNING").asks(Action.PAUSE)
    story.memories.refused("abc")
    assert story.state().words == "Running"
    assert not story.transitional()


def test_a_knock_is_wanted_after_three_quiet_readings_and_again_after_a_minute() -> None:
    story = Story("RUNNING", "STARTING", "STARTING")
    assert not story.known.wants_check(at(3.0))
    story.read("STARTING")
    assert story.known.wants_check(at(4.0))


def test_no_knock_where_there_is_no_address_or_no_running_before() -> None:
    assert not Story("STARTING", "STARTING", "STARTING", "STARTING").known.wants_check(at(9.0))
    bare = SandboxMemories()
    for second, status in enumerate(["RUNNING", *["STARTING"] * 4]):
        bare.observe([sandbox(status)], at(second), beginning=False)
    assert not bare.by_id["abc"].wants_check(at(9.0))


def test_a_knock_nobody_answers_is_shown_until_a_running_reading_or_an_answer() -> None:
    story = Story("RUNNING", "STARTING", "STARTING", "STARTING").checks(answered=False).read("STARTING")
    assert story.state().words == "Running, no answer"
    assert story.state().silent
    assert Story("RUNNING", *["STARTING"] * 3).checks(answered=True).state().words == "Running"
    assert story.read("RUNNING", "STARTING").state().words == "Running"


def test_an_answer_to_a_knock_that_comes_after_a_reading_settled_it_is_dropped() -> None:
    story = Story("RUNNING", *["STARTING"] * 3, "PAUSED").checks(answered=False)
    assert story.state().words == "Paused"


def test_one_found_starting_may_have_been_so_for_longer() -> None:
    found, begun = Story("STARTING"), Story("STARTING", beginning=True)
    assert [each.state().lasted(at(each.second + 9.0)) for each in (found, begun)] == ["≥9s", "9s"]
    assert [each.state().lasted(at(each.second)) for each in (found, begun)] == ["≥0s", "now"]
    assert Story("RUNNING").state().lasted(at(9.0)) == "≥0m"
