"""A server with the same fleet at every run, and a clock that stands still: what snapshots are made of."""

from datetime import UTC, datetime

from tests.client.fakes import FakeServer
from tests.tui.fake_fleet import FakeFleet

NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
RUNNING, PAUSED, MISSING = "7WNtsgQkXv2mB0aLdE1R", "mX2paaHhIiJjKkLlMmNn", "gN3ssiVvWwXxYyZz0011"
START_TASK = {
    "id": "f" * 32,
    "status": "PREPARING_REPOSITORY",
    "sandbox_id": "Lq93bdAaBbCcDdEeFfGg",
    "request": {"title": "Add tests", "selected_repository": "acme/api", "selected_branch": "main"},
    "created_at": "2026-03-14T15:08:45",
    "updated_at": "2026-03-14T15:09:20",
}


def fleet() -> FakeServer:
    """A server with one of everything."""
    fleet = FakeFleet(tasks=[START_TASK])
    for sandbox_id, status, created in (
        (RUNNING, "RUNNING", "2026-03-14T11:57:00Z"),
        ("r0sC74PqXn1tYw8uJk2Z", "RUNNING", "2026-03-14T06:06:00Z"),
        ("Lq93bdAaBbCcDdEeFfGg", "STARTING", "2026-03-14T15:09:00Z"),
        (PAUSED, "PAUSED", "2026-03-12T08:00:00Z"),
        ("eR7rorOoPpQqRrSsTtUu", "ERROR", "2026-03-13T08:00:00Z"),
        (MISSING, "MISSING", "2026-02-01T08:00:00Z"),
        ("hB1nat22334455667788", "HIBERNATING", "2026-03-01T08:00:00Z"),
    ):
        fleet.add(sandbox_id, status, created, "ghcr.io/example/agent-server:1.8-python")
    place = {"selected_repository": "acme/db", "selected_branch": "v2", "git_provider": "github"}
    for number, title, sandbox_id, agent, more in (
        (7, "Migrate schema", RUNNING, "waiting_for_confirmation", place),
        (6, "Fix login bug", RUNNING, "finished", {"selected_repository": "acme/web"}),
        (5, "Проверить 東京 naïve 👩‍💻 titles", PAUSED, None, {}),
        (4, "[red]not markup[/]", MISSING, None, {}),
    ):
        members: dict[str, object] = {
            "execution_status": agent,
            "llm_model": "anthropic/claude-sonnet-4-5",
            "updated_at": f"2026-03-14T15:0{number}:00Z",
            "metrics": {"accumulated_cost": 0.42 * number},
            **more,
        }
        fleet.talk(f"{number:032x}", sandbox_id, title, **members)
    return fleet.server
