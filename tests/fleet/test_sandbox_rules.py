import pytest

from quarterdeck.fleet.sandbox_state import (
    SandboxState,
    StateWord,
    why_not_delete,
    why_not_open,
    why_not_pause,
    why_not_resume,
)

from .fakes import NOON

STATES = {word: SandboxState(word, NOON, exact=True, words=word) for word in [*StateWord, "HIBERNATING"]}


def allowed(rule: object) -> set[str]:
    assert callable(rule)
    return {word for word, state in STATES.items() if rule(state) is None}


def test_what_is_allowed_in_which_state() -> None:
    assert allowed(why_not_pause) == {"Running", "Starting"}
    assert allowed(why_not_resume) == {"Paused"}
    assert allowed(why_not_open) == {"Running"}


@pytest.mark.parametrize("rule", [why_not_pause, why_not_resume, why_not_open])
@pytest.mark.parametrize("word", STATES)
def test_a_reason_is_one_whole_sentence_or_two(rule: object, word: str) -> None:
    assert callable(rule)
    reason = rule(STATES[word])
    assert reason is None or (reason.endswith(".") and "\n" not in reason and len(reason) < 100)


def test_a_reason_says_what_would_help() -> None:
    assert "r resumes" in str(why_not_pause(STATES[StateWord.PAUSED]))
    assert "n starts a new one" in str(why_not_resume(STATES[StateWord.ERROR]))
    assert "HIBERNATING" in str(why_not_pause(STATES["HIBERNATING"]))


def test_only_the_server_can_stand_against_deleting() -> None:
    assert why_not_delete(offered=True) is None
    assert "cannot delete" in str(why_not_delete(offered=False))
