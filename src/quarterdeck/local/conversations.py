"""Conversations as they are stored; each belongs to a sandbox."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.bodies import ChangeConversationBody, StartConversationBody
from quarterdeck.local.records import ConversationRecord, Page, Window, now, stamp
from quarterdeck.local.runtime.base import Sandbox
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.store import Store

_LISTED = """(SELECT rowid, *, (
    SELECT json_group_array(id) FROM conversations AS sub WHERE sub.parent_id = conversations.id
) AS sub_ids FROM conversations)"""
"""Conversations with the ids of those they are parents of."""
_DOLLARS_PER_TOKEN = 4e-6
_TITLE_FROM_MESSAGE = 100
"""Characters of a message that make a title."""


@dataclass(frozen=True)
class Filters:
    """What a list of conversations is narrowed to; None does not narrow."""

    title__contains: str | None = None
    created_at__gte: datetime | None = None
    created_at__lt: datetime | None = None
    updated_at__gte: datetime | None = None
    updated_at__lt: datetime | None = None
    sandbox_id__eq: str | None = None
    include_sub_conversations: bool = False

    def sql(self) -> tuple[str, list[str | bool]]:
        """The condition of a query, and its parameters."""
        terms = (
            ("instr(lower(title), lower(?)) > 0", self.title__contains),
            ("created_at >= ?", self.created_at__gte),
            ("created_at < ?", self.created_at__lt),
            ("updated_at >= ?", self.updated_at__gte),
            ("updated_at < ?", self.updated_at__lt),
            ("sandbox_id = ?", self.sandbox_id__eq),
            ("(? OR parent_id IS NULL)", self.include_sub_conversations),
        )
        used = [(term, value) for term, value in terms if value is not None]
        parameters = [stamp(value) if isinstance(value, datetime) else value for _, value in used]
        return " AND ".join(term for term, _ in used), parameters


class Conversations:
    """The conversations of one data folder."""

    def __init__(self, store: Store, sandboxes: Sandboxes) -> None:
        self._store = store
        self._sandboxes = sandboxes

    async def page(self, filters: Filters, window: Window, agent_server: str) -> Page[ConversationRecord]:
        """One page, newest first; `agent_server` is where agents are asked."""
        condition, parameters = filters.sql()
        order = " ORDER BY created_at DESC, rowid DESC"
        rows = await self._store.select(_LISTED, condition + order + window.sql, parameters)
        return window.page(await self._records(rows, agent_server))

    async def count(self, filters: Filters) -> int:
        """How many there are."""
        condition, parameters = filters.sql()
        return await self._store.count("conversations", condition, parameters)

    async def read(self, ids: Sequence[str], agent_server: str = "") -> dict[str, ConversationRecord]:
        """Those of these conversations that exist, by id."""
        rows = await self._store.by_ids(_LISTED, ids)
        return {record["id"]: record for record in await self._records(rows, agent_server)}

    async def add(self, conversation_id: str, sandbox_id: str, new: StartConversationBody, model: str | None) -> None:
        """Store a conversation, unless it is already there."""
        moment = now()
        message = new.initial_message.text() if new.initial_message else None
        await self._store.run(
            "INSERT OR IGNORE INTO conversations (id, sandbox_id, title, message, repository, branch, git_provider,"
            " trigger, pr_number, llm_model, parent_id, public, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                conversation_id,
                sandbox_id,
                new.title or _title_of(message) or f"Conversation {conversation_id[:5]}",
                message,
                new.selected_repository,
                new.selected_branch,
                new.git_provider,
                new.trigger,
                json.dumps(new.pr_number),
                model,
                new.parent_conversation_id.hex if new.parent_conversation_id else None,
                new.public,
                *(moment, moment),
            ),
        )

    async def change(
        self, conversation_id: str, changes: ChangeConversationBody, agent_server: str
    ) -> ConversationRecord | None:
        """Change title or publicity and give the record; None when there is no such conversation."""
        if changes.title is not None or changes.public is not None:
            await self._store.run(
                "UPDATE conversations SET title = coalesce(?, title), public = coalesce(?, public), updated_at = ?"
                " WHERE id = ?",
                (changes.title, changes.public, now(), conversation_id),
            )
        return (await self.read([conversation_id], agent_server)).get(conversation_id)

    async def delete(self, conversation_id: str) -> bool:
        """Delete a conversation, not its sandbox; False when there is none."""
        return await self._store.run("DELETE FROM conversations WHERE id = ?", (conversation_id,)) > 0

    async def _records(self, rows: Sequence[sqlite3.Row], agent_server: str) -> list[ConversationRecord]:
        sandboxes = await self._sandboxes.read({row["sandbox_id"] for row in rows})
        return [_record(row, sandboxes.get(row["sandbox_id"]), agent_server) for row in rows]


def _record(row: sqlite3.Row, sandbox: Sandbox | None, agent_server: str) -> ConversationRecord:
    status = sandbox.status if sandbox else SandboxStatus.MISSING
    running = status is SandboxStatus.RUNNING
    return ConversationRecord(
        id=row["id"],
        created_by_user_id=None,
        sandbox_id=row["sandbox_id"],
        selected_repository=row["repository"],
        selected_branch=row["branch"],
        git_provider=row["git_provider"],
        title=row["title"],
        trigger=row["trigger"],
        pr_number=_list(row["pr_number"]),
        llm_model=row["llm_model"],
        metrics=_metrics(row["llm_model"], row["cost"]),
        parent_conversation_id=row["parent_id"],
        sub_conversation_ids=_list(row["sub_ids"]),
        public=None if row["public"] is None else bool(row["public"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        sandbox_status=status,
        execution_status=row["agent"] if running else None,
        conversation_url=f"{agent_server}/api/conversations/{row['id']}" if running else None,
        session_api_key=sandbox.key.get_secret_value() if sandbox and running else None,
    )


def _list(text: str) -> list[Any]:
    """A stored list; nearly all are empty, and reading them is much of what a page costs."""
    return [] if text == "[]" else list(json.loads(text))


def _title_of(message: str | None) -> str:
    """The first line of a message that says something, cut."""
    lines = (line.strip() for line in (message or "").splitlines())
    return next((line[:_TITLE_FROM_MESSAGE] for line in lines if line), "")


def _metrics(model: str | None, cost: float | None) -> dict[str, Any] | None:
    """What a conversation has cost, with tokens to match; None where no agent ever ran."""
    if cost is None:
        return None
    tokens = int(cost / _DOLLARS_PER_TOKEN)
    usage = {"prompt_tokens": tokens * 9 // 10, "completion_tokens": tokens // 10, "context_window": 200_000}
    return {
        "model_name": model,
        "accumulated_cost": round(cost, 4),
        "max_budget_per_task": None,
        "accumulated_token_usage": usage,
    }
