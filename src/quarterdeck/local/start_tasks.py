"""Start tasks: the work of creating a conversation, step by step; a step is entered only if it does something."""

import json
import os
import sqlite3
import uuid
from collections.abc import Awaitable, Callable, Sequence

from quarterdeck.client.models.enums import SandboxStatus, StartTaskStatus
from quarterdeck.local.bodies import StartConversationBody
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.errors import LocalServiceError, SandboxError
from quarterdeck.local.records import Page, StartTaskRecord, Window, now
from quarterdeck.local.repository import Repository
from quarterdeck.local.runtime.base import Identity
from quarterdeck.local.runtime.sessions import Seen, identify, look
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.store import Store

_UNDER_WAY = "status NOT IN ('READY', 'ERROR')"


class StartTasks:
    """The start tasks of one data folder; `llm_model` gives the model of conversations that name none."""

    def __init__(
        self,
        store: Store,
        sandboxes: Sandboxes,
        conversations: Conversations,
        llm_model: Callable[[], Awaitable[str | None]],
    ) -> None:
        self._store = store
        self._llm_model = llm_model
        self._sandboxes = sandboxes
        self._conversations = conversations

    async def page(self, window: Window) -> Page[StartTaskRecord]:
        """One page, newest first."""
        rows = await self._store.select("start_tasks", f"1 ORDER BY created_at DESC, rowid DESC{window.sql}")
        return window.page([_record(row) for row in rows])

    async def read(self, ids: Sequence[str]) -> dict[str, StartTaskRecord]:
        """Those of these tasks that exist, by id."""
        return {row["id"]: _record(row) for row in await self._store.by_ids("start_tasks", ids)}

    async def go_on(self) -> None:
        """Take up the tasks whose service ended before they did."""
        for row in await self._store.select("start_tasks", _UNDER_WAY):
            runner = Identity(row["runner_pid"], row["runner_ticks"], row["runner_boot"])
            if runner == _self() or look(runner) is Seen.GONE:
                self._store.changes.begin(self._work(row))

    async def create(self, request: StartConversationBody) -> StartTaskRecord:
        """Begin the work of creating a conversation and give its task as it begins."""
        task_id, created_at, runner = uuid.uuid4().hex, now(), _self()
        conversation_id = request.conversation_id.hex if request.conversation_id else uuid.uuid4().hex
        taken = conversation_id in await self._conversations.read([conversation_id]) or await self._store.count(
            "start_tasks", f"{_UNDER_WAY} AND conversation_id = ?", (conversation_id,)
        )
        await self._store.run(
            "INSERT INTO start_tasks VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?)",
            (
                task_id,
                StartTaskStatus.ERROR if taken else StartTaskStatus.WORKING,
                f"There is a conversation {conversation_id} already." if taken else None,
                conversation_id,
                request.model_dump_json(),
                *(created_at, created_at),
                *(runner.pid, runner.ticks, runner.boot),
            ),
        )
        (task,) = await self._store.by_ids("start_tasks", [task_id])
        if not taken:
            self._store.changes.begin(self._work(task))
        return _record(task)

    async def _work(self, task: sqlite3.Row) -> None:
        try:
            await self._take_steps(task)
        except (LocalServiceError, OSError, sqlite3.Error) as error:
            await self._enter(task, StartTaskStatus.ERROR, detail=str(error))

    async def _take_steps(self, task: sqlite3.Row) -> None:
        request = StartConversationBody.model_validate_json(task["request"])
        sandbox_id = await self._store.changes.run(self._take_sandbox(task, request.sandbox_id))
        sandbox = (await self._sandboxes.read([sandbox_id])).get(sandbox_id)
        if sandbox is None or sandbox.status is not SandboxStatus.RUNNING:
            await self._enter(task, StartTaskStatus.WAITING_FOR_SANDBOX)
            await self._sandboxes.until_ready(sandbox_id)
        if request.selected_repository:
            repository = Repository.named(request.selected_repository, request.selected_branch, request.git_provider)
            workspace = self._sandboxes.runtime.workspace(sandbox_id)
            if workspace and not (workspace / repository.name).exists():
                await self._enter(task, StartTaskStatus.PREPARING_REPOSITORY)
                await repository.fetch(workspace)
        await self._enter(task, StartTaskStatus.STARTING_CONVERSATION)
        model = request.llm_model or await self._llm_model()
        await self._conversations.add(task["conversation_id"], sandbox_id, request, model)
        await self._sandboxes.runtime.agents.begin(task["conversation_id"])
        await self._enter(task, StartTaskStatus.READY)

    async def _take_sandbox(self, task: sqlite3.Row, wanted: str | None) -> str:
        """The sandbox the conversation belongs to, noted in the task: the one asked for, or a new one."""
        sandbox_id: str | None = task["sandbox_id"] or wanted
        if sandbox_id is None:
            sandbox_id = await self._sandboxes.runtime.start(self._sandboxes.runtime.specs[0])
        else:
            sandbox = (await self._sandboxes.read([sandbox_id])).get(sandbox_id)
            if sandbox is None:
                raise SandboxError(f"There is no sandbox {sandbox_id}.")
            if sandbox.status in {SandboxStatus.MISSING, SandboxStatus.ERROR}:
                raise SandboxError(f"Sandbox {sandbox_id} is not running ({sandbox.status}).")
            if sandbox.status is SandboxStatus.PAUSED:
                await self._sandboxes.runtime.resume(sandbox_id)
        await self._store.run("UPDATE start_tasks SET sandbox_id = ? WHERE id = ?", (sandbox_id, task["id"]))
        return sandbox_id

    async def _enter(self, task: sqlite3.Row, step: StartTaskStatus, *, detail: str | None = None) -> None:
        await self._store.run(
            "UPDATE start_tasks SET status = ?, detail = ?, updated_at = ? WHERE id = ?",
            (step, detail, now(), task["id"]),
        )


def _self() -> Identity:
    """This very process."""
    identity = identify(os.getpid())
    if identity is None:
        raise LocalServiceError("The system does not tell of this process.")
    return identity


def _record(row: sqlite3.Row) -> StartTaskRecord:
    ready = row["status"] == StartTaskStatus.READY
    return StartTaskRecord(
        id=row["id"],
        created_by_user_id=None,
        status=row["status"],
        detail=row["detail"],
        app_conversation_id=row["conversation_id"] if ready else None,
        sandbox_id=row["sandbox_id"],
        agent_server_url=None,
        request=json.loads(row["request"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
