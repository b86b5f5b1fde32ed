"""Creating simulated conversations: start tasks whose steps come with time."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus, StartTaskStatus
from quarterdeck.local.bodies import StartConversationBody
from quarterdeck.local.records import StartTaskRecord, stamp
from quarterdeck.local.simulated.records import SimulatedSandbox
from quarterdeck.local.simulated.seeding import a_conversation
from quarterdeck.local.simulated.shelf import Shelf
from quarterdeck.local.simulated.words import SPECS
from quarterdeck.local.simulated.world import World

_STARTING_CONVERSATION = timedelta(seconds=1)
"""How long the last step takes."""
_ENDED = frozenset({StartTaskStatus.READY, StartTaskStatus.ERROR})


@dataclass(slots=True)
class SimulatedTask:
    """The work of creating one conversation."""

    id: str
    conversation_id: str
    request: StartConversationBody
    sandbox_id: str
    created_at: str
    updated_at: str
    status: StartTaskStatus = StartTaskStatus.WORKING
    detail: str | None = None
    entered: datetime | None = field(default=None, repr=False)
    """When its last step began."""

    def record(self) -> StartTaskRecord:
        """What is told of it."""
        request: dict[str, Any] = self.request.model_dump(mode="json")
        working = self.status is StartTaskStatus.WORKING
        return StartTaskRecord(
            id=self.id,
            created_by_user_id=None,
            status=self.status,
            detail=self.detail,
            app_conversation_id=self.conversation_id if self.status is StartTaskStatus.READY else None,
            sandbox_id=None if working else self.sandbox_id,
            agent_server_url=None,
            request=request,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class Creating:
    """The start tasks of a simulation; whoever looks at them first calls `catch_up`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.tasks: Shelf[SimulatedTask] = Shelf()
        self._open: list[SimulatedTask] = []

    def create(self, request: StartConversationBody) -> SimulatedTask:
        """Begin to create a conversation, in the sandbox it asks for or in a new one."""
        world = self._world
        world.catch_up()
        sandbox_id = request.sandbox_id or world.start(SPECS[0]).id
        sandbox = world.sandboxes.get(sandbox_id)
        if sandbox is not None:
            world.resume(sandbox)
        conversation_id = (request.conversation_id or uuid.uuid4()).hex
        moment = stamp(world.now)
        task = SimulatedTask(uuid.uuid4().hex, conversation_id, request, sandbox_id, moment, moment)
        self.tasks.add(task)
        self._open.append(task)
        return task

    def catch_up(self) -> None:
        """Let the time pass that has passed."""
        self._world.catch_up()
        for task in self._open:
            self._go_on(task)
        self._open = [task for task in self._open if task.status not in _ENDED]

    def _go_on(self, task: SimulatedTask) -> None:
        """Enter the next step of a task if it is due."""
        sandbox = self._world.sandboxes.get(task.sandbox_id)
        if sandbox is None or sandbox.status in {SandboxStatus.ERROR, SandboxStatus.MISSING}:
            task.detail = f"500: Sandbox not found: {task.sandbox_id}"
            self._enter(task, StartTaskStatus.ERROR)
        elif not sandbox.runs:
            self._enter(task, StartTaskStatus.WAITING_FOR_SANDBOX)
        elif task.status is not StartTaskStatus.STARTING_CONVERSATION:
            self._enter(task, StartTaskStatus.STARTING_CONVERSATION)
        elif task.entered is not None and self._world.now - task.entered >= _STARTING_CONVERSATION:
            self._add(task, sandbox)
            self._enter(task, StartTaskStatus.READY)

    def _enter(self, task: SimulatedTask, status: StartTaskStatus) -> None:
        if task.status is not status:
            task.status, task.entered = status, self._world.now
            task.updated_at = stamp(self._world.now)

    def _add(self, task: SimulatedTask, sandbox: SimulatedSandbox) -> None:
        request, now = task.request, self._world.now
        conversation = a_conversation(self._world.dice, sandbox, now, now)
        conversation.id = task.conversation_id
        conversation.title = request.title or f"Conversation {task.conversation_id[:5]}"
        conversation.repository, conversation.branch = request.selected_repository, request.selected_branch
        conversation.git_provider = request.git_provider
        conversation.llm_model = request.llm_model or conversation.llm_model
        conversation.agent, conversation.cost = ExecutionStatus.RUNNING, 0.0
        if not self._world.conversations.get(conversation.id):
            self._world.add(conversation)
