from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import Residents, SandboxRow, attention, sandbox_row, short_id

from .fakes import at, sandbox


def conversation(conversation_id: str, sandbox_id: str | None, title: str | None = None) -> Conversation:
    return Conversation(id=conversation_id, sandbox_id=sandbox_id, title=title)


def test_a_short_id_leaves_out_what_all_ids_share() -> None:
    told = {"7WNtsgx91": "7WNtsg", "oh-agent-server-7WNtsgx91": "7WNtsg", "a-": "a-", "-dash": "-dash", "": ""}
    assert {each: short_id(each) for each in told} == told


def rows_of(memories: SandboxMemories, *pairs: tuple[str, str]) -> list[SandboxRow]:
    records = [sandbox(status, sandbox_id) for sandbox_id, status in pairs]
    memories.observe(records, at(0), beginning=True)
    return [sandbox_row(record, memories.by_id[record.id], ()) for record in records]


def test_a_row_has_the_titles_of_the_conversations_in_its_sandbox() -> None:
    told = [
        conversation("c1", "a", "Newest"),
        conversation("c2", None, "Lost"),
        conversation("c3", "a"),
        conversation("c4", "b"),
    ]
    residents = Residents()
    residents.update({each.id: each for each in told}, [each.id for each in told])
    assert [each.id for each in residents.of("a")] == ["c1", "c3"]
    (bare,) = rows_of(SandboxMemories(), ("a", "RUNNING"))
    row = sandbox_row(bare.record, bare.memory, residents.of("a"))
    assert row.conversation_titles == ("Newest", "")
    assert "newest" in row.haystack


def test_what_needs_a_look_comes_first() -> None:
    memories = SandboxMemories()
    memories.observe([sandbox("RUNNING", "silent", served=True)], at(-4), beginning=False)
    for second in (-3, -2, -1):
        memories.observe([sandbox("STARTING", "silent")], at(second), beginning=False)
    memories.checked("silent", at(0), answered=False)
    memories.observe([sandbox("STARTING", "slow")], at(-200), beginning=True)
    memories.observe([sandbox("ERROR", "error")], at(-1), beginning=False)
    rows = rows_of(
        memories,
        ("missing", "MISSING"),
        ("odd", "HIBERNATING"),
        ("paused", "PAUSED"),
        ("starting", "STARTING"),
        ("running-b", "RUNNING"),
        ("running-a", "RUNNING"),
        ("silent", "STARTING"),
        ("slow", "STARTING"),
        ("error", "ERROR"),
    )
    found = [row.id for row in sorted(rows, key=lambda row: (attention(row.state(at(0))), row.id))]
    assert found == [
        "error",
        "slow",
        "silent",
        "running-a",
        "running-b",
        "starting",
        "paused",
        "odd",
        "missing",
    ]


def test_a_row_does_not_move_when_a_pause_or_resume_is_asked_for() -> None:
    memories = SandboxMemories()
    rows_of(memories, ("a", "RUNNING"), ("b", "PAUSED"))
    ranks = [attention(memories.by_id[i].state(at(0))) for i in "ab"]
    memories.asked("a", Action.PAUSE, at(0))
    memories.asked("b", Action.RESUME, at(0))
    assert [attention(memories.by_id[i].state(at(1))) for i in "ab"] == ranks
