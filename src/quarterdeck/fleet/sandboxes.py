"""The rows of the sandbox list, built from records, memories and the conversations in each sandbox."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import AS_TOLD, ServerClock, seconds_since
from quarterdeck.fleet.filters import Grammar, Kind, Token
from quarterdeck.fleet.order import Rank
from quarterdeck.fleet.sandbox_state import UP, SandboxMemory, SandboxState, StateWord

SHORT = 6
_RANKS: dict[str, int] = {
    StateWord.ERROR: 0,
    StateWord.RUNNING: 3,
    StateWord.PAUSING: 3,
    StateWord.STARTING: 4,
    StateWord.PAUSED: 5,
    StateWord.RESUMING: 5,
    StateWord.MISSING: 7,
}
"""The place of each state in the default order; 1 and 2 are slow and silent ones."""
_UNKNOWN = 6


class SandboxRow(NamedTuple):
    """One line of the list; its texts are raw, as the server sent them."""

    id: str
    record: Sandbox
    memory: SandboxMemory
    conversations: tuple[Conversation, ...] = ()
    """The conversations in it: those that ask something, those at work, the others; the newest of each first."""
    complete: bool = True
    """Whether all conversations in it are known."""
    quiet_since: datetime | None = None
    """Since when nothing has happened in it; None while an agent works, while it is not up, or if it is not known."""
    created: datetime | None = None
    chosen: tuple[str, ...] = ()
    """The titles of the conversations that a command was given for; empty if it was given for the sandbox itself."""

    @property
    def short_id(self) -> str:
        """The beginning of the id, without the prefix that all ids of a server share."""
        return short_id(self.id)

    @property
    def working(self) -> bool:
        """Whether an agent in it is working, as last read."""
        told = (each.execution_status for each in self.conversations)
        return self.memory.word in UP and ExecutionStatus.RUNNING in told

    @property
    def cost(self) -> float:
        """The cost of its conversations so far, in US dollars."""
        return sum(each.cost or 0.0 for each in self.conversations)

    @property
    def unlinked(self) -> bool:
        """Whether it has no conversation; false while conversations are still being read."""
        return self.complete and not self.conversations

    def haystack(self, now: datetime) -> str:
        """Return the text that a filter searches."""
        living = (text for each in self.conversations for text in (each.title, each.selected_repository))
        return "\n".join(filter(None, (self.record.sandbox_spec_id, self.state(now).words, *living)))

    @property
    def ids(self) -> Iterable[str]:
        """What a filter finds by its beginning."""
        return self.id, self.short_id

    @property
    def conversation_titles(self) -> tuple[str, ...]:
        """The titles of its conversations, in their order; "" for one without a title."""
        return tuple(conversation.title or "" for conversation in self.conversations)

    @property
    def title(self) -> str:
        """Two conversations that a command was given for, otherwise the first one, and how many more are in it."""
        named = self.chosen or self.conversation_titles[:1]
        if not named:
            return "no conversation" if self.unlinked else ""
        more = len(self.others) - (not self.chosen) + len(named[2:])
        return ", ".join(title or "(untitled)" for title in named[:2]) + (f" and {more:,} more" if more else "")

    @property
    def others(self) -> tuple[str, ...]:
        """The titles of the conversations in it that no command was given for."""
        return tuple((Counter(self.conversation_titles) - Counter(self.chosen)).elements())

    def state(self, now: datetime) -> SandboxState:
        """Return the state to show now."""
        return self.memory.state(now)

    def rank(self, now: datetime) -> Rank:
        """Return its place in the default order: problems first, then the longest quiet or longest unchanged.

        While a change is under way, it keeps its place.
        """
        state = self.state(now)
        if state.slow:
            value = 1
        elif state.silent:
            value = 2
        else:
            value = _RANKS.get(state.word, _UNKNOWN)
        since = self.quiet_since if value == _RANKS[StateWord.RUNNING] else state.since
        return Rank(value, inf if since is None else since.timestamp(), urgent=value < _RANKS[StateWord.RUNNING])

    def quiet(self, now: datetime) -> float | None:
        """Return for how many seconds nothing has happened in it: 0 while an agent works, None if not known."""
        if self.quiet_since is None:
            return 0.0 if self.working else None
        return max((now - self.quiet_since).total_seconds(), 0.0)


def short_id(sandbox_id: str) -> str:
    """Return the first characters after the last dash ("oh-agent-server-7WNtsgx" becomes "7WNtsg")."""
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
    """Return the row of a sandbox; `complete` means that all conversations in it are known."""
    row = SandboxRow(record.id, record, memory, conversations, complete, created=clock.here(record.created_at))
    if not complete or row.working:
        return row
    return row._replace(quiet_since=_quiet_since(memory, conversations, clock))


def _quiet_since(memory: SandboxMemory, conversations: tuple[Conversation, ...], clock: ServerClock) -> datetime | None:
    """Return the newest update of the conversations in a sandbox that is up and idle; None if it is not known.

    It is never earlier than the start of the sandbox, if that was observed in this run or an earlier one. A sandbox
    without conversations has been quiet for at least as long as it is known to be up.
    """
    if memory.word not in UP:
        return None
    if not conversations:
        return memory.since
    moments = [clock.here(each.changed_at) for each in conversations]
    newest = max((moment for moment in moments if moment is not None), default=None)
    may_begin = memory.exact or memory.word == StateWord.STARTING  # perhaps somebody else has just asked for it
    began = memory.since if may_begin else memory.began
    return max(newest, began) if newest is not None and began is not None else newest


# Which conversations are in which sandbox

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_URGENCY: dict[str, int] = {ExecutionStatus.WAITING_FOR_CONFIRMATION: 0, ExecutionStatus.RUNNING: 1}


class ConversationsBySandbox:
    """The conversations of each sandbox."""

    def __init__(self) -> None:
        self._sandbox_of: dict[str, str] = {}
        self._groups: defaultdict[str, dict[str, Conversation]] = defaultdict(dict)

    def of(self, sandbox_id: str) -> tuple[Conversation, ...]:
        """Return the conversations in a sandbox: those that ask something, those at work, the others."""
        return tuple(sorted(self._groups.get(sandbox_id, {}).values(), key=_urgent_and_new_first))

    def ids_in(self, sandbox_ids: Iterable[str]) -> frozenset[str]:
        """Return the ids of the conversations in these sandboxes."""
        return frozenset(conversation_id for each in sandbox_ids for conversation_id in self._groups.get(each, ()))

    def sandbox_of(self, conversation_id: str) -> str | None:
        """Return the sandbox of a conversation, if known."""
        return self._sandbox_of.get(conversation_id)

    def title_in(self, sandbox_id: str) -> str | None:
        """Return the first title among the conversations in a sandbox, None if there is none."""
        return next((record.title for record in self.of(sandbox_id) if record.title), None)

    def update(self, records: Mapping[str, Conversation], ids: Iterable[str]) -> frozenset[str]:
        """Apply what is now known of these conversations; returns the ids of the sandboxes concerned."""
        touched: set[str | None] = set()
        for conversation_id in ids:
            before = self._sandbox_of.pop(conversation_id, None)
            if before is not None:
                del self._groups[before][conversation_id]
            record = records.get(conversation_id)
            after = record.sandbox_id if record is not None else None
            if record is not None and after is not None:
                self._sandbox_of[conversation_id] = after
                self._groups[after][conversation_id] = record
            touched |= {before, after}
        return frozenset(filter(None, touched))


def _urgent_and_new_first(record: Conversation) -> tuple[int, float, str]:
    """A sort key; the id makes the order of conversations created at the same moment the same in every run."""
    urgency = _URGENCY.get(record.execution_status or "", len(_URGENCY))
    return urgency, -(record.created_at or _LONG_AGO).timestamp(), record.id


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
        "cost": Token(Kind.NUMBER, lambda row, now: row.cost, "What its conversations have cost, in US dollars."),
        "age": Token(Kind.DURATION, lambda row, now: seconds_since(row.created, now), "How long ago it was created."),
        "for": Token(
            Kind.DURATION,
            lambda row, now: seconds_since(row.state(now).since, now),
            "How long it has had its status.",
        ),
        "no-conversation": Token(Kind.FLAG, lambda row, now: row.unlinked, "No conversation is in it.", ("orphan",)),
        "slow": Token(Kind.FLAG, lambda row, now: row.state(now).slow, "Its start takes longer than it should."),
    }
)
"""The tokens of a filter over sandboxes."""


# Sandboxes that are up, do nothing and could be paused


class QuietSandboxes(NamedTuple):
    """The quiet sandboxes among some rows; only a list, nothing is changed."""

    rows: tuple[SandboxRow, ...] = ()
    """Those that have been quiet for long enough, the longest quiet first."""
    unknown: tuple[SandboxRow, ...] = ()
    """Those that are up, but for which it is not known how long they have been quiet."""

    @property
    def spent(self) -> float:
        """The cost of all `rows` so far, in US dollars."""
        return sum(row.cost for row in self.rows)


def find_quiet(rows: Iterable[SandboxRow], threshold: float, now: datetime) -> QuietSandboxes:
    """Return the sandboxes that are up, not being paused, and quiet for `threshold` seconds or longer."""
    up = [(row, row.quiet(now)) for row in rows if not row.working and row.state(now).known in UP]
    found = [(-quiet, row.id, row) for row, quiet in up if quiet is not None and quiet >= threshold]
    return QuietSandboxes(tuple(row for _, _, row in sorted(found)), tuple(row for row, quiet in up if quiet is None))
