from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli import conversations, sandboxes
from quarterdeck.client.models.conversation import Conversation, Metrics, NewConversation, StartTask
from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR, Category, conversation_row, conversation_state
from quarterdeck.fleet.conversations import with_last_status as held
from quarterdeck.fleet.filters import Filter, Grammar, kept, parse
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, SandboxRow, sandbox_row
from quarterdeck.fleet.start_tasks import in_progress, start_row, start_state
from quarterdeck.fleet.writes import NAMED_BY_SERVER, AskedTitles

from .fakes import NOON, Story, at, row, sandbox


def talk(
    agent: str | None = "idle", updated: datetime | None = NOON, cost: float | None = None, name: str = "c", **more: Any
) -> Conversation:
    metrics = Metrics(accumulated_cost=cost)
    return Conversation(name, "Fix login", execution_status=agent, updated_at=updated, metrics=metrics, **more)


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
    state = conversation_state(talk(agent, sandbox_status=sandbox))
    assert (state.word, state.category) == (word, category)


def test_what_an_agent_last_said_stands_while_its_sandbox_is_quiet() -> None:
    quiet = talk(None, sandbox_status="STARTING")
    finished = held(held(talk("finished", sandbox_status="RUNNING"), quiet), quiet)
    state = conversation_state(finished)
    assert (state.word, "last said" in state.note) == ("Finished", True)
    assert held(held(finished, talk(None, sandbox_status="PAUSED")), quiet) == quiet


def task(status: str, detail: str | None = None, **more: Any) -> StartTask:
    request = NewConversation(title="Add tests", selected_repository="acme/api", selected_branch="main")
    return StartTask(id="t", status=status, detail=detail, created_at=NOON, request=request, **more)


def test_the_steps_of_a_start_are_counted_and_an_unknown_one_shown() -> None:
    steps = "WORKING WAITING_FOR_SANDBOX PREPARING_REPOSITORY RUNNING_SETUP_SCRIPT SETTING_UP_GIT_HOOKS"
    later = "SETTING_UP_SKILLS STARTING_CONVERSATION"
    words = [start_state(task(step), at(1)).word for step in f"{steps} {later}".split()]
    assert [word.split()[0] for word in words] == [f"{number}/7" for number in range(1, 8)]
    assert (words[2], start_state(task("BREWING"), at(1)).word) == ("3/7 repository", "BREWING")
    assert in_progress([task("BREWING")], at(1)) == {"t"}
    said = {start_state(task("ERROR", detail), at(1)).note for detail in (None, "", "  \n")}
    assert said == {"The server does not say why."}


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
    records = [talk(agent, at(age), name=agent, sandbox_status="RUNNING") for agent, age in updates.items()]
    records.append(talk("idle", None, name="idle", sandbox_status="RUNNING"))
    starts = [replace(task("WORKING"), created_at=None), replace(task("ERROR"), id="failed", updated_at=at(2.5))]
    rows = sorted([*map(conversation_row, records), *map(start_row, starts)], key=lambda row: row.rank(at(0)))
    assert " ".join(row.id for row in rows) == "t waiting_for_confirmation error failed stuck running finished idle"


def let_through(typed: str, rows: Iterable[Any], grammar: Grammar[Any]) -> str:
    return "".join(each.id for each in kept(rows, parse(typed, grammar, finished=True), NOON))


def test_a_filter_reads_both_words_for_a_state() -> None:
    for status, agent, typed in (
        ("RUNNING", "idle", "state:ready state:idle"),
        ("RUNNING", "waiting_for_confirmation", 'state:needs-you state:"needs you"'),
        ("PAUSED", None, 'state:asleep state:"sandbox paused"'),
        ("STARTING", None, 'state:waking state:"sandbox resuming"'),
        ("MISSING", None, 'state:archived state:"sandbox missing" orphan no-sandbox'),
    ):
        rows = [conversation_row(talk(agent, sandbox_status=status, sandbox_id="s"))]
        assert let_through(typed, rows, CONVERSATION_GRAMMAR) == "c", typed


def test_a_title_that_was_given_and_changed_long_after_is_somebodys_own() -> None:
    now = NOON
    titles = AskedTitles(lambda: now)
    titles.ask("a", " Mine ")
    assert titles.not_given([Conversation(id="a", title="Mine")]) == []
    assert titles.not_given([Conversation(id="a", title="Made up")]) == [("a", "Mine")]
    now += NAMED_BY_SERVER + timedelta(seconds=1)
    assert titles.not_given([Conversation(id="a", title="Somebody's")]) == []


