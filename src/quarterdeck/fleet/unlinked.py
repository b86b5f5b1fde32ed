"""What lost its counterpart: sandboxes nobody talks to, conversations whose sandbox is no more (needs.md need 3)."""

from collections.abc import Iterable

from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandboxes import SandboxRow


def orphan_sandboxes(rows: Iterable[SandboxRow]) -> tuple[SandboxRow, ...]:
    """The sandboxes no conversation lives in; none while conversations are still being read."""
    return tuple(row for row in rows if row.orphan)


def orphan_conversations(rows: Iterable[ConversationRow]) -> tuple[ConversationRow, ...]:
    """The conversations whose sandbox is missing, or was not listed when all sandboxes had been read."""
    return tuple(row for row in rows if row.orphan)
