"""What the lists show, without a screen."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from quarterdeck.fleet.health import Health, HealthState
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.plan import plan
from quarterdeck.fleet.sandbox_rules import why_not_pause
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row
from quarterdeck.service.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.service.models.sandbox import Sandbox
from quarterdeck.tui.bulk import AT_ONCE, do_all, plan_lines, result_words
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.lists.arrangement import SETTLES, Arrangement
from quarterdeck.tui.lists.listing import health_cell
from quarterdeck.tui.lists.sandboxes import SandboxListing
from quarterdeck.tui.opening import can_open_browser

NOW = datetime(2026, 3, 14, 15, 0, tzinfo=UTC)


def rows_of(*pairs: tuple[str, str]) -> list[SandboxRow]:
    memories = SandboxMemories()
    records = [Sandbox(id=sandbox_id, status=status, sandbox_spec_id=f"spec-{status}") for sandbox_id, status in pairs]
    memories.observe(records, NOW, beginning=False)
    return [sandbox_row(record, memories.by_id[record.id], ()) for record in records]


def words(cells: list[Cell]) -> str:
    return "\n".join("".join(text for text, _ in cell) for cell in cells)


@dataclass
class Chosen:
    """A list as a person arranged it."""

    arrangement: Arrangement[SandboxRow]

    def ids(self, rows: list[SandboxRow], shown: list[SandboxRow], moment: float) -> list[str]:
        return [row.id for row in self.arrangement.arrange(rows, shown, NOW, moment)]


@pytest.fixture
def chosen() -> Chosen:
    return Chosen(Arrangement(SandboxListing()))


def test_rows_keep_their_places_while_the_cursor_moves_and_settle_after(chosen: Chosen) -> None:
    before = rows_of(("a", "RUNNING"), ("b", "RUNNING"))
    after = rows_of(("a", "RUNNING"), ("b", "ERROR"), ("c", "ERROR"))
    chosen.arrangement.moved(100.0)
    assert chosen.ids(after, before, 101.0) == ["a", "b", "c"]
    assert chosen.ids(after, before, 100.0 + SETTLES) == ["b", "c", "a"]


def test_sorting_takes_effect_at_once_even_while_the_cursor_moves(chosen: Chosen) -> None:
    rows = rows_of(("a", "PAUSED"), ("b", "ERROR"))
    chosen.arrangement.moved(100.0)
    chosen.arrangement.sort_by("sandbox", reverse=True)
    assert chosen.ids(rows, rows, 100.5) == ["b", "a"]


def test_the_columns_to_sort_by_go_round_to_the_default_order(chosen: Chosen) -> None:
    arrangement = chosen.arrangement
    seen = []
    for _ in range(20):
        arrangement.sort_by(arrangement.next_column, reverse=False)
        seen.append(arrangement.column)
        if arrangement.column is None:
            break
    assert seen[0] == "status"
    assert seen[-1] is None
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("typed", "ids"),
    [("", ["a", "b"]), ("status:paused", ["a"]), ("!paused", ["b"]), ("spec:err", ["b"]), ("id:a", ["a"]), ("zzz", [])],
)
def test_tokens_of_the_filter_look_where_they_say(chosen: Chosen, typed: str, ids: list[str]) -> None:
    chosen.arrangement.filter_by(typed)
    rows = rows_of(("a", "PAUSED"), ("b", "ERROR"))
    assert sorted(chosen.ids(rows, [], 0.0)) == ids


async def test_a_bulk_command_does_a_few_at_a_time_and_tells_each_result() -> None:
    rows = rows_of(*((f"row{number}", "RUNNING") for number in range(10)))
    under_way, most = 0, 0

    async def act(sandbox_id: str) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        if sandbox_id == "row3":
            raise ServiceError(ErrorKind.MISSING, "It is gone.", "Read again.", outcome=Outcome.NOT_APPLIED)

    results = await do_all(rows, act)
    assert most == AT_ONCE
    assert [result.row.id for result in results if result.error is not None] == ["row3"]
    said, tone = result_words("Pause", results)
    assert (said, tone) == ("Pause: 1 of 10 failed. row3: It is gone. Read again.", Tone.BAD)


def test_a_plan_names_what_it_does_and_why_it_leaves_rows_out() -> None:
    rows = rows_of(("aaaaaaaa", "RUNNING"), ("bbbbbbbb", "PAUSED"))
    planned = plan(rows, lambda row: why_not_pause(row.state(NOW)))
    said = words(plan_lines("Pause", planned))
    assert "Pause 1 of 2 marked sandboxes:\n  aaaaaa" in said
    assert "1 left out:\n  bbbbbb It is paused already" in said


@pytest.mark.parametrize(("later", "words_then"), [(0.0, "live now"), (4.9, "live now"), (12.0, "live 10s ago")])
def test_the_age_of_a_healthy_list_moves_in_steps(later: float, words_then: str) -> None:
    health = Health(HealthState.ONLINE, read_at=100.0, incomplete=False)
    ((said, _),) = health_cell(health, 100.0 + later)
    assert said == words_then


@pytest.mark.parametrize(
    ("environ", "platform", "opens"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "w"}, "linux", True),
        ({}, "darwin", True),
        ({"SSH_CONNECTION": "x"}, "darwin", False),
    ],
)
def test_a_browser_is_opened_only_where_one_would_show(environ: dict[str, str], platform: str, opens: bool) -> None:
    assert can_open_browser(environ, platform) is opens