def test_what_needs_a_look_comes_first_then_what_runs_and_has_been_quiet_for_longest() -> None:
    stories = {"silent": "RUNNING STARTING STARTING STARTING silent", "slow": "new STARTING +200"}
    rows = [sandbox_row(sandbox("STARTING", name), Story(told).memory, ()) for name, told in stories.items()]
    statuses = {"missing": "MISSING", "odd": "HIBERNATING", "paused": "PAUSED", "starting": "STARTING", "bad": "ERROR"}
    rows += [row(name=name, status=status) for name, status in statuses.items()]
    rows += [row(talk(updated=at(second)), name=name) for name, second in (("young", -10), ("quiet", -3000))]
    rows.append(row(talk("running"), name="busy"))
    ids = [each.id for each in sorted(rows, key=lambda each: each.rank(at(201)))]
    assert " ".join(ids) == "bad slow silent quiet young busy starting paused odd missing"
    for status, asked in (("RUNNING", "RUNNING pause"), ("PAUSED", "PAUSED resume")):
        before, after = (sandbox_row(sandbox(status), Story(told).memory, ()) for told in (status, asked))
        assert before.rank(at(1)).value == after.rank(at(1)).value, "a row does not move when it is asked of"


@pytest.mark.parametrize(
    ("seen", "quiet"),
    [
        (row(talk(updated=at(-4000), name="c1"), talk("finished", at(-3000), name="c2")), 3000),
        (row(talk(updated=at(-86400)), seen=-60, began=True), 60),
        (row(talk(updated=at(-86400)), seen=-60, began=False), 86400),
        (row(talk(updated=at(-86400)), status="STARTING", seen=-60, began=False), 60),
        (row(seen=-7200), 7200),
        (row(talk(updated=at(500))), 0),  # the clock of a server may be ahead
        (row(talk(updated=at(-4000), name="c1"), talk("running", at(-3000), name="c2")), 0),
        (row(talk(updated=None)), None),
        (row(talk("running"), status="PAUSED"), None),
        (row(talk(), complete=False), None),
        (row(complete=False), None),
    ],
)
def test_how_long_nothing_has_happened_in_it(seen: SandboxRow, quiet: float | None) -> None:
    assert seen.quiet(at(0)) == quiet
    assert let_through("!idle>1w idle<1w", [seen], SANDBOX_GRAMMAR) == ("" if quiet is None else seen.id)


@pytest.mark.parametrize(
    ("ids", "several"),
    [
        ("a", ["spec:python", "owner:ann", "age>1h", "login"]),
        ("b", ["id:b", "repo:web", "cost>1"]),
        ("d", ["status:pausing", "pausing"]),
        ("e", ["slow"]),
        ("abc", ["status:running", "for>2h"]),
        ("cde", ["orphan"]),
        ("bcde", ["idle>30m"]),
    ],
)
def test_the_tokens_of_the_sandboxes(ids: str, several: list[str]) -> None:
    memories = SandboxMemories()
    told = replace(sandbox("RUNNING", "a"), sandbox_spec_id="python", created_by_user_id="ann", created_at=at(-9000))
    records = [told, *(sandbox("RUNNING", name) for name in "bcde")]
    memories.observe(records, at(-9000), beginning=False)
    memories.asked("d", Action.PAUSE, at(-1))
    memories.asked("e", Action.START, at(-150))
    web = Conversation("w", selected_repository="acme/web", updated_at=at(-8000))
    living = {"a": (talk(),), "b": (replace(web, metrics=Metrics(accumulated_cost=3.0)),)}
    rows = [sandbox_row(record, memories.by_id[record.id], living.get(record.id, ())) for record in records]
    for typed in several:
        assert let_through(typed, rows, SANDBOX_GRAMMAR) == ids, typed


LOGIN = Conversation("1", "Fix Login bug", "box-a", "RUNNING", "running", "acme/web", updated_at=at(-3600))
BUILD = Conversation("2", "Fix build", "box-b", "PAUSED")
STREET = Conversation("3", "STRASSE", "gone", "RUNNING", "error")
NEW = Conversation("4", "login: new", None, "RUNNING", "waiting_for_confirmation", llm_model="opus", updated_at=at(-60))
ROWS = [
    conversation_row(replace(each, metrics=Metrics(accumulated_cost=cost)), sandboxes={"box-a", "box-b"})
    for each, cost in {LOGIN: 2.5, BUILD: 1.5, STREET: 0.0, replace(NEW, created_at=at(-9000)): 0.0}.items()
]


