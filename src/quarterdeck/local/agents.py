"""The agents of conversations: what can be asked of them, and the service's own answer, which is that none runs."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.local.bodies import MessageBody
from quarterdeck.local.events import NEVER, EventLogs, last_message, made, message_members, text_part
from quarterdeck.local.runtime.play import Play
from quarterdeck.local.store import Record, Store

NOBODY_ANSWERS = (
    "No agent runs here: this is Quarterdeck's local service. It keeps what is written, and nobody answers it."
)


class Agents(Protocol):
    """The agents of all conversations of a store; each is asked by the id of its conversation, which exists."""

    logs: EventLogs

    async def begin(self, conversation_id: str) -> None:
        """Make sure that a conversation has its log, which begins with its first message."""

    async def state(self, conversation_id: str) -> Record:
        """How the agent is."""

    async def send(self, conversation_id: str, message: MessageBody) -> None:
        """Take a message, and let the agent run if the message says so."""

    async def act(self, conversation_id: str, act: Callable[[Play], None]) -> None:
        """Stop the agent, let it go on, answer it; done once its tools have ended, if it waits for them.

        Raises `AlreadyRunningError`.
        """


class NoAgents:
    """Keeps what people write in conversations in which no agent runs, and says so once in each."""

    def __init__(self, store: Store) -> None:
        self.logs = EventLogs(store)
        self._store = store
        self._writing = asyncio.Lock()

    async def begin(self, conversation_id: str) -> None:
        """Write down the first message, and that nobody answers it."""
        async with self._writing:
            if not await self.logs.count(conversation_id):
                (row,) = await self._store.by_ids("conversations", [conversation_id])
                born = datetime.fromisoformat(row["created_at"])
                said = [_message("user", "user", [text_part(row["message"])], born)] if row["message"] else []
                words = _message("environment", "system", [text_part(NOBODY_ANSWERS)], born)
                await self.logs.append(conversation_id, [*said, words])

    async def state(self, conversation_id: str) -> Record:
        """Idle, as ever."""
        (row,) = await self._store.by_ids("conversations", [conversation_id])
        return told_state(row, ExecutionStatus.IDLE, NEVER, {"usage_to_metrics": {}})

    async def send(self, conversation_id: str, message: MessageBody) -> None:
        """Write it down."""
        now = datetime.now(UTC)
        said = _message("user", "user", [part.model_dump() for part in message.content], now)
        happened = [said, last_message(said["id"], str(uuid.uuid4()), now)]
        async with self._writing:
            await self.logs.append(conversation_id, happened)
            await self._store.run(
                "UPDATE conversations SET updated_at = ? WHERE id = ?", (f"{said['timestamp']}Z", conversation_id)
            )
        self.logs.tell(conversation_id, happened)

    async def act(self, conversation_id: str, act: Callable[[Play], None]) -> None:
        """Nobody is there to do it."""


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


def _message(source: str, role: str, parts: list[Record], at: datetime) -> Record:
    return made("MessageEvent", source, str(uuid.uuid4()), at, **message_members(role, parts))
