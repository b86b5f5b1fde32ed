"""The rows of the sandbox list, made of records, memories and the conversations that live in them."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from math import inf, isfinite
from typing import NamedTuple

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import AS_TOLD, ServerClock, age_or_date, seconds_since
from quarterdeck.fleet.filters import Grammar, Measure, Unit, haystack
from quarterdeck.fleet.sandbox_state import UP, SandboxMemory, SandboxState, StateWord

SHORT = 6
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
    """Whether all conversations that live in it are known."""
    working: bool = False
    """Whether an agent in it is at work, as far as was last told."""
    quiet_since: datetime | None = None
    """Since when nothing has happened in it; None while it works, while it is not up, and when it is not known."""
    spent: float = 0.0
    """US dollars its conversations have cost so far."""
    created_at: datetime | None = None
    """By the clock of this machine; None also where a server tells a moment that is ahead of any clock."""

    @property
    def short_id(self) -> str:
        """The beginning of the id, without a prefix that all ids of a server share."""
        return short_id(self.id)

    @property
    def unlinked(self) -> bool:
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

    def created(self, now: datetime) -> str:
        """How long ago it was created, or the date that the server tells of the future."""
        return age_or_date(self.created_at, self.record.created_at, now)


def short_id(sandbox_id: str) -> str:
    """The first characters of what follows the last dash ("oh-agent-server-7WNtsgx" is "7WNtsg")."""
    before, _, last = sandbox_id.rpartition("-")
    return (last if before and last else sandbox_id)[:SHORT]


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
    clock: ServerClock = AS_TOLD,
) -> SandboxRow:
    """Make the row of a sandbox; gives `before` itself when it would be equal.

    `complete` says that all conversations that live in it are known; `last_told` is the last word of the agent in each,
    by id, as `last_execution_status` keeps it.
    """
    working = memory.settled.known in UP and is_working(conversations, last_told)
    texts = [text for each in conversations for text in (each.title, each.selected_repository)]
    row = SandboxRow(
        record.id,
        record,
        memory,
        conversations,
        haystack(record.id, record.sandbox_spec_id, memory.settled.word, *texts),
        complete,
        working,
        _quiet_since(memory.settled, conversations, clock) if complete and not working else None,
        sum(spent(conversation) for conversation in conversations),
        clock.here(record.created_at),
    )
    return before if before == row else row


def is_working(conversations: Iterable[Conversation], last_told: Mapping[str, str | None]) -> bool:
    """Whether an agent in one of them is at work; `last_told` stands in where the server does not tell."""
    return any((each.execution_status or last_told.get(each.id)) == ExecutionStatus.RUNNING for each in conversations)


def _quiet_since(settled: SandboxState, conversations: tuple[Conversation, ...], clock: ServerClock) -> datetime | None:
    """The newest update of the conversations in a sandbox in which no agent is at work; None when it is not known.

    It is not quiet for longer than it has been up, where its beginning was seen. One without conversations has been
    quiet for at least as long as it is known to be up.
    """
    if settled.known not in UP:
        return None
    if not conversations:
        return settled.since
    moments = [clock.here(each.updated_at or each.created_at) for each in conversations]
    newest = max((moment for moment in moments if moment is not None), default=None)
    return max(newest, settled.since) if newest is not None and settled.exact else newest


def spent(conversation: Conversation) -> float:
    """US dollars a conversation has cost so far; a sum that is no number counts for none."""
    cost = conversation.metrics.accumulated_cost if conversation.metrics is not None else None
    return cost if cost is not None and isfinite(cost) else 0.0


# Order

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


def in_trouble(state: SandboxState) -> bool:
    """Whether a state stands before all that runs as it should."""
    return attention(state) < _RANKS[StateWord.RUNNING]


def urgency(row: SandboxRow, now: datetime) -> tuple[int, float]:
    """The place of a row in the default order: `attention`, then what has been quiet or as it is for longest."""
    state = row.state(now)
    rank = attention(state)
    since = row.quiet_since if rank == _RANKS[StateWord.RUNNING] else state.since
    return rank, inf if since is None else since.timestamp()


# Filters


def _quiet_seconds(row: SandboxRow, now: datetime) -> float | None:
    quiet = row.quiet(now)
    return None if quiet is None else quiet.total_seconds()


SANDBOX_GRAMMAR: Grammar[SandboxRow] = Grammar(
    texts={
        "status": lambda row, now: row.memory.state(now).words,
        "spec": lambda row, now: row.record.sandbox_spec_id or "",
        "id": lambda row, now: row.id,
        "owner": lambda row, now: row.record.created_by_user_id or "",
        "repo": lambda row, now: "\n".join(each.selected_repository or "" for each in row.conversations),
    },
    measures={
        "quiet": Measure(_quiet_seconds),
        "cost": Measure(lambda row, now: row.spent, Unit.NUMBER),
        "age": Measure(lambda row, now: seconds_since(row.created_at, now)),
        "for": Measure(lambda row, now: seconds_since(row.memory.state(now).since, now)),
    },
    flags={
        "no-conversation": lambda row, now: row.unlinked,
        "slow": lambda row, now: row.memory.state(now).slow,
    },
    aliases={"idle": "quiet", "orphan": "no-conversation"},
)
"""What a filter over sandboxes knows: `quiet` is the quiet time of what is up, `for` the time in its state."""
