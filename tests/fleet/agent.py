"""A stand-in for an app server with one conversation, and for its agent server: as real ones answer (SERVERS.md)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.http11 import Request, Response

from tests.client.fakes import NO_ROUTE, Answer, Asked
from tests.tui.fake_fleet import FakeFleet

ID, AGENT = "0c0f4ad56c4f49ed9347b7fa8dfeac92", "https://agent.test:8123"
COPY, C = f"/api/v1/conversation/{ID}/events/search", f"/api/conversations/{ID}"
RECORDED = Path(__file__).parents[1] / "recordings" / "conversation"


def recorded(name: str) -> list[dict[str, Any]]:
    return [each.get("frame", each) for each in json.loads((RECORDED / f"{name}.json").read_text())]


class FakeAgent:
    """Both servers; the flags say in which way it is a difficult one."""

    def __init__(self, version: str = "1.15.0", policy: str = "ConfirmRisky") -> None:
        self.version, self.policy, self.status, self.fleet = version, policy, "idle", FakeFleet()
        self.fleet.talk(ID, self.fleet.add("box"), "Fix login")
        self.log: list[dict[str, Any]] = []
        self.copy: list[dict[str, Any]] = []
        self.ran: list[str] = []  # commands that were really done
        self.sandbox: str | None = "RUNNING"
        self.host, self.unreached = AGENT, False
        self.overhears = 0  # answers that are affirmed and not taken
        self.busy = 0  # runs that are refused with 409
        self.loses_answers = False  # it does what it is asked, and the answer is a 500
        self.drops = False  # what is sent to it times out and is not there
        self.next: list[str] = []  # what the agent asks to be allowed next
        self.meanwhile: dict[str, Any] = {}  # what somebody else does right before, by the end of a request's path
        self.asked: list[str] = []

    def add(self, kind: str, source: str = "environment", **members: Any) -> str:
        at = len(self.log)
        event = {"id": f"e{at}", "timestamp": f"2026-11-24T00:{at // 60:02}:{at % 60:02}.5", "source": source}
        self.log.append({**event, "kind": kind, **members})
        return f"e{at}"

    def set(self, status: str) -> None:
        self.status = status
        self.add("ConversationStateUpdateEvent", key="execution_status", value=status)

    def says(self, text: str, source: str = "agent") -> None:
        self.add("MessageEvent", source, llm_message={"role": source, "content": [{"type": "text", "text": text}]})

    def says_words(self, numbers: range) -> None:
        for number in numbers:
            self.says(f"word {number}")

    def asks(self, *commands: str) -> None:
        for command in commands:
            action = {"command": command, "kind": "TerminalAction"}
            told = {"tool_name": "terminal", "tool_call_id": f"call{len(self.log)}", "security_risk": "HIGH"}
            self.add("ActionEvent", "agent", action=action, **told)
        self.set("waiting_for_confirmation")

    @property
    def pending(self) -> list[dict[str, Any]]:
        ended = {event.get("tool_call_id") for event in self.log if event["kind"] != "ActionEvent"}
        return [each for each in self.log if each["kind"] == "ActionEvent" and each["tool_call_id"] not in ended]

    def run(self) -> None:
        """What a run does first, on every server: whatever waits."""
        self.set("running")
        for action in self.pending:
            self.ran.append(action["action"]["command"])
            seen = {"content": [{"type": "text", "text": "ok"}], "exit_code": 0}
            self.add("ObservationEvent", tool_name="terminal", tool_call_id=action["tool_call_id"], observation=seen)
        if self.next:
            self.asks(self.next.pop(0))
        else:
            self.says("done")
            self.set("finished")

    def reject(self) -> None:
        """What an agent does that is told not to do what it asks."""
        self.set("idle")
        for each in self.pending:
            self.add("UserRejectObservation", tool_name="terminal", tool_call_id=each["tool_call_id"])

    def __call__(self, asked: Asked) -> Answer | Exception:
        self.asked.append(f"{asked.method} {asked.path}")
        if not asked.path.startswith((C, "/alive", "/server_info")):
            return self._app(asked)
        if self.unreached:
            return TimeoutError()
        end = asked.path.removeprefix(C)
        for name, act in list(self.meanwhile.items()):
            if end == name:
                del self.meanwhile[name]
                act()
        if asked.method == "POST" and self.drops:
            return httpx.ReadTimeout("held")
        answer = self._read(asked, end) if asked.method == "GET" else self._told(asked, end)
        if asked.method == "POST" and self.loses_answers:
            return Answer({"detail": "lost"}, 500)
        return answer

    def _app(self, asked: Asked) -> Answer | Exception:
        if asked.path == COPY:
            ends = int(asked.page_id or 0) + 100
            page, more = self.copy[::-1][ends - 100 : ends], len(self.copy) > ends
            return Answer({"items": page, "next_page_id": ends if more else None})
        if self.sandbox is None:
            self.fleet.conversations.clear()
            return self.fleet.answer(asked)
        up = self.sandbox == "RUNNING"
        self.fleet.conversations[ID] |= {
            "sandbox_status": self.sandbox,
            "execution_status": "running" if self.status == "idle" else self.status,
            "conversation_url": f"{self.host}{C}" if up else None,
            "session_api_key": "agent-key" if up else None,
        }
        return self.fleet.answer(asked)

    def _read(self, asked: Asked, end: str) -> Answer:
        query = dict(asked.query)
        match end:
            case "":
                return Answer({"execution_status": self.status, "confirmation_policy": {"kind": self.policy}})
            case "/events/search":
                listed = self.log if query["sort_order"] == "TIMESTAMP" else self.log[::-1]
                ids = [event["id"] for event in listed]
                start = ids.index(query["page_id"]) if query.get("page_id") in ids else 0
                page, rest = listed[start : start + int(query["limit"])], ids[start + int(query["limit"]) :]
                return Answer({"items": page, "next_page_id": rest[0] if rest else None})
            case "/alive":
                return Answer({"status": "ok"})
            case "/server_info":
                return Answer({"version": self.version}) if self.version else NO_ROUTE
            case _:
                return NO_ROUTE

    def _told(self, asked: Asked, end: str) -> Answer:
        match end:
            case "/events":
                self.says(asked.body["content"][0]["text"], "user")
                if self.status in ("finished", "stuck"):
                    self.set("idle")
                if asked.body["run"]:
                    self.run()
            case "/run" if self.busy or self.status == "running":
                self.busy = max(self.busy - 1, 0)
                return Answer({"detail": "Conversation already running."}, 409)
            case "/run" if self.status != "finished":
                self.run()
            case "/events/respond_to_confirmation" if self.overhears:
                self.overhears -= 1
            case "/events/respond_to_confirmation" if asked.body["accept"]:
                self.run()
            case "/events/respond_to_confirmation" if self.status == "waiting_for_confirmation":
                self.reject()
            case "/confirmation_policy":
                self.policy = asked.body["policy"]["kind"]
            case "/interrupt" if self.version < "1.16":
                return NO_ROUTE
            case "/interrupt" | "/pause":
                self.set("paused")
        return Answer({"success": True})


class Telling:
    """Serves an agent on a free port, and tells all its sockets what it is given."""

    server: Server

    def __init__(self, agent: FakeAgent) -> None:
        self.agent, self.opened = agent, 0
        self.answers = asyncio.Event()  # cleared while the agent server answers nothing
        self.answers.set()

    def tell(self, **frame: Any) -> None:
        broadcast(self.server.connections, json.dumps(frame))

    async def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request; None where it opens a socket."""
        address = urlsplit(request.path)
        if address.path.startswith("/sockets/"):
            self.opened += 1
            return None
        if not address.path.startswith("/api/v1/"):
            await self.answers.wait()
        answer = self.agent(Asked("GET", address.path, tuple(parse_qsl(address.query)), httpx.Headers(), b""))
        assert isinstance(answer, Answer)
        response = connection.respond(HTTPStatus(answer.status), answer.content.decode())
        response.headers["Content-Type"] = "application/json"
        return response


@asynccontextmanager
async def telling(agent: FakeAgent) -> AsyncIterator[Telling]:
    teller = Telling(agent)
    async with serve(ServerConnection.wait_closed, "127.0.0.1", 0, process_request=teller.answer) as teller.server:
        agent.host = f"http://127.0.0.1:{teller.server.sockets[0].getsockname()[1]}"
        yield teller
        teller.answers.set()  # the server ends once everybody has been answered
