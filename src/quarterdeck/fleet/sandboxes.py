"""The rows of the sandbox list, made of records, memories and the conversations that live in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.filters import Grammar, Measure, Unit
from quarterdeck.fleet.sandbox_state import UP, SandboxMemory, SandboxState, StateWord


def is_working(conversations: Iterable[Conversation], last_told: Mapping[str, str | None]) -> bool:
    """Whether an agent in one of them is at work; `last_told` stands in where the server does not tell."""
    return any((each.execution_status or last_told.get(each.id)) == ExecutionStatus.RUNNING for each in conversations)


def quiet_since(settled: SandboxState, conversations: tuple[Conversation, ...]) -> datetime | None:
    """The newest update of the conversations in a sandbox in which no agent is at work; None when it is not known.

    It is not quiet for longer than it has been up, where its beginning was seen. One without conversations has been
    quiet for at least as long as it is known to be up.
    """
    if settled.known not in UP:
        return None
    if not conversations:
        return settled.since
    moments = [moment for each in conversations if (moment := each.updated_at or each.created_at) is not None]
    if not moments:
        return None
    newest = max(moments)
    return max(newest, settled.since) if settled.exact else newest


SHORT = 6


def short_id(sandbox_id: str) -> str:
    """The first characters of what follows the last dash ("oh-agent-server-7WNtsgx" is "7WNtsg")."""
    before, _, last = sandbox_id.rpartition("-")
    return (last if before and last else sandbox_id)[:SHORT]


NOTHING_TOLD: Mapping[str, str | None] = {}


class SandboxRow(NamedTuple):
    """One sandbox of the list; its texts are the server's own, raw."""

    id: str
    record: Sandbox
    memory: SandboxMemory
    conversations: tuple[Conversation, ...] = ()
    """Those that live in it, in the server's order (newest first)."""
    haystack: str = ""
    """All of its text a filter looks into, case folded."""
    complete: bool = True
    """Whether all conversations of the server are known, so that those that live in it are."""
    working: bool = False
    """Whether an agent in it is at work, as far as was last told."""
    quiet_since: datetime | None = None
    """Since when nothing has happened in it; None while it works, while it is not up, and when it is not known."""
    spent: float = 0.0
    """US dollars its conversations have cost so far."""

    @property
    def short_id(self) -> str:
        """The beginning of the id, without a prefix that all ids of a server share."""
        return short_id(self.id)

    @property
    def orphan(self) -> bool:
        """Whether no conversation lives in it; not said while conversations are still being read."""
        return self.complete and not self.conversations

    @property
    def conversation_titles(self) -> tuple[str, ...]:
        """The titles of its conversations, newest first; "" where one has none."""
        return tuple(conversation.title or "" for conversation in self.conversations)

    @property
    def name(self) -> str:
        """The newest title in it; empty where there is none."""
        return next(filter(None, self.conversation_titles), "")

    def state(self, now: datetime) -> SandboxState:
        """What to say of it now."""
        return self.memory.state(now)

    def quiet(self, now: datetime) -> timedelta | None:
        """For how long nothing has happened in it; nothing while it works, None where `quiet_since` is not known."""
        if self.working:
            return timedelta()
        return None if self.quiet_since is None else max(now - self.quiet_since, timedelta())


def by_sandbox(conversations: Iterable[Conversation]) -> dict[str, tuple[Conversation, ...]]:
    """Conversations by the id of the sandbox they live in, each group in the order given."""
    groups: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        if conversation.sandbox_id is not None:
            groups.setdefault(conversation.sandbox_id, []).append(conversation)
    return {sandbox_id: tuple(group) for sandbox_id, group in groups.items()}


