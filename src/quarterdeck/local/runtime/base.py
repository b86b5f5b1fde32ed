"""A stored sandbox, and what the service needs of whatever makes sandboxes."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import SecretStr

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.agents import Agents
from quarterdeck.local.records import ExposedUrl
from quarterdeck.local.specs import Spec

READY_WITHIN = 20.0
"""Seconds that a sandbox has to answer before its silence is an error."""


@dataclass(frozen=True)
class Identity:
    """One process and no other: its pid, when it started in clock ticks since boot, and which boot."""

    pid: int
    ticks: int
    boot: str


NO_PROCESS = Identity(0, 0, "")
"""What leads a sandbox of which nothing runs."""


@dataclass(frozen=True)
class Sandbox:
    """A sandbox; `status` is the last one that was seen, `has_run` whether it ever was RUNNING."""

    id: str
    spec_id: str
    created_at: str
    key: SecretStr
    status: SandboxStatus
    has_run: bool = False
    port: int | None = None
    leader: Identity = NO_PROCESS

    @classmethod
    def of(cls, row: sqlite3.Row) -> "Sandbox":
        """Read a stored one."""
        return cls(
            id=row["id"],
            spec_id=row["spec_id"],
            created_at=row["created_at"],
            key=SecretStr(row["key"]),
            status=SandboxStatus(row["status"]),
            has_run=bool(row["has_run"]),
            port=row["port"],
            leader=Identity(row["pid"], row["ticks"], row["boot"]),
        )


class Runtime(Protocol):
    """Makes sandboxes, keeps their rows, and has the agents in them; a change is done whole by whoever asks for it."""

    @property
    def agents(self) -> Agents:
        """The agents of the conversations that live in the sandboxes."""

    @property
    def specs(self) -> Sequence[Spec]:
        """What a sandbox can be started from; the first is the default."""

    @property
    def answers_when_ready(self) -> bool:
        """Whether the answer to a start waits until the sandbox is ready."""

    async def catch_up(self) -> None:
        """Let happen what happened by itself since; asked before anything is told."""

    async def look(self, sandboxes: Sequence[Sandbox]) -> list[Sandbox]:
        """What became of these sandboxes."""

    def addresses(self, sandbox: Sandbox, agent_server: str) -> list[ExposedUrl]:
        """Where a running sandbox is reached; the addresses hold its key. `agent_server` is where agents are asked."""

    def workspace(self, sandbox_id: str) -> Path | None:
        """The folder a sandbox works in; None when it has none."""

    def last_words(self, sandbox_id: str) -> str:
        """The last line a sandbox wrote, if any. Blocks."""

    async def start(self, spec: Spec) -> str:
        """Begin a new sandbox and give its id. Raises `SandboxError`."""

    async def pause(self, sandbox_id: str) -> bool:
        """Stop a sandbox; False when there is nothing to stop."""

    async def resume(self, sandbox_id: str) -> bool:
        """Let a sandbox go on; False when there is nothing that could."""

    async def delete(self, sandbox_id: str) -> bool:
        """End a sandbox and remove all of it; False when there is none."""
