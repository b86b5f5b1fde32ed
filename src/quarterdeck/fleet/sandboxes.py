"""The rows of the sandbox list, made of records, memories and the conversations that live in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.sandbox_memory import SandboxMemory
from quarterdeck.fleet.sandbox_state import SandboxState, StateWord

if TYPE_CHECKING:
    from quarterdeck.service.models.conversation import Conversation
    from quarterdeck.service.models.sandbox import Sandbox

SHORT = 6


@dataclass(frozen=True)
class SandboxRow:
    """One sandbox of the list; its texts are the server's own, raw."""

    id: str
    record: Sandbox
    memory: SandboxMemory
    conversations: tuple[Conversation, ...] = ()
    """Those that live in it, in the server's order (newest first)."""
    haystack: str = field(default="", repr=False, compare=False)
    """All of its text a filter looks into, case folded."""

    @property
    def short_id(self) -> str:
        """The beginning of the id, without a prefix that all ids of a server share."""
        return short_id(self.id)

    @property
    def conversation_titles(self) -> tuple[str, ...]:
        """The titles of its conversations, newest first; "" where one has none."""
        return tuple(conversation.title or "" for conversation in self.conversations)

    def state(self, now: datetime) -> SandboxState:
        """What to say of it now."""
        return self.memory.state(now)


def short_id(sandbox_id: str) -> str:
    """The first characters of what follows the last dash ("oh-agent-server-7WNtsgx" is "7WNtsg")."""
    return (sandbox_id.rpartition("-")[2] or sandbox_id)[:SHORT]


def by_sandbox(conversations: Iterable[Conversation]) -> dict[str, tuple[Conversation, ...]]:
    """Conversations by the id of the sandbox they live in, each group in the order given."""
    groups: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        if conversation.sandbox_id is not None:
            groups.setdefault(conversation.sandbox_id, []).append(conversation)
    return {sandbox_id: tuple(group) for sandbox_id, group in groups.items()}


def sandbox_row(
    record: Sandbox, memory: SandboxMemory, conversations: tuple[Conversation, ...], before: SandboxRow | None = None
) -> SandboxRow:
    """Make the row of a sandbox; gives `before` itself when it would be equal."""
    if before and before.record is record and before.memory is memory and before.conversations == conversations:
        return before
    texts = [record.id, record.sandbox_spec_id or "", memory.settled.word]
    for conversation in conversations:
        texts += [conversation.title or "", conversation.selected_repository or ""]
    return SandboxRow(record.id, record, memory, conversations, "\n".join(texts).casefold())


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


def count_words(rows: Iterable[SandboxRow], now: datetime) -> Counter[str]:
    """How many rows show which word."""
    return Counter(row.state(now).word for row in rows)
