"""``POST /api/v1/app-conversations`` and ``start-tasks``: creating a conversation, step by step.

A step is entered only if it does something.
"""

import asyncio
import os
import sqlite3
import uuid
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import Json

from quarterdeck.client.models.enums import SandboxStatus, StartTaskStatus
from quarterdeck.local.bodies import Body
from quarterdeck.local.conversations import Conversations, StartConversationBody
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.records import Page, Paging, hex_ids, now
from quarterdeck.local.runtime.sessions import identify, live_process
from quarterdeck.local.sandboxes import Identity, Sandboxes
from quarterdeck.local.settings import Settings
from quarterdeck.local.store import Ownership, Store

_UNDER_WAY = "status NOT IN ('READY', 'ERROR')"
_ASKED_AGAIN = 1.0
"""Seconds between two requests for a folder that another service owns."""


class StartTaskRecord(Body):
    """The creation of one conversation."""

    id: str
    status: str
    detail: str | None
    app_conversation_id: str | None
    sandbox_id: str | None
    request: Json[dict[str, Any]]
    created_at: str
    updated_at: str


class StartTasks:
    """The start tasks of one store; conversations without a model use the one in the settings."""

    def __init__(self, store: Store, sandboxes: Sandboxes, conversations: Conversations, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._sandboxes = sandboxes
        self._conversations = conversations

    async def page(self, window: Paging) -> Page[StartTaskRecord]:
        """Return a page of start tasks, newest first."""
        rows = await self._store.select("start_tasks", "1" + window.sql)
        return window.page([_record(row) for row in rows])

    async def read(self, ids: Annotated[list[str], Query()]) -> list[StartTaskRecord | None]:
        """Return start tasks by id, null for those that do not exist."""
        wanted = hex_ids(ids)
        found = {row["id"]: _record(row) for row in await self._store.by_ids("start_tasks", wanted)}
        return [found.get(one) for one in wanted]

    async def go_on(self, ownership: Ownership) -> None:
        """Continue the tasks whose service ended before they did, once the folder is ours."""
        while not ownership.held():  # noqa: ASYNC110 - the system tells nobody that a lock is free
            await asyncio.sleep(_ASKED_AGAIN)
        for row in await self._store.select("start_tasks", _UNDER_WAY):
            runner = Identity(row["runner_pid"], row["runner_ticks"], row["runner_boot"])
            if runner == identify(os.getpid()) or live_process(runner) is None:
                self._store.changes.begin(self._work(row))

    async def create(self, body: StartConversationBody) -> StartTaskRecord:
        """Start creating a conversation; returns its start task."""
        task_id, runner = uuid.uuid4().hex, identify(os.getpid())
        assert runner, "this process runs"
        row = {
            "id": task_id,
            "status": StartTaskStatus.WORKING,
            "conversation_id": uuid.uuid4().hex,
            "request": body.model_dump_json(),
            "created_at": now(),
            "updated_at": now(),
            "runner_pid": runner.pid,
            "runner_ticks": runner.ticks,
            "runner_boot": runner.boot,
        }
        await self._store.insert("start_tasks", row)
        (task,) = await self._store.by_ids("start_tasks", [task_id])
        self._store.changes.begin(self._work(task))
        return _record(task)

    async def _work(self, task: sqlite3.Row) -> None:
        try:
            await self._take_steps(task)
        except (LocalServiceError, HTTPException, OSError, sqlite3.Error) as error:
            await self._enter(task, StartTaskStatus.ERROR, detail=str(error))

    async def _take_steps(self, task: sqlite3.Row) -> None:
        request = StartConversationBody.model_validate_json(task["request"])
        sandbox_id = await self._store.changes.run(self._take_sandbox(task, request.sandbox_id))
        await self._sandboxes.until_ready(sandbox_id)
        await self._enter(task, StartTaskStatus.STARTING_CONVERSATION)
        model = request.llm_model or await self._settings.llm_model()
        await self._conversations.add(task["conversation_id"], sandbox_id, request, model)
        await self._sandboxes.agents.begin(task["conversation_id"])
        await self._enter(task, StartTaskStatus.READY)

    async def _take_sandbox(self, task: sqlite3.Row, wanted: str | None) -> str:
        """Return the sandbox of the conversation, the requested one or a new one, and store it in the task."""
        sandbox_id: str | None = task["sandbox_id"] or wanted
        status = None
        if sandbox_id is None:
            sandbox_id = await self._sandboxes.start(self._sandboxes.specs[0])
        else:
            sandbox = await self._sandboxes.one(sandbox_id)
            if sandbox is None or sandbox.status in {SandboxStatus.MISSING, SandboxStatus.ERROR}:
                raise LocalServiceError(f"There is no sandbox {sandbox_id} that runs or could go on.")
            status = sandbox.status
            if status is SandboxStatus.PAUSED:
                await self._sandboxes.resume(sandbox_id)
        await self._store.run("UPDATE start_tasks SET sandbox_id = ? WHERE id = ?", (sandbox_id, task["id"]))
        if status is not SandboxStatus.RUNNING:
            await self._enter(task, StartTaskStatus.WAITING_FOR_SANDBOX)
        return sandbox_id

    async def _enter(self, task: sqlite3.Row, step: StartTaskStatus, *, detail: str | None = None) -> None:
        await self._store.run(
            "UPDATE start_tasks SET status = ?, detail = ?, updated_at = ? WHERE id = ?",
            (step, detail, now(), task["id"]),
        )


def _record(row: sqlite3.Row) -> StartTaskRecord:
    ready = row["status"] == StartTaskStatus.READY
    return StartTaskRecord(**row, app_conversation_id=row["conversation_id"] if ready else None)


def start_tasks_router(start_tasks: StartTasks) -> APIRouter:
    """Return the router to create conversations, and to list and read start tasks."""
    router = APIRouter(prefix="/app-conversations", tags=["Conversations"])

    router.add_api_route("", start_tasks.create, methods=["POST"])
    router.add_api_route("/start-tasks/search", start_tasks.page)
    router.add_api_route("/start-tasks", start_tasks.read)
    return router
