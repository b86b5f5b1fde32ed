"""What the lists show, without a screen."""

from datetime import UTC, datetime

import pytest

from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.bulk import plan
from quarterdeck.fleet.filters import statuses_in, with_statuses
from quarterdeck.fleet.health import Health, HealthState
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import why_not_pause
from quarterdeck.fleet.sandboxes import SandboxRow, sandbox_row
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.columns.bulk import plan_lines
from quarterdeck.tui.columns.details import health_cell
from quarterdeck.tui.opening import can_open_browser

NOW = datetime(2026, 3, 14, 15, 0, tzinfo=UTC)


def rows_of(*pairs: tuple[str, str]) -> list[SandboxRow]:
    memories = SandboxMemories()
    records = [Sandbox(id=sandbox_id, status=status, sandbox_spec_id=f"spec-{status}") for sandbox_id, status in pairs]
    memories.observe(records, NOW, beginning=False)
    return [sandbox_row(record, memories.by_id[record.id], ()) for record in records]


def words(cells: list[Cell]) -> str:
    return "\n".join("".join(text for text, _ in cell) for cell in cells)


@pytest.mark.parametrize(
    ("typed", "statuses", "words"),
    [
        ("", ("Paused",), "status:paused"),
        ("fix status:error !idle>30m", ("Running", "Paused"), "fix !idle>30m status:running,paused"),
        ("fix status:error", (), "fix"),
        ("", ("Needs you",), 'status:"needs you"'),
    ],
)
def test_the_menu_of_statuses_changes_only_its_token(typed: str, statuses: tuple[str, ...], words: str) -> None:
    assert with_statuses(typed, "status", statuses) == words
    assert statuses_in(words, "status") == tuple(status.casefold() for status in statuses)


def test_a_plan_names_what_it_does_and_why_it_leaves_rows_out() -> None:
    rows = rows_of(("aaaaaaaa", "RUNNING"), ("bbbbbbbb", "PAUSED"), ("cccccccc", "RUNNING"))
    planned = plan(rows, lambda row: why_not_pause(row.state(NOW)), {"cccccccc"})
    said = words(plan_lines("Pause", planned))
    assert "1 will be paused\n  aaaaaa" in said
    assert "1 skipped\n  bbbbbb  It is paused already" in said
    assert "1 marked, but hidden by the filter: left out\n  cccccc" in said
    assert "2 will be paused" in words(plan_lines("Pause", planned, with_hidden=True))


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
