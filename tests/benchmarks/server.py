"""A stand-in for a server with many sandboxes: bytes made once, a share of the records changing at each tick.

`python -m tests.benchmarks.server 10000 --churn 0.01` prints its port. It costs little itself: HTTP/1.1 by hand.
"""

import argparse
import asyncio
import json
import random
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 100
STATUSES = ("RUNNING", "PAUSED", "STARTING", "ERROR", "MISSING")
CHANGING = {
    "status": ("status", STATUSES),
    "spec": ("sandbox_spec_id", ("agent-server:1.0.0-python", "agent-server:1.0.0-node", "agent-server:1.1.0-python")),
}
"""What changes: statuses, by which rows are ordered, or something that is only shown."""
SEARCHES = {
    "/api/v1/sandboxes/search": "sandboxes",
    "/api/v1/app-conversations/search": "conversations",
    "/api/v1/app-conversations/start-tasks/search": "nothing",
}


def sandbox(number: int) -> dict[str, Any]:
    urls = [("AGENT_SERVER", 30_000), ("VSCODE", 40_000)]
    return {
        "id": f"sandbox-{number:06}",
        "created_by_user_id": f"user-{number % 97}",
        "sandbox_spec_id": "agent-server:1.0.0-python",
        "status": STATUSES[number % 5],
        "session_api_key": f"{number:032x}",
        "exposed_urls": [{"name": name, "url": f"http://localhost:{port + number % 9_999}"} for name, port in urls],
        "created_at": f"2025-01-{number % 28 + 1:02}T00:00:00Z",
    }


def conversation(number: int) -> dict[str, Any]:
    return {
        "id": f"{number:032x}",
        "title": f"Conversation {number}",
        "sandbox_id": f"sandbox-{number:06}",
        "sandbox_status": STATUSES[number % 5],
        "selected_repository": f"people/repository-{number % 7}",
        "selected_branch": "main",
        "llm_model": "a-model",
        "metrics": {"accumulated_cost": number / 100, "accumulated_token_usage": {"prompt_tokens": number}},
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": f"2025-01-01T00:{number % 60:02}:00Z",
    }


class Lists:
    """The records, and their pages as bytes until one of their records changes."""

    def __init__(self, sandboxes: int, churn: float, tick: float, changing: str) -> None:
        self.records = {
            "sandboxes": [sandbox(number) for number in range(sandboxes)],
            "conversations": [conversation(number) for number in range(100)],
            "nothing": [],
        }
        self._pages: dict[tuple[str, int], bytes] = {}
        self._churn, self._tick = churn, tick
        self._member, self._values = CHANGING[changing]
        self._chance, self._changed_at = random.Random(1), time.monotonic()

    def page(self, name: str, start: int) -> bytes:
        self._pass_time()
        if (name, start) not in self._pages:
            records, end = self.records[name], start + PAGE
            body = {"items": records[start:end], "next_page_id": str(end) if end < len(records) else None}
            self._pages[name, start] = json.dumps(body, separators=(",", ":")).encode()
        return self._pages[name, start]

    def batch(self, ids: list[str]) -> bytes:
        self._pass_time()
        return json.dumps([self.records["sandboxes"][int(each.rpartition("-")[2])] for each in ids]).encode()

    def _pass_time(self) -> None:
        records = self.records["sandboxes"]
        while self._churn and time.monotonic() - self._changed_at >= self._tick:
            self._changed_at += self._tick
            for number in self._chance.sample(range(len(records)), max(1, int(len(records) * self._churn))):
                records[number][self._member] = self._chance.choice(self._values)
                self._pages.pop(("sandboxes", number // PAGE * PAGE), None)


def answer(lists: Lists, batches: bool, target: str) -> tuple[int, bytes]:
    path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
    if path in SEARCHES:
        return 200, lists.page(SEARCHES[path], int(query.get("page_id", ["0"])[0]))
    if path == "/api/v1/sandboxes" and batches and "id" in query:
        return 200, lists.batch(query["id"])
    return 404, b'{"detail":"Not Found"}'


async def serve(lists: Lists, *, batches: bool) -> None:
    """Answer until stopped; the first line of the output is the port."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                status, body = answer(lists, batches, head.split(b" ", 2)[1].decode())
                fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(f"HTTP/1.1 {status} -\r\n{fields}".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sandboxes", type=int)
    parser.add_argument("--churn", type=float, default=0.0)
    parser.add_argument("--tick", type=float, default=0.5, help="seconds between two changes")
    parser.add_argument("--changing", choices=CHANGING, default="status")
    parser.add_argument("--no-batches", action="store_true", help="answer like a server that cannot read by ids")
    given = parser.parse_args()
    asyncio.run(serve(Lists(given.sandboxes, given.churn, given.tick, given.changing), batches=not given.no_batches))


if __name__ == "__main__":
    main()
