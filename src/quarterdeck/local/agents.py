"""The agents of conversations: what can be asked of them, and the service's own answer, which is that none runs."""

import asyncio
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.local.bodies import MessageBody
from quarterdeck.local.errors import RefusalError
from quarterdeck.local.events import EventLogs, made, message_members, text_part
from quarterdeck.local.store import Record, Store

NOBODY_ANSWERS = (
    "No agent runs here: this is Quarterdeck's local service. It keeps what is written, and nobody answers it."
)
NEVER: Record = {"kind": "NeverConfirm"}


class AlreadyRunningError(RefusalError):
    """The agent runs, so it cannot be let go on."""


class Agents(Protocol):
    """The agents of all conversations of a store; each is asked by the id of its conversation, which exists."""

    async def catch_up(self) -> None:
        """Let happen what happened by itself since; asked before anything is told."""

    async def begin(self, conversation_id: str) -> None:
        """Make sure that a conversation has its log, which begins with its first message."""

    async def state(self, conversation_id: str) -> Record:
        """How the agent is."""

    async def send(self, conversation_id: str, message: MessageBody) -> None:
        """Take a message, and let the agent run if the message says so."""

    async def run(self, conversation_id: str) -> None:
        """Let the agent go on, also with what waits to be accepted. Raises `AlreadyRunningError`."""

    async def pause(self, conversation_id: str) -> None:
        """Stop the agent after its step."""

    async def interrupt(self, conversation_id: str) -> None:
        """Stop the agent at once."""

    async def answer(self, conversation_id: str, *, accept: bool, reason: str) -> None:
        """Accept or refuse what waits for it; nothing happens where nothing waits."""

    async def set_policy(self, conversation_id: str, policy: Mapping[str, Any]) -> None:
        """Say when the agent asks before it acts."""


class NoAgents:
    """Keeps what people write in conversations in which no agent runs, and says so once in each."""

    def __init__(self, store: Store, logs: EventLogs) -> None:
        self._store = store
        self._logs = logs
        self._writing = asyncio.Lock()

    async def catch_up(self) -> None:
        """Nothing happens by itself."""

    async def begin(self, conversation_id: str) -> None:
        """Write down the first message, and that nobody answers it."""
        async with self._writing:
            if not await self._logs.count(conversation_id):
                (row,) = await self._store.by_ids("conversations", [conversation_id])
                born = datetime.fromisoformat(row["created_at"])
                said = [_message("user", "user", [text_part(row["message"])], born)] if row["message"] else []
                words = _message("environment", "system", [text_part(NOBODY_ANSWERS)], born)
                await self._logs.append(conversation_id, [*said, words])

    async def state(self, conversation_id: str) -> Record:
        """Idle, as ever."""
        (row,) = await self._store.by_ids("conversations", [conversation_id])
        return told_state(row, ExecutionStatus.IDLE, NEVER, {"usage_to_metrics": {}})

    async def send(self, conversation_id: str, message: MessageBody) -> None:
        """Write it down."""
        now = datetime.now(UTC)
        said = _message("user", "user", [part.model_dump() for part in message.content], now)
        async with self._writing:
            happened = [said, last_message(said["id"], str(uuid.uuid4()), now)]
            await self._logs.append(conversation_id, happened)
            await self._store.run(
                "UPDATE conversations SET updated_at = ? WHERE id = ?", (f"{said['timestamp']}Z", conversation_id)
            )
        self._logs.tell(conversation_id, happened)

    async def run(self, conversation_id: str) -> None:
        """Nothing runs."""

    async def pause(self, conversation_id: str) -> None:
        """Nothing runs."""

    async def interrupt(self, conversation_id: str) -> None:
        """Nothing runs."""

    async def answer(self, conversation_id: str, *, accept: bool, reason: str) -> None:
        """Nothing waits."""

    async def set_policy(self, conversation_id: str, policy: Mapping[str, Any]) -> None:
        """Nothing asks."""


def told_state(row: Any, status: str, policy: Mapping[str, Any], stats: Record) -> Record:
    """A conversation as its agent server tells it; `row` is the stored one."""
    return {
        "id": str(uuid.UUID(row["id"])),
        "title": row["title"],
        "execution_status": status,
        "confirmation_policy": dict(policy),
        "security_analyzer": None if policy["kind"] == NEVER["kind"] else {"kind": "LLMSecurityAnalyzer"},
        "stats": stats,
        "agent": {"kind": "Agent", "llm": {"model": row["llm_model"]}},
        "tags": {},
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }


def last_message(message_id: str, event_id: str, at: datetime) -> Record:
    """What follows the message of a person."""
    members = {"key": "last_user_message_id", "value": message_id}
    return made("ConversationStateUpdateEvent", "environment", event_id, at, **members)


def _message(source: str, role: str, parts: list[Record], at: datetime) -> Record:
    return made("MessageEvent", source, str(uuid.uuid4()), at, **message_members(role, parts))
