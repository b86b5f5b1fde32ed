"""A server with a fleet that pauses, resumes, starts and deletes truly, and has the faults a test gives it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from quarterdeck.config.connections import Connection
from tests.client.fakes import NO_ROUTE, UNSTORED, Answer, Asked, FakeServer
from tests.tui.user import User, Words, answering, at_deck

PROD = Connection("prod", "http://server.test")
SANDBOXES, CONVERSATIONS = "/api/v1/sandboxes", "/api/v1/app-conversations"
SPECS: list[dict[str, Any]] = [
    {"id": "default-spec", "command": ["agent"], "working_dir": "/workspace", "initial_env": {"TOKEN": "hush"}},
    {"id": "other-spec", "command": None, "working_dir": None, "initial_env": {}},
]
Record = dict[str, Any]


@dataclass
class FakeFleet:
    """Records by id, in the order they are listed; faults by id."""

    sandboxes: dict[str, Record] = field(default_factory=dict)
    conversations: dict[str, Record] = field(default_factory=dict)
    fails: set[str] = field(default_factory=set)  # orders for these are answered with an error
    deaf: set[str] = field(default_factory=set)  # orders for these are answered with success, and nothing is done
    nested: bool = False  # whether its settings are, as where conversations are renamed and deleted
    created: list[Record] = field(default_factory=list)  # what conversations were asked for with
    tasks: list[Record] = field(default_factory=list)  # start tasks, the newest first
    cap: int | None = None  # starts and resumes above it pause the oldest that runs
    says: dict[str, Answer] = field(default_factory=dict)  # what is answered instead, by "METHOD path"
    orders: list[tuple[str, str]] = field(default_factory=list)  # what was asked of which sandbox

    @classmethod
    def of(cls, count: int, **members: Any) -> "FakeFleet":
        """One with so many sandboxes that run: box00, box01 and so on."""
        fleet = cls(**members)
        for number in range(count):
            fleet.add(f"box{number:02}")
        return fleet

    @property
    def server(self) -> FakeServer:
        return FakeServer(self.answer)

    def add(self, sandbox_id: str, status: str = "RUNNING", created: str = "2026-03-14T06:00:00Z") -> str:
        running = status == "RUNNING"
        urls = [{"name": "AGENT_SERVER", "url": f"http://box/{sandbox_id}?key=hush", "port": 8000}] if running else None
        key = "sentinel-sandbox-key" if running else None
        self.sandboxes[sandbox_id] = {
            "id": sandbox_id, "status": status, "sandbox_spec_id": "default-spec", "created_at": created,
            "session_api_key": key, "exposed_urls": urls,
        }  # fmt: skip
        return sandbox_id

    def talk(self, conversation_id: str, sandbox_id: str, title: str, **more: object) -> None:
        status = self.sandboxes.get(sandbox_id, {}).get("status")
        self.conversations[conversation_id] = {
            "id": conversation_id, "title": title, "sandbox_id": sandbox_id, "sandbox_status": status,
            "execution_status": "finished", "metrics": {"accumulated_cost": 2.0},
            "created_at": "2026-03-14T09:00:00Z", "updated_at": "2026-03-14T10:00:00Z", **more,
        }  # fmt: skip

    def answer(self, asked: Asked) -> Answer | Exception:
        if (said := self.says.get(f"{asked.method} {asked.path}")) is not None:
            return said
        lists = {SANDBOXES: self.sandboxes, CONVERSATIONS: self.conversations}
        match asked.method, asked.path:
            case "GET", "/openapi.json":
                return Answer({"info": {"version": "1.8.1"}})
            case "GET", path if path == ("/api/v1/settings" if self.nested else "/api/settings"):
                return UNSTORED
            case "GET", path if (records := lists.get(path.removesuffix("/search"))) is not None:
                if path.endswith("/search"):
                    return page(records.values())
                return Answer([records.get(value) for name, value in asked.query if name in ("id", "ids")])
            case "GET", "/api/v1/app-conversations/start-tasks/search":
                return page(self.tasks)
            case "GET", "/api/v1/sandbox-specs/search":
                return page(SPECS)
            case "POST", "/api/v1/sandboxes":
                return self._start()
            case "POST", "/api/v1/app-conversations":
                self.created.append(asked.body)
                return Answer({"id": f"task{len(self.created)}", "status": "WORKING", "request": asked.body})
            case (("PATCH" | "DELETE"), path) if self.nested and path.startswith(f"{CONVERSATIONS}/"):
                return self._change_conversation(asked, path.removeprefix(f"{CONVERSATIONS}/"))
            case (("POST" | "DELETE"), path) if path.startswith(f"{SANDBOXES}/"):
                sandbox_id, _, verb = path.removeprefix(f"{SANDBOXES}/").partition("/")
                return self._order(sandbox_id, verb or "delete")
        return NO_ROUTE

    def _change_conversation(self, asked: Asked, conversation_id: str) -> Answer:
        if (refusal := self._refusal(asked.method.lower(), conversation_id, self.conversations)) is not None:
            return refusal
        if asked.method == "DELETE" and conversation_id not in self.deaf:
            return Answer(self.conversations.pop(conversation_id))
        if conversation_id not in self.deaf:
            self.conversations[conversation_id] |= asked.body
        return Answer(self.conversations[conversation_id])

    def _refusal(self, verb: str, record_id: str, records: dict[str, Record]) -> Answer | None:
        self.orders.append((verb, record_id))
        if record_id not in records:
            return Answer({"detail": "Not found"}, 404)
        return Answer({"detail": "It broke"}, 400) if record_id in self.fails else None

    def _start(self) -> Answer:
        self._make_room()
        return Answer(self.sandboxes[self.add(f"new{len(self.sandboxes)}", created="2026-03-14T15:00:00Z")])

    def _order(self, sandbox_id: str, verb: str) -> Answer:
        if (refusal := self._refusal(verb, sandbox_id, self.sandboxes)) is not None:
            return refusal
        if sandbox_id not in self.deaf:
            if verb == "resume":
                self._make_room()
            self.sandboxes[sandbox_id]["status"] = "PAUSED" if verb == "pause" else "RUNNING"
            if verb == "delete":
                del self.sandboxes[sandbox_id]
        return Answer({"success": True})

    def _make_room(self) -> None:
        running = [record for record in self.sandboxes.values() if record["status"] == "RUNNING"]
        if self.cap is not None and len(running) >= self.cap:
            min(running, key=lambda record: str(record["created_at"]))["status"] = "PAUSED"


def start_task(task_id: str = "f" * 32, status: str = "WORKING", *, hours: float = 0, **more: object) -> Record:
    """What is told of the start of a conversation that was asked for so long ago."""
    moment = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    return {"id": task_id, "status": status, "created_at": moment, "updated_at": moment, **more}


def page(items: Iterable[Record], more: str | None = None) -> Answer:
    return Answer({"items": [dict(item) for item in items], "next_page_id": more})


@asynccontextmanager
async def at_conversations(
    fleet: FakeFleet, *, server: FakeServer | None = None, endpoint: Connection = PROD, sees: Words = (), **more: Any
) -> AsyncIterator[User]:
    """A deck on the fleet, or on what answers for it, at its conversations, once they and what answers are known."""
    async with at_deck(answering(server or fleet.server), endpoint, **more) as user:
        await user.until(lambda: len(user.rows) >= len(fleet.conversations) and user.session.server.kind)
        await user.until(lambda: len(user.session.sandboxes.records) == len(fleet.sandboxes))
        await user.press(sees=sees)
        yield user


@asynccontextmanager
async def at_sandboxes(fleet: FakeFleet, *, sees: Words = (), **more: Any) -> AsyncIterator[User]:
    """A deck on the fleet, at its sandboxes, once they are known; `more` is as for `at_deck`."""
    async with at_deck(answering(fleet.server), PROD, **more) as user:
        await user.until(lambda: user.deck.session)
        await user.press("2", sees=sees, until=lambda: len(user.rows) == len(fleet.sandboxes))
        yield user


async def comes_to(user: User, fleet: FakeFleet, **outcomes: str) -> None:
    """Let agents come to something, and the deck read it."""
    for conversation_id, outcome in outcomes.items():
        fleet.conversations[conversation_id]["execution_status"] = outcome
    await user.press("ctrl+r")
    records = user.session.conversations.records
    await user.until(lambda: all(records[each].execution_status == outcome for each, outcome in outcomes.items()))
    await user.pause()
