from dataclasses import replace
from datetime import datetime

import pytest

from quarterdeck.client.models.conversation import Conversation, Metrics
from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR, conversation_row
from quarterdeck.fleet.filters import kept, parse
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, SandboxRow, find_quiet, sandbox_row

from .fakes import NOON, at, row, sandbox


def talk(
    agent: str | None = "idle", updated: datetime | None = NOON, cost: float | None = None, name: str = "c"
) -> Conversation:
    metrics = Metrics(accumulated_cost=cost)
    return Conversation(id=name, execution_status=agent, updated_at=updated, metrics=metrics, title="Fix login")


def test_what_needs_a_look_comes_first_then_what_runs_and_has_been_quiet_for_longest() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", "silent", served=True)], at(-4), beginning=False)
    for second in (-3, -2, -1):
        memories.observe([sandbox("STARTING", "silent")], at(second), beginning=False)
    memories.checked("silent", at(0), answered=False)
    memories.observe([sandbox("STARTING", "slow")], at(-200), beginning=True)
    rows = [sandbox_row(sandbox("STARTING", name), memories.by_id[name], ()) for name in ("silent", "slow")]
    statuses = {"missing": "MISSING", "odd": "HIBERNATING", "paused": "PAUSED", "starting": "STARTING", "bad": "ERROR"}
    rows += [row(name=name, status=status) for name, status in statuses.items()]
    rows += [row(talk(updated=at(second)), name=name) for name, second in (("young", -10), ("quiet", -3000))]
    rows.append(row(talk("running"), name="busy"))
    ids = [each.id for each in sorted(rows, key=lambda each: each.rank(at(0)))]
    assert " ".join(ids) == "bad slow silent quiet young busy starting paused odd missing"


def test_a_row_does_not_move_when_a_pause_or_resume_is_asked_for() -> None:
    for status, action in (("RUNNING", Action.PAUSE), ("PAUSED", Action.RESUME)):
        memories, record = SandboxMemories(), sandbox(status)
        memories.observe([record], at(0), beginning=False)
        before = sandbox_row(record, memories.by_id["abc"], ()).rank(at(1))
        memories.asked("abc", action, at(0))
        assert sandbox_row(record, memories.by_id["abc"], ()).rank(at(1)).value == before.value


@pytest.mark.parametrize(
    ("seen", "quiet"),
    [
        # since the newest update, but not for longer than it is known to be up
        (row(talk(updated=at(-4000), name="c1"), talk("finished", at(-3000), name="c2")), 3000),
        (row(talk(updated=at(-86400)), seen=-60, began=True), 60),
        (row(talk(updated=at(-86400)), seen=-60, began=False), 86400),
        (row(seen=-7200), 7200),
        (row(talk(updated=at(500))), 0),  # the clock of a server may be ahead
        # not at all where an agent works, as far as was last told
        (row(talk(updated=at(-4000), name="c1"), talk("running", at(-3000), name="c2")), 0),
        # nothing is claimed where it is not known, or not up
        (row(talk(updated=None)), None),
        (row(talk("running"), status="PAUSED"), None),
        (row(talk(), complete=False), None),
        (row(complete=False), None),
    ],
)
def test_how_long_nothing_has_happened_in_it(seen: SandboxRow, quiet: float | None) -> None:
    assert seen.quiet(at(0)) == quiet
    found = kept([seen], parse("!idle>1w idle<1w", SANDBOX_GRAMMAR), at(0))
    assert found == ([] if quiet is None else [seen])


def test_quiet_sandboxes_are_found_the_longest_first_with_what_it_cost() -> None:
    costs = (0.75, None, float("nan"), 0.25)
    rows = [
        row(*(talk(updated=at(-2000), cost=cost, name=f"{cost}") for cost in costs), name="b"),
        row(talk(updated=at(-9000), cost=2.5), name="c"),
        row(talk(updated=at(-100)), name="young"),
        row(talk("running", at(-9000)), name="busy"),
        row(talk(updated=at(-9000)), name="paused", status="PAUSED"),
        row(talk(updated=None), name="untold"),
        row(name="orphan", seen=-2500),
    ]
    found = find_quiet(rows, 1800.0, at(0))
    assert ([each.id for each in found.rows], found.spent) == (["c", "orphan", "b"], 1.0 + 2.5)
    assert [each.id for each in found.unknown] == ["untold"]


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
        found = kept(rows, parse(typed, SANDBOX_GRAMMAR, finished=True), at(0))
        assert "".join(each.id for each in found) == ids, typed


@pytest.mark.parametrize(
    ("ids", "several"),
    [
        ("a", ["state:work", "running", "repo:web", "updated<1m"]),
        ("b", ['status:"needs you"', "model:opus", "orphan", "cost>=2", "age>1h"]),
        ("ab", ["sandbox:box"]),
    ],
)
def test_the_tokens_of_the_conversations(ids: str, several: list[str]) -> None:
    a = Conversation("a", None, "box-a", "RUNNING", "running", "acme/web", updated_at=at(-9), llm_model="small")
    b = Conversation("b", None, "box-b", "RUNNING", "waiting_for_confirmation", llm_model="opus", created_at=at(-9000))
    b = replace(b, metrics=Metrics(accumulated_cost=2.0))
    rows = [conversation_row(each, sandboxes={"box-a"}) for each in (a, b, Conversation("c"))]
    for typed in several:
        found = kept(rows, parse(typed, CONVERSATION_GRAMMAR, finished=True), at(0))
        assert "".join(each.id for each in found) == ids, typed
