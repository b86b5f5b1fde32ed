"""The logs of conversations in which, as ever in this service, no agent runs."""

import asyncio
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.local.events import DELTA, NEVER, MessageBody, Policy, message, new_event, text_part
from quarterdeck.local.records import Limit, Page
from quarterdeck.local.runtime.play import Play
from quarterdeck.local.store import Record, Store

NOBODY_ANSWERS = (
    "No agent runs here: this is Quarterdeck's local service. It keeps what is written, fetches no repository, and"
    " nobody answers it."
)
MOST_WAITING = 10_000
"""Events that wait for a listener; one that reads slower than that misses some, and has the log to catch up from."""


@dataclass(frozen=True)
class Asked:
    """Which page of a log is asked for; its id is that of its first event."""

    page_id: str | None = None
    limit: Limit = 100
    sort_order: Literal["TIMESTAMP", "TIMESTAMP_DESC"] = "TIMESTAMP"


class Agents:
    """Keeps what people write in the conversations of a store, in which no agent runs, and says so once in each.

    It is asked by the id of a conversation, which exists. An event has an id of its own; its order is its place in
    the log, which only grows.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._writing = asyncio.Lock()
        self._listening: defaultdict[str, set[asyncio.Queue[Record]]] = defaultdict(set)

    async def begin(self, conversation_id: str) -> None:
        """Make sure that a conversation has its log: its first message, and that nobody answers it."""
        async with self._writing:
            if not await self._store.count("events", "conversation_id = ?", (conversation_id,)):
                (row,) = await self._store.by_ids("conversations", [conversation_id])
                said = [_said("user", "user", [text_part(row["message"])])] if row["message"] else []
                note = _said("environment", "system", [text_part(NOBODY_ANSWERS)])
                await self._happened(conversation_id, [*said, note])

    async def state(self, conversation_id: str) -> Record:
        """How the agent is: idle, as ever."""
        return state_told(ExecutionStatus.IDLE, NEVER, {})

    async def send(self, conversation_id: str, body: MessageBody) -> None:
        """Take a message, and let the agent run if the message says so and there is one."""
        async with self._writing:
            await self._happened(conversation_id, [_said("user", "user", body.parts())])

    async def act(self, conversation_id: str, act: Callable[[Play], None]) -> None:
        """Stop the agent, let it go on, answer it, where there is one. Raises what the act raises."""

    @contextmanager
    def listen(self, conversation_id: str) -> Iterator[asyncio.Queue[Record]]:
        """What happens from now on."""
        queue: asyncio.Queue[Record] = asyncio.Queue(MOST_WAITING)
        self._listening[conversation_id].add(queue)
        try:
            yield queue
        finally:
            self._listening[conversation_id].discard(queue)

    async def page(self, conversation_id: str, asked: Asked) -> Page[Record]:
        """A page of the log that begins with the event of that id; one that is not known gives the first page."""
        begin = "(SELECT place FROM events WHERE conversation_id = ?1 AND id = ?2)"
        compare, order = ("<=", "DESC") if asked.sort_order == "TIMESTAMP_DESC" else (">=", "ASC")
        condition = f"conversation_id = ?1 AND place {compare} coalesce({begin}, place)"
        limit, page_id = asked.limit, asked.page_id
        order = f" ORDER BY place {order} LIMIT {limit + 1}"
        rows = await self._store.select("events", condition + order, (conversation_id, page_id))
        items = [json.loads(row["body"]) for row in rows[:limit]]
        return Page(items=items, next_page_id=rows[limit]["id"] if len(rows) > limit else None)

    async def _happened(self, conversation_id: str, events: Sequence[Record]) -> None:
        """Write down what happened, all but pieces of answers, and tell it to whoever listens."""
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


def state_told(status: str, policy: Policy, stats: Record) -> Record:
    """How an agent is, as its agent server tells it."""
    return {
        "execution_status": status,
        "confirmation_policy": policy.model_dump(),
        "stats": {"usage_to_metrics": stats},
    }


def _said(source: str, role: str, parts: Sequence[Record]) -> Record:
    return new_event("MessageEvent", source, str(uuid.uuid4()), datetime.now(UTC), **message(role, parts))
