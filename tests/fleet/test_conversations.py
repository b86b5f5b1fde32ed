from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR, Category, conversation_row, conversation_state
from quarterdeck.fleet.conversations import with_last_status as held
from quarterdeck.fleet.filters import kept, parse
from quarterdeck.fleet.start_tasks import in_progress, start_row, start_state
from quarterdeck.fleet.writes import NAMED_BY_SERVER, AskedTitles

from .fakes import NOON, at


def conversation(sandbox: str | None, agent: str | None, conversation_id: str = "c") -> Conversation:
    return Conversation(id=conversation_id, sandbox_status=sandbox, execution_status=agent)


@pytest.mark.parametrize(
    ("sandbox", "agent", "word", "category"),
    [
        ("RUNNING", "running", "Working", Category.BUSY),
        ("RUNNING", "waiting_for_confirmation", "Needs you", Category.WAITING),
        ("RUNNING", "finished", "Finished", Category.DONE),
        ("RUNNING", "idle", "Idle", Category.RESTING),
        ("RUNNING", "paused", "Agent paused", Category.RESTING),
        ("RUNNING", "stuck", "Stuck", Category.TROUBLE),
        ("RUNNING", "error", "Error", Category.TROUBLE),
        ("RUNNING", "deleting", "Deleting", Category.BUSY),
        ("RUNNING", "dreaming", "dreaming", Category.RESTING),
        ("RUNNING", None, "No answer", Category.BUSY),
        ("STARTING", None, "Sandbox starting", Category.BUSY),
        ("PAUSED", None, "Sandbox paused", Category.RESTING),
        ("PAUSED", "running", "Sandbox paused", Category.RESTING),
        ("ERROR", None, "Sandbox error", Category.RESTING),
        ("MISSING", None, "Sandbox missing", Category.GONE),
        ("HIBERNATING", None, "HIBERNATING", Category.RESTING),
        (None, "finished", "Finished", Category.DONE),
        (None, None, "Unknown", Category.RESTING),
    ],
)
def test_the_word_for_two_statuses(sandbox: str | None, agent: str | None, word: str, category: Category) -> None:
    state = conversation_state(conversation(sandbox, agent))
    assert (state.word, state.category) == (word, category)


def test_what_an_agent_last_said_stands_while_its_sandbox_is_quiet() -> None:
    quiet = conversation("STARTING", None)
    finished = held(held(conversation("RUNNING", "finished"), quiet), quiet)
    state = conversation_state(finished)
    assert (state.word, "last said" in state.note) == ("Finished", True)
    assert held(held(finished, conversation("PAUSED", None)), quiet) == quiet


def task(status: str, detail: str | None = None, **more: Any) -> StartTask:
    request = NewConversation(title="Add tests", selected_repository="acme/api", selected_branch="main")
    return StartTask(id="t", status=status, detail=detail, created_at=NOON, request=request, **more)


def test_the_steps_of_a_start_are_counted_and_an_unknown_one_shown() -> None:
    steps = "WORKING WAITING_FOR_SANDBOX PREPARING_REPOSITORY RUNNING_SETUP_SCRIPT SETTING_UP_GIT_HOOKS"
    later = "SETTING_UP_SKILLS STARTING_CONVERSATION"
    words = [start_state(task(step), at(1)).word for step in f"{steps} {later}".split()]
    assert [word.split()[0] for word in words] == [f"{number}/7" for number in range(1, 8)]
    assert words[2] == "3/7 preparing repository"
    assert start_state(task("BREWING"), at(1)).word == "BREWING"
    assert in_progress([task("BREWING")], at(1)) == {"t"}


def test_a_failure_without_detail_is_explained() -> None:
    assert all("120 s" in start_state(task("ERROR", detail), at(1)).note for detail in (None, "", "  \n"))


def test_a_start_that_gives_no_news_is_slow_and_no_longer_watched_closely() -> None:
    waiting = task("WAITING_FOR_SANDBOX")
    assert in_progress([waiting, task("READY"), task("ERROR")], at(179)) == {"t"}
    assert "taken 4:00" in start_state(waiting, at(240)).note
    assert in_progress([waiting], at(240)) == frozenset()


def test_a_start_without_a_title_is_named_by_its_message() -> None:
    asked = (NewConversation(message="Port it\n\nto rust"), NewConversation(message="Port it", title="Port"), None)
    titles = [start_row(StartTask(id="t", status="WORKING", request=each)).title for each in asked]
    assert titles == ["\u201cPort it to rust\u201d", "Port", ""]


def test_starts_come_first_then_who_needs_you_then_who_is_in_trouble_then_the_newest() -> None:
    updates = {"finished": 10, "stuck": 2, "running": 20, "waiting_for_confirmation": 1, "error": 3}
    records = [replace(conversation("RUNNING", agent, agent), updated_at=at(age)) for agent, age in updates.items()]
    records.append(conversation("RUNNING", "idle", "idle"))
    starts = [replace(task("WORKING"), created_at=None), replace(task("ERROR"), id="failed", updated_at=at(2.5))]
    rows = sorted([*map(conversation_row, records), *map(start_row, starts)], key=lambda row: row.rank(at(0)))
    assert " ".join(row.id for row in rows) == "t waiting_for_confirmation error failed stuck running finished idle"


def test_a_filter_reads_both_words_for_a_state() -> None:
    for sandbox, agent, typed in (
        ("RUNNING", "idle", "state:ready state:idle"),
        ("RUNNING", "waiting_for_confirmation", 'state:needs-you state:"needs you"'),
        ("PAUSED", None, 'state:asleep state:"sandbox paused"'),
        ("STARTING", None, 'state:waking state:"sandbox resuming"'),
        ("MISSING", None, 'state:archived state:"sandbox missing" orphan no-sandbox'),
    ):
        rows = [conversation_row(replace(conversation(sandbox, agent), sandbox_id="s"))]
        assert kept(rows, parse(typed, CONVERSATION_GRAMMAR, finished=True), NOON) == rows, typed


def test_a_title_that_was_given_and_changed_long_after_is_somebodys_own() -> None:
    now = NOON
    titles = AskedTitles(lambda: now)
    titles.ask("a", " Mine ")
    assert titles.not_given([Conversation(id="a", title="Mine")]) == []
    assert titles.not_given([Conversation(id="a", title="Made up")]) == [("a", "Mine")]
    now += NAMED_BY_SERVER + timedelta(seconds=1)
    assert titles.not_given([Conversation(id="a", title="Somebody's")]) == []