def read(typed: str) -> Filter[Any]:
    texts = [row.haystack(NOON).casefold() for row in ROWS]
    return parse(typed, CONVERSATION_GRAMMAR, is_text=lambda word: any(word in text for text in texts))


def found(typed: str) -> str:
    return "".join(row.id for row in kept(ROWS, read(typed), NOON))


@pytest.mark.parametrize(
    ("ids", "several"),
    [
        ("1234", [""]),
        ("1", ["fix login", '"login bug"', "updated>30m", "updated>=1h", "updated>59m59s", "cost>$2"]),
        ("1", ["state:work", "running", "repo:web", "sandbox:box-a", "BOX-A"]),
        ("12", ["fix", "cost>=1.5", "sandbox:box"]),
        ("14", ["LOGIN", "!status:paused,error"]),
        ("2", ["status:paused"]),
        ("23", ["status:paused,error"]),
        ("234", ["!updated>30m"]),
        ("24", ['status:paused,"needs you"']),
        ("3", ["straße", "orphan", "no-sandbox"]),
        ("123", ["!login:"]),
        ("34", ["!fix", "cost<.5"]),
        ("4", ["login:", 'status:"needs you"', "updated<30m", "updated<=60s", "model:opus", "age>1h"]),
        ("", ['"bug login"', "ox-a"]),
    ],
)
def test_what_a_filter_lets_through(ids: str, several: list[str]) -> None:
    for typed in several:
        assert found(typed) == ids, typed
        assert read(typed).problems == ()


HALF = ["!", '"', "status:", "!status:", "status:,", "age>", "age>=", "cost>"]


@pytest.mark.parametrize("typed", HALF)
def test_what_is_half_typed_is_no_condition_yet(typed: str) -> None:
    assert (found(typed), parse(typed, CONVERSATION_GRAMMAR)) == ("1234", Filter())


VALUES = ["age>abc", "age>3", "age>1h3", "cost>$", "age>-5m", "age>30x", "age>30m,1h", "cost>1m", "cost>two"]
NAMES = ["idel>30m", "stauts:paused", "!stauts:paused", "status>5", "cost:2"]


@pytest.mark.parametrize("typed", [*VALUES, *NAMES])
def test_a_value_or_name_that_means_nothing_is_said_and_hides_nothing(typed: str) -> None:
    said = "is no token; quarterdeck help filters names them." if typed in NAMES else f", not {typed.split('>')[1]}."
    (problem,) = read(typed).problems
    assert found(typed) == "1234"
    assert problem.endswith(said)
    assert ("30m" in problem) is typed.startswith("age")


@pytest.mark.parametrize("typed", [*HALF, '"half', *NAMES, "age>abc"])
def test_a_script_is_told_of_everything_that_is_no_condition(typed: str) -> None:
    wanted = parse(f"fix {typed}", CONVERSATION_GRAMMAR, finished=True)
    assert (len(wanted.problems), len(wanted.terms)) == (1, 1)


@pytest.mark.parametrize(("typed", "said"), [("unseen", "unseen; write"), ("!for<=1h", "for<=.")])
def test_a_script_is_told_by_each_of_its_names_what_only_the_deck_knows(typed: str, said: str) -> None:
    grammar: Grammar[Any] = conversations.GRAMMAR if typed == "unseen" else sandboxes.GRAMMAR
    (problem,) = parse(typed, grammar, finished=True).problems
    assert problem.startswith(f"Only the deck knows {said}")


WORDS = st.text(alphabet='abcß:!S "<>=', max_size=5) | st.sampled_from(["orphan", "!age>30m", "status:run", "cost<2"])


@given(st.text(max_size=20) | st.lists(WORDS, max_size=4).map(" ".join))
def test_any_text_gives_some_of_the_rows_and_turned_round_the_others(typed: str) -> None:
    assert set(found(typed)) <= set("1234")
    parse(typed, CONVERSATION_GRAMMAR, finished=True)
    bare = "".join(typed.split()).replace('"', "").lstrip("!")
    if read(bare):
        assert sorted(found(bare) + found(f"!{bare}")) == sorted("1234")
