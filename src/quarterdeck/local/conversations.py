"""``/api/v1/app-conversations``: conversations as they are stored and returned; each belongs to a sandbox."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query
from pydantic import Json, StringConstraints

from quarterdeck.client.models.enums import GitProvider, SandboxStatus
from quarterdeck.local.bodies import Body, Trimmed
from quarterdeck.local.events import CONTEXT, DOLLARS_PER_TOKEN, MessageBody
from quarterdeck.local.records import AgentServerUrl, Done, Page, Paging, hex_ids, now
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.store import Store

_LISTED = """(SELECT rowid, *, repository AS selected_repository, branch AS selected_branch,
    parent_id AS parent_conversation_id, (
        SELECT json_group_array(id) FROM conversations AS sub WHERE sub.parent_id = conversations.id
    ) AS sub_conversation_ids
FROM conversations)"""
"""Conversations under the names of the interface, with the ids of their sub-conversations."""
_WANTED = "instr(lower(title), lower(coalesce(?, ''))) > 0 AND (? OR parent_id IS NULL)"
"""The condition of a list: these words in the title, and sub-conversations only if requested."""
_TITLE_FROM_MESSAGE = 100
"""Characters of a message that become a title."""


class StartConversationBody(Body):
    """What a conversation is created with; unknown members are ignored, as on real servers."""

    sandbox_id: str | None = None
    initial_message: MessageBody | None = None
    llm_model: str | None = None
    selected_repository: str | None = None
    selected_branch: str | None = None
    git_provider: GitProvider | None = None
    title: Trimmed | None = None
    trigger: str | None = None
    pr_number: list[int] = []
    parent_conversation_id: UUID | None = None
    public: bool | None = None


class ChangeConversationBody(Body):
    """What can be changed in a conversation; null and missing members change nothing (release 1.11)."""

    title: Annotated[Trimmed, StringConstraints(min_length=1)] | None = None
    public: bool | None = None


class ConversationRecord(Body):
    """A conversation in a response; the agent's status is included only while its sandbox runs."""

    id: str
    sandbox_id: str
    selected_repository: str | None
    selected_branch: str | None
    git_provider: str | None
    title: str | None
    trigger: str | None
    pr_number: Json[list[int]]
    llm_model: str | None
    metrics: dict[str, Any] | None
    parent_conversation_id: str | None
    sub_conversation_ids: Json[list[str]]
    public: bool | None
    created_at: str
    updated_at: str
    sandbox_status: str
    execution_status: str | None = None
    conversation_url: str | None = None
    session_api_key: str | None = None


class Conversations:
    """The conversations of one store; `agent_server` is the address for requests to agents."""

    def __init__(self, store: Store, sandboxes: Sandboxes) -> None:
        self._store = store
        self._sandboxes = sandboxes

    async def page(
        self,
        window: Paging,
        agents: AgentServerUrl,
        title__contains: str | None = None,
        include_sub_conversations: bool = False,
    ) -> Page[ConversationRecord]:
        """Return a page of conversations, newest first."""
        wanted = (title__contains, include_sub_conversations)
        rows = await self._store.select(_LISTED, _WANTED + window.sql, wanted)
        return window.page(await self._records(rows, agents))

    async def count(self, title__contains: str | None = None, include_sub_conversations: bool = False) -> int:
        """Return how many conversations there are."""
        return await self._store.count("conversations", _WANTED, (title__contains, include_sub_conversations))

    async def read(self, ids: Sequence[str], agent_server: str = "") -> dict[str, ConversationRecord]:
        """Return those of these conversations that exist, by id."""
        rows = await self._store.by_ids(_LISTED, ids)
        return {record.id: record for record in await self._records(rows, agent_server)}

    async def add(self, conversation_id: str, sandbox_id: str, new: StartConversationBody, model: str | None) -> None:
        """Store a conversation, unless it exists already."""
        message = new.initial_message.text() if new.initial_message else None
        row = {
            "id": conversation_id,
            "sandbox_id": sandbox_id,
            "title": new.title or _title_of(message) or f"Conversation {conversation_id[:5]}",
            "message": message,
            "repository": new.selected_repository,
            "branch": new.selected_branch,
            "git_provider": new.git_provider,
            "trigger": new.trigger,
            "pr_number": json.dumps(new.pr_number),
            "llm_model": model,
            "parent_id": new.parent_conversation_id.hex if new.parent_conversation_id else None,
            "public": new.public,
            "created_at": now(),
            "updated_at": now(),
        }
        await self._store.insert("conversations", row)

    async def _records(self, rows: Sequence[sqlite3.Row], agent_server: str) -> list[ConversationRecord]:
        sandboxes = await self._sandboxes.read({row["sandbox_id"] for row in rows})
        records = []
        for row in rows:
            sandbox = sandboxes.get(row["sandbox_id"])
            told: dict[str, str] = {"sandbox_status": sandbox.status if sandbox else SandboxStatus.MISSING}
            if sandbox and sandbox.status is SandboxStatus.RUNNING:
                told |= {
                    "execution_status": row["agent"],
                    "conversation_url": f"{agent_server}/api/conversations/{row['id']}",
                    "session_api_key": sandbox.key.get_secret_value(),
                }
            records.append(ConversationRecord(**row, **told, metrics=_metrics(row["cost"])))
        return records


