"""What happened in conversations: their logs, which only grow, and whoever listens to them."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from quarterdeck.local.records import Page, Window
from quarterdeck.local.store import Record, Store

NEVER: Record = {"kind": "NeverConfirm"}
"""The policy of an agent that asks nothing."""
MOST_WAITING = 10_000
"""Events that wait for a listener; one that reads slower than that misses some, and has the log to catch up from."""


def time_told(moment: datetime) -> str:
    """Write a time as agent servers do, without its zone."""
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds")


class EventLogs:
    """The logs of one store; an event has an id of its own, and its place in the log is its order."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listening: dict[str, set[asyncio.Queue[Record]]] = {}

    async def append(self, conversation_id: str, events: Sequence[Record]) -> None:
        """Write down what happened; `tell` tells it to whoever listens."""
        async with self._store.transaction() as connection:
            await connection.executemany(
                "INSERT INTO events"
                " SELECT ?1, coalesce(max(place), 0) + 1, ?2, ?3 FROM events WHERE conversation_id = ?1",
                [(conversation_id, event["id"], json.dumps(event)) for event in events],
            )

    def tell(self, conversation_id: str, events: Sequence[Record]) -> None:
        """Tell what happened to whoever listens; not all of it has to be written down."""
        for queue in self._listening.get(conversation_id, ()):
            for event in events:
                if queue.qsize() < MOST_WAITING:
                    queue.put_nowait(event)

    @contextmanager
    def listen(self, conversation_id: str) -> Iterator[asyncio.Queue[Record]]:
        """What happens from now on."""
        queue: asyncio.Queue[Record] = asyncio.Queue()
        listening = self._listening.setdefault(conversation_id, set())
        listening.add(queue)
        try:
            yield queue
        finally:
            listening.discard(queue)
            if not listening:
                self._listening.pop(conversation_id, None)

    async def page(self, conversation_id: str, page_id: str | None, limit: int, *, newest_first: bool) -> Page[Record]:
        """A page that begins with the event of that id.

        As on real servers an id that is not known gives the first page.
        """
        begin = await self._store.select("events", "conversation_id = ? AND id = ?", (conversation_id, page_id or ""))
        compare, order = ("<=", "DESC") if newest_first else (">=", "ASC")
        condition = f"place {compare} {begin[0]['place']}" if begin else "1"
        rows = await self._store.select(
            "events",
            f"conversation_id = ? AND {condition} ORDER BY place {order} LIMIT {limit + 1}",
            (conversation_id,),
        )
        items = [json.loads(row["body"]) for row in rows[:limit]]
        return Page(items=items, next_page_id=rows[limit]["id"] if len(rows) > limit else None)

    async def by_time(self, conversation_id: str, window: Window, *, newest_first: bool) -> Page[Record]:
        """A page in the order of time, as app servers keep their copies."""
        order = "DESC" if newest_first else "ASC"
        rows = await self._store.select(
            "events",
            f"conversation_id = ? ORDER BY json_extract(body, '$.timestamp') {order}, place {order}{window.sql}",
            (conversation_id,),
        )
        return window.page([json.loads(row["body"]) for row in rows])

    async def count(self, conversation_id: str) -> int:
        """How many events the log has."""
        return await self._store.count("events", "conversation_id = ?", (conversation_id,))


def made(kind: str, source: str, event_id: str, at: datetime, **members: Any) -> Record:
    """An event, with its members in the order of real ones."""
    return {"id": event_id, "timestamp": time_told(at), "source": source, **members, "kind": kind}


def text_part(text: str) -> Record:
    """A part of a message that is text."""
    return {"cache_prompt": False, "type": "text", "text": text}


def message_members(role: str, parts: Sequence[Record]) -> Record:
    """The members that a message has."""
    said = {"role": role, "content": list(parts), "thinking_blocks": []}
    return {"llm_message": said, "activated_skills": [], "extended_content": []}


def last_message(message_id: str, event_id: str, at: datetime) -> Record:
    """What follows the message of a person."""
    members = {"key": "last_user_message_id", "value": message_id}
    return made("ConversationStateUpdateEvent", "environment", event_id, at, **members)