def sandbox_row(
    record: Sandbox,
    memory: SandboxMemory,
    conversations: tuple[Conversation, ...],
    before: SandboxRow | None = None,
    *,
    complete: bool = True,
    last_told: Mapping[str, str | None] = NOTHING_TOLD,
) -> SandboxRow:
    """Make the row of a sandbox; gives `before` itself when it would be equal.

    `complete` says that all conversations have been read; `last_told` is the last word of the agent in each, by id, as
    `last_execution_status` keeps it.
    """
    working = memory.settled.known in UP and is_working(conversations, last_told)
    if (
        before is not None
        and before.record is record
        and before.memory is memory
        and before.working is working
        and before.complete is complete
        and before.conversations == conversations
    ):
        return before
    texts = [record.id, record.sandbox_spec_id or "", memory.settled.word]
    for conversation in conversations:
        texts += [conversation.title or "", conversation.selected_repository or ""]
    return SandboxRow(
        record.id,
        record,
        memory,
        conversations,
        "\n".join(texts).casefold(),
        complete,
        working,
        quiet_since(memory.settled, conversations) if complete and not working else None,
        sum(spent(conversation) for conversation in conversations),
    )


def spent(conversation: Conversation) -> float:
    """US dollars a conversation has cost so far; a sum that is no number counts for none."""
    cost = conversation.metrics.accumulated_cost if conversation.metrics is not None else None
    return cost if cost is not None and isfinite(cost) else 0.0


_RANKS = {
    StateWord.ERROR: 0,
    StateWord.RUNNING: 3,
    StateWord.PAUSING: 3,
    StateWord.STARTING: 4,
    StateWord.PAUSED: 5,
    StateWord.RESUMING: 5,
    StateWord.MISSING: 7,
}
_SLOW, _SILENT, _UNKNOWN = 1, 2, 6


def attention(state: SandboxState) -> int:
    """The place of a state in the default order, what needs a look first; a pending state stays where it was."""
    if state.slow:
        return _SLOW
    if state.silent:
        return _SILENT
    return _UNKNOWN if state.known is None else _RANKS[state.known]


AGES = 1e12
"""Seconds, more than lie between any two moments: what lies between two ranks."""


def in_trouble(state: SandboxState) -> bool:
    """Whether a state stands before all that runs as it should."""
    return attention(state) < _RANKS[StateWord.RUNNING]


def urgency(row: SandboxRow, now: datetime) -> float:
    """The place of a row in the default order: `attention`, then what has been quiet or as it is for longest.

    One number and no tuple: there is one for each of ten thousand rows.
    """
    state = row.state(now)
    rank = attention(state)
    since = row.quiet_since if rank == _RANKS[StateWord.RUNNING] else state.since
    return rank * AGES + (AGES / 2 if since is None else since.timestamp())


def _repositories(row: SandboxRow, now: datetime) -> str:
    return "\n".join(conversation.selected_repository or "" for conversation in row.conversations)


def _idle(row: SandboxRow, now: datetime) -> float | None:
    quiet = row.quiet(now)
    return None if quiet is None else quiet.total_seconds()


def _age(row: SandboxRow, now: datetime) -> float | None:
    created = row.record.created_at
    return None if created is None else (now - created).total_seconds()


SANDBOX_GRAMMAR: Grammar[SandboxRow] = Grammar(
    texts={
        "status": lambda row, now: row.memory.state(now).words,
        "spec": lambda row, now: row.record.sandbox_spec_id or "",
        "id": lambda row, now: row.id,
        "owner": lambda row, now: row.record.created_by_user_id or "",
        "repo": _repositories,
    },
    measures={
        "idle": Measure(_idle),
        "cost": Measure(lambda row, now: row.spent, Unit.NUMBER),
        "age": Measure(_age),
        "for": Measure(lambda row, now: (now - row.memory.state(now).since).total_seconds()),
    },
    flags={
        "orphan": lambda row, now: row.orphan,
        "slow": lambda row, now: row.memory.state(now).slow,
    },
    aliases={"quiet": "idle", "no-conversation": "orphan"},
)
"""What a filter over sandboxes knows: `idle` is the quiet time of what is up, `for` the time in its state."""
