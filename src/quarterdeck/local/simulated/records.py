"""The records that are pretended: plain data, and the bytes they are told in, made once until they change."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus, UrlName
from quarterdeck.local.records import ConversationRecord, ExposedUrl, SandboxRecord

NOWHERE = "http://127.0.0.1:1/simulated"
"""Where simulated sandboxes say that they are: nothing listens at port 1."""
_DOLLARS_PER_TOKEN = 4e-6


class Told(Protocol):
    """A record that can be told."""

    def told(self) -> bytes:
        """It as JSON."""
        ...


@dataclass(slots=True)
class SimulatedSandbox:
    """A sandbox that is pretended; call `changed` after changing it."""

    id: str
    spec_id: str
    created_at: str
    key: str
    status: SandboxStatus
    turn: int = 0
    """How often it was set on another way, so that the end of an earlier one is known to be over."""
    _bytes: bytes | None = field(default=None, repr=False)

    @property
    def runs(self) -> bool:
        """Whether its key and addresses are told."""
        return self.status is SandboxStatus.RUNNING

    @property
    def address(self) -> str:
        """Where its agent server would be."""
        return f"{NOWHERE}/{self.id}"

    def changed(self) -> None:
        """Tell it anew."""
        self._bytes = None

    def told(self) -> bytes:
        """It as JSON."""
        if self._bytes is None:
            self._bytes = _json(self._record())
        return self._bytes

    def _record(self) -> SandboxRecord:
        return SandboxRecord(
            id=self.id,
            created_by_user_id=None,
            sandbox_spec_id=self.spec_id,
            status=self.status,
            session_api_key=self.key if self.runs else None,
            exposed_urls=self._addresses() if self.runs else None,
            created_at=self.created_at,
        )

    def _addresses(self) -> list[ExposedUrl]:
        return [
            ExposedUrl(name=UrlName.AGENT_SERVER, url=self.address, port=1),
            ExposedUrl(name=UrlName.VSCODE, url=f"{self.address}/vscode/?tkn={self.key}&folder=workspace", port=1),
            ExposedUrl(name=UrlName.WORKER_1, url=f"{self.address}/worker-1", port=1),
        ]


@dataclass(slots=True)
class SimulatedConversation:
    """A conversation that is pretended; call `changed` after changing it or its sandbox."""

    id: str
    sandbox_id: str
    sandbox: SimulatedSandbox | None
    """None when it is gone."""
    title: str
    repository: str | None
    branch: str | None
    git_provider: str | None
    trigger: str | None
    llm_model: str | None
    agent: ExecutionStatus
    cost: float
    created_at: str
    updated_at: str
    public: bool | None = None
    _bytes: bytes | None = field(default=None, repr=False)

    def changed(self) -> None:
        """Tell it anew."""
        self._bytes = None

    def told(self) -> bytes:
        """It as JSON."""
        if self._bytes is None:
            self._bytes = _json(self._record())
        return self._bytes

    def _record(self) -> ConversationRecord:
        sandbox = self.sandbox
        runs = sandbox is not None and sandbox.runs
        return ConversationRecord(
            id=self.id,
            created_by_user_id=None,
            sandbox_id=self.sandbox_id,
            selected_repository=self.repository,
            selected_branch=self.branch,
            git_provider=self.git_provider,
            title=self.title,
            trigger=self.trigger,
            pr_number=[],
            llm_model=self.llm_model,
            metrics=self._metrics(),
            parent_conversation_id=None,
            sub_conversation_ids=[],
            public=self.public,
            created_at=self.created_at,
            updated_at=self.updated_at,
            sandbox_status=sandbox.status if sandbox else SandboxStatus.MISSING,
            execution_status=self.agent if runs else None,
            conversation_url=f"{sandbox.address}/api/conversations/{self.id}" if sandbox and runs else None,
            session_api_key=sandbox.key if sandbox and runs else None,
        )

    def _metrics(self) -> dict[str, Any]:
        tokens = int(self.cost / _DOLLARS_PER_TOKEN)
        usage = {"prompt_tokens": tokens * 9 // 10, "completion_tokens": tokens // 10, "context_window": 200_000}
        return {
            "model_name": self.llm_model,
            "accumulated_cost": round(self.cost, 4),
            "max_budget_per_task": None,
            "accumulated_token_usage": usage,
        }


def told_page(records: Iterable[Told], next_page_id: str | None) -> bytes:
    """A page of records as JSON."""
    return b'{"items":%b,"next_page_id":%b}' % (told_list(records), json.dumps(next_page_id).encode())


def told_list(records: Iterable[Told | None]) -> bytes:
    """Records as a JSON array, null for those that are not there."""
    return b"[%b]" % b",".join(b"null" if record is None else record.told() for record in records)


def _json(record: SandboxRecord | ConversationRecord) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()
