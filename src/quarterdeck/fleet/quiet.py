"""Since when nothing has happened in a sandbox, told by the conversations that live in it (needs.md need 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.client.models.enums import ExecutionStatus
from quarterdeck.fleet.sandbox_state import SandboxState, StateWord

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation

UP = frozenset({StateWord.RUNNING, StateWord.STARTING})
"""States in which a sandbox costs something, whether it does anything or not."""


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
