"""The rows of the conversation list: conversations, and the start tasks that are about to be one."""

from collections.abc import Container, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.conversation_state import Category, ConversationState, conversation_state
from quarterdeck.fleet.filters import Grammar, Measure
from quarterdeck.fleet.quantities import Unit
from quarterdeck.fleet.start_task import start_progress

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation, StartTask

SHORT = 6


class ConversationRow(NamedTuple):
    """One line of the list; its texts are the server's own, raw. Either `record` or `task` is there."""

    id: str
    title: str
    repository: str | None
    branch: str | None
    state: ConversationState
    created_at: datetime | None
    updated_at: datetime | None
    record: "Conversation | None" = None
    task: "StartTask | None" = None
    haystack: str = ""
    """All of its text a filter looks into, case folded."""
    orphan: bool = False
    """Whether the sandbox it lived in is no more."""
    unseen: bool = False
    """Whether it came to something since somebody looked at it, as far as is known."""
    watched: bool = False
    """Whether somebody keeps an eye on it."""

    @property
    def needs_you(self) -> bool:
        """Whether its agent waits for a person."""
        return self.state.category is Category.WAITING

    @property
    def short_id(self) -> str:
        """The beginning of the id."""
        return self.id[:SHORT]

    @property
    def name(self) -> str:
        """Its title."""
        return self.title

    @property
    def spent(self) -> float:
        """US dollars so far, as far as is known."""
        return self.cost or 0.0

    @property
    def place(self) -> str:
        """ "repository@branch", as far as they are known."""
        branch = f"@{self.branch}" if self.branch else ""
        return f"{self.repository or ''}{branch}"

    @property
    def sandbox_id(self) -> str | None:
        """The sandbox it lives in, as far as is known."""
        known = self.record or self.task
        return known.sandbox_id if known is not None else None

    @property
    def cost(self) -> float | None:
        """US dollars so far."""
        metrics = self.record.metrics if self.record else None
        return metrics.accumulated_cost if metrics else None


def conversation_row(
    record: "Conversation",
    last_status: str | None = None,
    before: ConversationRow | None = None,
    *,
    sandboxes: Container[str] | None = None,
    unseen: bool = False,
    watched: bool = False,
) -> ConversationRow:
    """Make the row of a conversation; gives `before` itself when it would be equal.

    `sandboxes` are the ids of all sandboxes, None until they have been read completely; `unseen` says that it came to
    something since somebody looked, `watched` that somebody keeps an eye on it.
    """
    state = conversation_state(record, last_status)
    orphan = _is_orphan(record, sandboxes)
    if (
        before is not None
        and before.record is record
        and before.state == state
        and before.orphan is orphan
        and before.unseen is unseen
        and before.watched is watched
    ):
        return before
    texts = (
        record.id,
        record.title,
        record.selected_repository,
        record.selected_branch,
        record.llm_model,
        record.sandbox_id,
        state.word,
    )
    return ConversationRow(
        id=record.id,
        title=record.title or "",
        repository=record.selected_repository,
        branch=record.selected_branch,
        state=state,
        created_at=record.created_at,
        updated_at=record.updated_at or record.created_at,
        record=record,
        haystack=_haystack(texts),
        orphan=orphan,
        unseen=unseen,
        watched=watched,
    )


def start_row(task: "StartTask", now: datetime, before: ConversationRow | None = None) -> ConversationRow:
    """Make the row of a start task; gives `before` itself when it would be equal."""
    progress = start_progress(task, now)
    trouble = progress.failed or progress.slow
    state = ConversationState(progress.words, Category.TROUBLE if trouble else Category.BUSY, progress.detail)
    if before is not None and before.task is task and before.state == state:
        return before
    request = task.request
    title, repository, branch = (
        (request.title, request.selected_repository, request.selected_branch) if request else (None, None, None)
    )
    return ConversationRow(
        id=task.id,
        title=title or "",
        repository=repository,
        branch=branch,
        state=state,
        created_at=task.created_at,
        updated_at=task.updated_at or task.created_at,
        task=task,
        haystack=_haystack((task.id, title, repository, branch, state.word)),
    )


def attention(row: ConversationRow) -> tuple[int, float]:
    """The place of a row in the default order: start tasks, who needs you, who is in trouble; the newest first."""
    if row.task is not None:
        group = 0
    elif row.state.attention:
        group = 1 if row.needs_you else 2
    else:
        group = 3
    return group, -row.updated_at.timestamp() if row.updated_at else 0.0


def _haystack(texts: Iterable[str | None]) -> str:
    return "\n".join(filter(None, texts)).casefold()


def _is_orphan(record: "Conversation", sandboxes: Container[str] | None) -> bool:
    if record.sandbox_id is None:
        return False
    lost = sandboxes is not None and record.sandbox_id not in sandboxes
    return lost or record.sandbox_status == SandboxStatus.MISSING


def _state_word(row: ConversationRow, now: datetime) -> str:
    return row.state.word


def _since(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else (now - moment).total_seconds()


CONVERSATION_GRAMMAR: Grammar[ConversationRow] = Grammar(
    texts={
        "state": _state_word,
        "status": _state_word,
        "repo": lambda row, now: row.place,
        "model": lambda row, now: (row.record.llm_model if row.record else None) or "",
        "sandbox": lambda row, now: row.sandbox_id or "",
        "id": lambda row, now: row.id,
    },
    measures={
        "cost": Measure(lambda row, now: row.cost, Unit.NUMBER),
        "age": Measure(lambda row, now: _since(row.created_at, now)),
        "updated": Measure(lambda row, now: _since(row.updated_at, now)),
    },
    flags={
        "orphan": lambda row, now: row.orphan,
        "running": lambda row, now: row.state.category is Category.BUSY,
        "needs-you": lambda row, now: row.needs_you,
    },
)
"""What a filter over conversations knows: `age` and `updated` are how long ago, `running` is what is at work."""

DECK_GRAMMAR = CONVERSATION_GRAMMAR._replace(
    flags={
        "unseen": lambda row, now: row.unseen,
        "watched": lambda row, now: row.watched,
        **CONVERSATION_GRAMMAR.flags,
    },
)
"""The same where it is known what was looked at, and what is watched."""
