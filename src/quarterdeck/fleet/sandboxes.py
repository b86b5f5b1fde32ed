"""The rows of the sandbox list, made of records, memories and the conversations that live in them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import AS_TOLD, ServerClock, seconds_since
from quarterdeck.fleet.filters import Grammar, Kind, Token, haystack
from quarterdeck.fleet.order import Rank
from quarterdeck.fleet.sandbox_state import UP, SandboxMemory, SandboxState, StateWord

SHORT = 6


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
    created: datetime | None = None

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

    def quiet(self, now: datetime) -> float | None:
        """Seconds in which nothing has happened in it: 0 while it works, None where `quiet_since` is not known."""
        if self.quiet_since is None:
            return 0.0 if self.working else None
        return max((now - self.quiet_since).total_seconds(), 0.0)


def short_id(sandbox_id: str) -> str:
    """The first characters of what follows the last dash ("oh-agent-server-7WNtsgx" is "7WNtsg")."""
    before, _, last = sandbox_id.rpartition("-")
    return (last if before and last else sandbox_id)[:SHORT]


def sandbox_row(
    record: Sandbox,
    memory: SandboxMemory,
    conversations: tuple[Conversation, ...],
    *,
    complete: bool = True,
    clock: ServerClock = AS_TOLD,
) -> SandboxRow:
    """Make the row of a sandbox; `complete` says that all conversations that live in it are known."""
    told = {each.execution_status for each in conversations}
    working = memory.settled.known in UP and ExecutionStatus.RUNNING in told
    texts = [text for each in conversations for text in (each.title, each.selected_repository)]
    return SandboxRow(
        record.id,
        record,
        memory,
        conversations,
        haystack(record.id, record.sandbox_spec_id, memory.settled.word, *texts),
        complete,
        working,
        _quiet_since(memory.settled, conversations, clock) if complete and not working else None,
        sum(each.cost or 0.0 for each in conversations),
        clock.here(record.created_at),
    )


def _quiet_since(settled: SandboxState, conversations: tuple[Conversation, ...], clock: ServerClock) -> datetime | None:
    """The newest update of the conversations in a sandbox in which no agent is at work; None when it is not known.

    It is not quiet for longer than it has been up, where its beginning was seen. One without conversations has been
    quiet for at least as long as it is known to be up.
    """
    if settled.known not in UP:
        return None
    if not conversations:
        return settled.since
    moments = [clock.here(each.changed_at) for each in conversations]
    newest = max((moment for moment in moments if moment is not None), default=None)
    return max(newest, settled.since) if newest is not None and settled.exact else newest


# Which conversations live where

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Residents:
    """The conversations of each sandbox; a group is put in order when somebody asks for it, not at each change."""

    def __init__(self) -> None:
        self._sandbox_of: dict[str, str] = {}
        self._groups: dict[str, dict[str, Conversation]] = {}
        self._ordered: dict[str, tuple[Conversation, ...]] = {}

    def of(self, sandbox_id: str) -> tuple[Conversation, ...]:
        """Who lives in a sandbox, newest first; the same object for as long as nothing changed."""
        ordered = self._ordered.get(sandbox_id)
        if ordered is None:
            group = self._groups.get(sandbox_id, {})
            ordered = self._ordered[sandbox_id] = tuple(sorted(group.values(), key=_newest_first))
        return ordered

    def sandbox_of(self, conversation_id: str) -> str | None:
        """The sandbox a conversation lives in, as far as is known."""
        return self._sandbox_of.get(conversation_id)

    def title_in(self, sandbox_id: str) -> str | None:
        """The title of the newest conversation in a sandbox that has one."""
        return next((record.title for record in self.of(sandbox_id) if record.title), None)

    def update(self, records: Mapping[str, Conversation], ids: Iterable[str]) -> frozenset[str]:
        """Take what is known of these conversations now; gives the sandboxes of which there is something new."""
        touched: set[str] = set()
        for conversation_id in ids:
            record = records.get(conversation_id)
            before = self._sandbox_of.pop(conversation_id, None)
            after = record.sandbox_id if record is not None else None
            if before is not None:
                touched.add(before)
                if before != after:
                    del self._groups[before][conversation_id]
            if record is not None and after is not None:
                touched.add(after)
                self._sandbox_of[conversation_id] = after
                self._groups.setdefault(after, {})[conversation_id] = record
        for sandbox_id in touched:
            self._ordered.pop(sandbox_id, None)
        return frozenset(touched)


def _newest_first(record: Conversation) -> tuple[float, str]:
    """Those made at the same moment stand by id, so that "the newest" is one and the same in every run."""
    return -(record.created_at or _LONG_AGO).timestamp(), record.id


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
_UNKNOWN = 6


def rank(row: SandboxRow, now: datetime) -> Rank:
    """The place of a row in the default order: what needs a look, then what has been quiet or as it is for longest.

    A pending state stays where it was.
    """
    state = row.state(now)
    value = 1 if state.slow else 2 if state.silent else _UNKNOWN if state.known is None else _RANKS[state.known]
    since = row.quiet_since if value == _RANKS[StateWord.RUNNING] else state.since
    return Rank(value, inf if since is None else since.timestamp(), urgent=value < _RANKS[StateWord.RUNNING])


# Filters


def _repositories(row: SandboxRow, now: datetime) -> str:
    return "\n".join(each.selected_repository or "" for each in row.conversations)


SANDBOX_GRAMMAR: Grammar[SandboxRow] = Grammar(
    {
        "status": Token(Kind.TEXT, lambda row, now: row.state(now).words, "Its status, as the list shows it."),
        "spec": Token(Kind.TEXT, lambda row, now: row.record.sandbox_spec_id, "The spec it was started from."),
        "id": Token(Kind.TEXT, lambda row, now: row.id, "Its id."),
        "owner": Token(Kind.TEXT, lambda row, now: row.record.created_by_user_id, "The id of the user who created it."),
        "repo": Token(Kind.TEXT, _repositories, "The repository of a conversation in it."),
        "quiet": Token(
            Kind.DURATION, SandboxRow.quiet, "How long nothing has happened in it, while it is up.", ("idle",)
        ),
        "cost": Token(Kind.NUMBER, lambda row, now: row.spent, "What its conversations have cost, in US dollars."),
        "age": Token(Kind.DURATION, lambda row, now: seconds_since(row.created, now), "How long ago it was created."),
        "for": Token(
            Kind.DURATION,
            lambda row, now: seconds_since(row.state(now).since, now),
            "How long it has had its status.",
        ),
        "no-conversation": Token(Kind.FLAG, lambda row, now: row.unlinked, "No conversation is in it.", ("orphan",)),
        "slow": Token(
            Kind.FLAG, lambda row, now: row.state(now).slow, "Its start, pause or resume takes longer than it should."
        ),
    }
)
"""What a filter over sandboxes knows."""


# What is up, does nothing and could be paused


class Sweep(NamedTuple):
    """What a sweep finds; nothing is done by finding it."""

    rows: tuple[SandboxRow, ...] = ()
    """What has been quiet for long enough, for the longest first."""
    unknown: tuple[SandboxRow, ...] = ()
    """What is up and of which it is not known how long it has been quiet."""

    @property
    def spent(self) -> float:
        """US dollars all of `rows` have cost so far."""
        return sum(row.spent for row in self.rows)


def sweep(rows: Iterable[SandboxRow], threshold: float, now: datetime) -> Sweep:
    """Find what is up and has been quiet for so many seconds or longer; what is being paused is left out."""
    up = [(row, row.quiet(now)) for row in rows if not row.working and row.state(now).known in UP]
    found = [(-quiet, row.id, row) for row, quiet in up if quiet is not None and quiet >= threshold]
    return Sweep(tuple(row for _, _, row in sorted(found)), tuple(row for row, quiet in up if quiet is None))
