"""The page with unsaved edits of several runs."""

from datetime import UTC, datetime, timedelta
from typing import Any

from quarterdeck.settings.kept.unsaved_page import MOST, KeptDraft, left_behind, offered, with_entry, without_entry

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def kept(run: str, minutes: int = 0) -> KeptDraft:
    return KeptDraft(run, NOON + timedelta(minutes=minutes), 2, {"fields": {}})


def alive(*processes: str) -> Any:
    return lambda process: process in processes


def test_a_living_deck_keeps_its_edits_for_itself_and_those_of_an_ended_one_are_offered_newest_first() -> None:
    page = with_entry(None, "a", kept("a"), "one")
    page = with_entry(page, "b", kept("b", 5), "two")
    page = with_entry(page, "c", kept("c", 3), "three")
    assert [one.run for one in offered(page, alive("two"))] == ["c", "a"]
    assert [one.run for one in offered(left_behind(page, "b"), alive("two"))] == ["b", "c", "a"]


def test_a_run_has_one_entry_and_the_last_one_takes_the_page_away() -> None:
    page = with_entry(None, "a", kept("a"), "one")
    page = with_entry(page, "a", kept("a", 1), "one")
    assert offered(page, alive()) == (kept("a", 1),)
    assert without_entry(page, "other") == page
    assert without_entry(page, "a") is None


def test_what_makes_no_sense_is_not_offered_and_does_not_stop_the_rest() -> None:
    strange: Any = {"x": 1, "y": {"at": "yesterday"}, "z": {"at": "2026-03-01T12:00:00", "edits": "many", "says": {}}}
    page = with_entry(strange, "a", kept("a"), "")
    assert [one.run for one in offered(page, alive())] == ["a"]
    nonsenses: list[Any] = [None, [], "page", 7]
    for nonsense in nonsenses:
        assert offered(nonsense, alive()) == ()
    assert left_behind(None, "a") is None


def test_only_the_newest_are_kept() -> None:
    page = None
    for minute in range(MOST + 5):
        page = with_entry(page, f"run-{minute}", kept(f"run-{minute}", minute), "")
    found = offered(page, alive())
    assert len(found) == MOST
    assert found[0].run == f"run-{MOST + 4}"