def _title_of(message: str | None) -> str:
    """Return the first line of a message that is not blank, shortened."""
    lines = (line.strip() for line in (message or "").splitlines())
    return next((line[:_TITLE_FROM_MESSAGE] for line in lines if line), "")


def _metrics(cost: float | None) -> dict[str, Any] | None:
    """Return the cost of a conversation, with plausible token counts; None if no agent ever ran."""
    if cost is None:
        return None
    tokens = int(cost / DOLLARS_PER_TOKEN)
    usage = {"prompt_tokens": tokens * 9 // 10, "completion_tokens": tokens // 10, "context_window": CONTEXT}
    return {"accumulated_cost": round(cost, 4), "accumulated_token_usage": usage}


def conversations_router(store: Store, conversations: Conversations) -> APIRouter:
    """Return the router to list, count, change and delete conversations."""
    router = APIRouter(prefix="/app-conversations", tags=["Conversations"])

    router.add_api_route("/search", conversations.page)
    router.add_api_route("/count", conversations.count)

    @router.get("")
    async def read(
        window: Paging, agents: AgentServerUrl, ids: Annotated[list[str] | None, Query()] = None
    ) -> list[ConversationRecord | None] | Page[ConversationRecord]:
        """Return conversations by id, null for those that do not exist; without ids the list, as documented."""
        if ids is None:
            return await conversations.page(window, agents)
        wanted = hex_ids(ids)
        found = await conversations.read(wanted, agents)
        return [found.get(one) for one in wanted]

    @router.patch("/{conversation_id}")
    async def change(conversation_id: UUID, body: ChangeConversationBody, agents: AgentServerUrl) -> ConversationRecord:
        """Change title or visibility of a conversation."""
        if body.title is not None or body.public is not None:
            await store.run(
                "UPDATE conversations SET title = coalesce(?, title), public = coalesce(?, public) WHERE id = ?",
                (body.title, body.public, conversation_id.hex),
            )
        found = await conversations.read([conversation_id.hex], agents)
        if not found:
            raise HTTPException(404, "unknown_app_conversation")
        return found[conversation_id.hex]

    @router.delete("/{conversation_id}")
    async def delete(conversation_id: UUID) -> Done:
        """Delete a conversation and its start task; its sandbox stays."""
        if not await store.run("DELETE FROM conversations WHERE id = ?", (conversation_id.hex,)):
            raise HTTPException(404, "Conversation not found")
        await store.run("DELETE FROM start_tasks WHERE conversation_id = ?", (conversation_id.hex,))
        return Done(success=True)

    return router
