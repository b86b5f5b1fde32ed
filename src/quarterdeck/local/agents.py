"""The logs of conversations without agents, which is the usual case in this service."""

import asyncio
import json
import sqlite3
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from fastapi import HTTPException

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.local.events import DELTA, MessageBody, message, new_event, text_part
from quarterdeck.local.records import Limit, Page
from quarterdeck.local.runtime.simulated_agent import SimulatedAgent
from quarterdeck.local.store import Record, Store

NOBODY_ANSWERS = "No agent runs here, so nobody answers; what is written is kept."
MOST_WAITING = 10_000
"""Events queued for a listener; one that reads too slowly misses some, and must read the log to catch up."""


@dataclass(frozen=True)
class EventQuery:
    """The requested page of a log; its id is that of its first event."""

    page_id: str | None = None
    limit: Limit = 100
    sort_order: Literal["TIMESTAMP", "TIMESTAMP_DESC"] = "TIMESTAMP"


class Agents:
    """Stores what people write in conversations without agents, and says so once in each.

    Its methods take the id of an existing conversation. An event has an id of its own; its order is its place in the
    log, which only grows.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._writing = asyncio.Lock()
        self._listening: defaultdict[str, set[asyncio.Queue[Record]]] = defaultdict(set)

    async def begin(self, conversation_id: str) -> None:
        """Create the log of a conversation if needed: its first message, and that no agent will answer.

        Raises `HTTPException` (404) if the conversation was deleted meanwhile.
        """
        async with self._writing:
            if not await self._store.count("events", "conversation_id = ?", (conversation_id,)):
                row = await self._row(conversation_id)
                said = [_said("user", "user", [text_part(row["message"])])] if row["message"] else []
                note = _said("environment", "system", [text_part(NOBODY_ANSWERS)])
                await self._happened(conversation_id, [*said, note])

    async def state(self, conversation_id: str) -> Record:
        """Return the agent's state: always idle, and nothing of an agent that is not there."""
        return {"execution_status": ExecutionStatus.IDLE}

    async def send(self, conversation_id: str, body: MessageBody) -> None:
        """Store a message, and run the agent if the message requests it and there is one."""
        async with self._writing:
            await self._happened(conversation_id, [_said("user", "user", body.parts())])

    async def act(self, conversation_id: str, act: Callable[[SimulatedAgent], None]) -> None:
        """Apply a request to the agent, if there is one: stop, continue, answer. Raises what `act` raises."""

    @contextmanager
    def listen(self, conversation_id: str) -> Iterator[asyncio.Queue[Record]]:
        """Yield a queue of the events from now on."""
        queue: asyncio.Queue[Record] = asyncio.Queue(MOST_WAITING)
        self._listening[conversation_id].add(queue)
        try:
            yield queue
        finally:
            self._listening[conversation_id].discard(queue)

    async def page(self, conversation_id: str, asked: EventQuery) -> Page[Record]:
        """Return a page of the log that begins with the event of that id; an unknown id returns the first page."""
        begin = "(SELECT place FROM events WHERE conversation_id = ?1 AND id = ?2)"
        compare, order = ("<=", "DESC") if asked.sort_order == "TIMESTAMP_DESC" else (">=", "ASC")
        condition = f"conversation_id = ?1 AND place {compare} coalesce({begin}, place)"
        limit, page_id = asked.limit, asked.page_id
        order = f" ORDER BY place {order} LIMIT {limit + 1}"
        rows = await self._store.select("events", condition + order, (conversation_id, page_id))
        items = [json.loads(row["body"]) for row in rows[:limit]]
        return Page(items=items, next_page_id=rows[limit]["id"] if len(rows) > limit else None)

    async def _row(self, conversation_id: str) -> sqlite3.Row:
        rows = await self._store.by_ids("conversations", [conversation_id])
        if not rows:
            raise HTTPException(404, "The conversation was deleted.")
        return rows[0]

    async def _happened(self, conversation_id: str, events: Sequence[Record]) -> None:
        """Store events, except fragments of answers, and send all of them to the listeners."""
        kept = [event for event in events if event["kind"] != DELTA]
        async with self._store.transaction() as connection:
            await connection.executemany(
                "INSERT INTO events"
                " SELECT ?1, coalesce(max(place), 0) + 1, ?2, ?3 FROM events WHERE conversation_id = ?1",
                [(conversation_id, event["id"], json.dumps(event)) for event in kept],
            )
            if kept:
                changed = (f"{kept[-1]['timestamp']}Z", conversation_id)
                await connection.execute("UPDATE conversations SET updated_at = ? WHERE id = ?", changed)
        for queue in self._listening[conversation_id]:
            for event in events:
                if not queue.full():
                    queue.put_nowait(event)


def _said(source: str, role: str, parts: Sequence[Record]) -> Record:
    return new_event("MessageEvent", source, str(uuid.uuid4()), datetime.now(UTC), **message(role, parts))
