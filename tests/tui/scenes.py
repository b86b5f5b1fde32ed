"""Servers with the same fleet at every run, and a clock that stands still: what snapshots are made of."""

from datetime import UTC, datetime

from tests.client.fakes import UNSTORED, Answer, FakeServer

NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)


def sandbox(sandbox_id: str, status: str, created: str) -> dict[str, object]:
    running = status == "RUNNING"
    urls = [{"name": "AGENT_SERVER", "url": f"http://127.0.0.1:80{len(sandbox_id)}", "port": 8000}] if running else None
    return {
        "id": sandbox_id,
        "status": status,
        "sandbox_spec_id": "ghcr.io/example/agent-server:1.8-python",
        "session_api_key": "sentinel-sandbox-key" if running else None,
        "exposed_urls": urls,
        "created_at": created,
    }


def conversation(number: int, title: str, sandbox_id: str, status: str, agent: str | None, **more: object) -> object:
    return {
        "id": f"{number:032x}",
        "title": title,
        "sandbox_id": sandbox_id,
        "sandbox_status": status,
        "execution_status": agent,
        "llm_model": "anthropic/claude-sonnet-4-5",
        "created_at": "2026-03-14T09:00:00Z",
        "updated_at": f"2026-03-14T15:0{number}:00Z",
        "metrics": {"accumulated_cost": 0.42 * number},
        **more,
    }


SANDBOXES = [
    sandbox("7WNtsgQkXv2mB0aLdE1R", "RUNNING", "2026-03-14T11:57:00Z"),
    sandbox("r0sC74PqXn1tYw8uJk2Z", "RUNNING", "2026-03-14T06:06:00Z"),
    sandbox("Lq93bdAaBbCcDdEeFfGg", "STARTING", "2026-03-14T15:09:00Z"),
    sandbox("mX2paaHhIiJjKkLlMmNn", "PAUSED", "2026-03-12T08:00:00Z"),
    sandbox("eR7rorOoPpQqRrSsTtUu", "ERROR", "2026-03-13T08:00:00Z"),
    sandbox("gN3ssiVvWwXxYyZz0011", "MISSING", "2026-02-01T08:00:00Z"),
    sandbox("hB1nat22334455667788", "HIBERNATING", "2026-03-01T08:00:00Z"),
]
CONVERSATIONS = [
    conversation(
        7, "Migrate schema", "7WNtsgQkXv2mB0aLdE1R", "RUNNING", "waiting_for_confirmation",
        selected_repository="acme/db", selected_branch="v2", git_provider="github",
    ),
    conversation(6, "Fix login bug", "7WNtsgQkXv2mB0aLdE1R", "RUNNING", "finished", selected_repository="acme/web"),
    conversation(5, "Проверить 東京 naïve 👩‍💻 titles", "mX2paaHhIiJjKkLlMmNn", "PAUSED", None),
    conversation(4, "[red]not markup[/]", "gN3ssiVvWwXxYyZz0011", "MISSING", None),
]  # fmt: skip
START_TASK = {
    "id": "f" * 32,
    "status": "PREPARING_REPOSITORY",
    "detail": None,
    "app_conversation_id": None,
    "sandbox_id": "Lq93bdAaBbCcDdEeFfGg",
    "request": {"title": "Add tests", "selected_repository": "acme/api", "selected_branch": "main"},
    "created_at": "2026-03-14T15:08:45",
    "updated_at": "2026-03-14T15:09:20",
}


def page(items: list[object]) -> list[Answer | Exception]:
    return [Answer({"items": items, "next_page_id": None})]


def fleet() -> FakeServer:
    """A server with one of everything."""
    return FakeServer(
        {
            "GET /api/settings": [UNSTORED],
            "GET /openapi.json": [Answer({"info": {"version": "1.8.1"}})],
            "GET /api/v1/sandboxes/search": page([*SANDBOXES]),
            "GET /api/v1/app-conversations/search": page([*CONVERSATIONS]),
            "GET /api/v1/app-conversations/start-tasks/search": page([START_TASK]),
        }
    )
