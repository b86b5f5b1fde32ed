import pytest

from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action

from .fakes import at, sandbox


def shown(*readings: tuple[float, str], memories: SandboxMemories | None = None) -> list[str]:
    """What the row says after each reading."""
    memories = memories or SandboxMemories()
    words = []
    for second, status in readings:
        memories.observe([sandbox(status)], at(second), beginning=False)
        words.append(memories.by_id["abc"].state(at(second)).words)
    return words


@pytest.mark.parametrize(
    "pair", [("RUNNING", "PAUSED"), ("PAUSED", "RUNNING"), ("RUNNING", "ERROR"), ("PAUSED", "MISSING")]
)
def test_a_status_that_flips_at_every_reading_is_shown_once_and_does_not_flash(pair: tuple[str, str]) -> None:
    readings = [(2.0 * number, pair[number % 2]) for number in range(60)]
    words = shown(*readings)
    assert words == [pair[0].title()] + [pair[1].title()] * 59


def test_a_sandbox_that_flips_between_starting_and_running_is_running() -> None:
    assert set(shown(*((2.0 * n, ("RUNNING", "STARTING")[n % 2]) for n in range(20)))) == {"Running"}


def test_the_first_change_is_believed_at_once_and_a_way_back_at_the_second_reading() -> None:
    story = [(0.0, "RUNNING"), (5.0, "PAUSED"), (10.0, "RUNNING"), (15.0, "RUNNING"), (20.0, "RUNNING")]
    assert shown(*story) == ["Running", "Paused", "Paused", "Running", "Running"]


def test_a_way_back_long_after_is_believed_at_once() -> None:
    assert shown((0, "RUNNING"), (5, "PAUSED"), (40, "RUNNING")) == ["Running", "Paused", "Running"]


def test_another_state_than_the_one_it_left_is_believed_at_once() -> None:
    assert shown((0, "RUNNING"), (5, "PAUSED"), (7, "ERROR")) == ["Running", "Paused", "Error"]


def test_what_was_asked_for_here_is_never_doubted() -> None:
    memories = SandboxMemories()
    shown((0, "RUNNING"), (5, "PAUSED"), memories=memories)
    memories.asked("abc", Action.RESUME, at(6))
    assert shown((7, "RUNNING"), (9, "PAUSED"), memories=memories) == ["Running", "Paused"]


def test_a_sandbox_that_was_not_found_and_is_listed_all_the_same_comes_back_at_the_second_reading() -> None:
    memories = SandboxMemories()
    shown((0, "RUNNING"), memories=memories)
    memories.missing("abc", at(1))
    assert shown((2, "RUNNING"), (4, "RUNNING"), memories=memories) == ["Missing", "Running"]
    memories.missing("abc", at(40))
    assert shown((42, "STARTING"), (44, "STARTING"), memories=memories) == ["Missing", "Running"]


def test_a_doubted_reading_is_news_to_nobody_who_looks_at_the_row() -> None:
    memories = SandboxMemories()
    shown((0, "RUNNING"), (5, "PAUSED"), memories=memories)
    before = memories.by_id["abc"].settled
    shown((7, "RUNNING"), memories=memories)
    assert memories.by_id["abc"].settled is before
