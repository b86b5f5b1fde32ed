from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action

from .fakes import at, sandbox


def words(memories: SandboxMemories, second: float, sandbox_id: str = "abc") -> str:
    return memories.by_id[sandbox_id].state(at(second)).words


def test_only_news_is_told() -> None:
    memories = SandboxMemories()
    both = [sandbox("RUNNING", "a"), sandbox("PAUSED", "b")]
    assert memories.observe(both, at(0), beginning=False) == {"a", "b"}
    assert memories.observe(both, at(5), beginning=True) == frozenset()
    assert memories.observe([sandbox("PAUSED", "a")], at(9), beginning=True) == {"a"}


def test_a_start_whose_answer_reads_running_has_run() -> None:
    memories = SandboxMemories()
    memories.started(sandbox("RUNNING"), at(0))
    memories.observe([sandbox("STARTING")], at(2), beginning=True)
    assert words(memories, 2) == "Running"
    assert memories.transitional(at(2)) == frozenset()


def test_a_start_whose_answer_reads_starting_is_transitional_until_it_runs() -> None:
    memories = SandboxMemories()
    memories.started(sandbox("STARTING"), at(0))
    assert memories.transitional(at(100)) == {"abc"}
    memories.observe([sandbox("RUNNING")], at(101), beginning=True)
    assert memories.transitional(at(101)) == frozenset()


def test_the_late_answer_to_a_start_does_not_undo_a_running_reading() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING")], at(0), beginning=True)
    memories.started(sandbox("STARTING"), at(1))
    assert words(memories, 1) == "Running"


def test_what_was_asked_is_pending_for_its_id_alone() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", "a"), sandbox("RUNNING", "b")], at(0), beginning=False)
    memories.asked("a", Action.PAUSE, at(1))
    memories.asked("gone", Action.PAUSE, at(1))
    assert memories.transitional(at(2)) == {"a"}
    assert (words(memories, 2, "a"), words(memories, 2, "b")) == ("Pausing", "Running")
    memories.refused("a")
    assert words(memories, 2, "a") == "Running"


def test_a_knock_is_handed_out_once_a_minute_and_only_for_the_ids_asked_about() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", served=True)], at(0), beginning=False)
    for second in range(1, 4):
        memories.observe([sandbox("STARTING")], at(second), beginning=False)
    assert memories.take_checks(["other"], at(4)) == ()
    assert memories.take_checks(["abc"], at(4)) == ("abc",)
    assert memories.take_checks(["abc"], at(5)) == ()
    assert memories.checked("abc", at(6), answered=False)
    assert words(memories, 6) == "Running, no answer"
    assert not memories.checked("abc", at(7), answered=False)
    assert memories.take_checks(["abc"], at(64)) == ("abc",)
    assert memories.checked("abc", at(65), answered=True)
    assert words(memories, 65) == "Running"


def test_those_knocked_at_before_are_handed_out_one_at_a_time_the_longest_waiting_first() -> None:
    memories = SandboxMemories()
    ids = ["a", "b", "c"]
    memories.observe([sandbox("RUNNING", sandbox_id, served=True) for sandbox_id in ids], at(0), beginning=False)
    for second in range(1, 4):
        memories.observe([sandbox("STARTING", sandbox_id) for sandbox_id in ids], at(second), beginning=False)
    assert memories.take_checks(["b"], at(4)) == ("b",)
    assert memories.take_checks(ids, at(5)) == ("a", "c")
    assert [memories.take_checks(ids, at(second)) for second in (66, 67, 68, 69)] == [("b",), ("a",), ("c",), ()]


def test_readings_of_the_same_record_count_until_nothing_more_can_come_of_them() -> None:
    memories = SandboxMemories()
    up, idle = sandbox("RUNNING", served=True), sandbox("STARTING")
    memories.observe([up], at(0), beginning=False)
    assert memories.observe([idle], at(1), beginning=False, other={"abc"})
    assert memories.observe([idle], at(2), beginning=False, other=frozenset())
    assert memories.take_checks(["abc"], at(2)) == ()
    assert memories.observe([idle], at(3), beginning=False, other=frozenset())
    assert memories.take_checks(["abc"], at(3)) == ("abc",)
    assert not memories.observe([idle], at(4), beginning=False, other=frozenset())


def test_the_longer_one_comes_up_the_rarer_it_is_knocked_at() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("STARTING", served=True)], at(0), beginning=True)
    knocks = [second for second in range(1200) if memories.take_checks(["abc"], at(second))]
    assert knocks[:6] == [0, 5, 10, 15, 20, 27]
    assert knocks[-1] - knocks[-2] == 60


def test_what_is_forgotten_starts_afresh() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING")], at(0), beginning=False)
    memories.forget(["abc", "never seen"])
    memories.observe([sandbox("STARTING")], at(1), beginning=False)
    assert words(memories, 1) == "Starting"
