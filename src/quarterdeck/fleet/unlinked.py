"""What lost its counterpart: sandboxes nobody talks to, conversations whose sandbox is no more."""

from collections.abc import Iterable
from dataclasses import dataclass

from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandboxes import SandboxRow


@dataclass(frozen=True)
class Unlinked:
    """What both lists prove to be so."""

    sandboxes: tuple[SandboxRow, ...]
    """Those no conversation lives in; none while conversations are still being read."""
    conversations: tuple[ConversationRow, ...]
    """Those whose sandbox is missing, or was not listed when all sandboxes had been read."""
    complete: bool
    """Whether both lists have been read completely; until then more may be found, and less is claimed."""


def find_unlinked(
    sandboxes: Iterable[SandboxRow | None], conversations: Iterable[ConversationRow | None], *, complete: bool
) -> Unlinked:
    """Look through the rows of both lists."""
    return Unlinked(
        tuple(row for row in sandboxes if row is not None and row.unlinked),
        tuple(row for row in conversations if row is not None and row.unlinked),
        complete,
    )
