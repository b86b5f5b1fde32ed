"""What lost its counterpart on a server, as far as both lists prove it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.unlinked import orphan_conversations, orphan_sandboxes
from quarterdeck.tui.lists.conversations import ConversationListing

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session


@dataclass(frozen=True)
class Orphans:
    """The orphans of both kinds."""

    sandboxes: tuple[SandboxRow, ...]
    conversations: tuple[ConversationRow, ...]
    complete: bool
    """Whether both lists have been read completely; until then more may be found, and less is claimed."""


def find_orphans(session: Session, now: datetime) -> Orphans:
    """Look through both lists."""
    listing = ConversationListing()
    sandboxes = filter(None, (session.sandbox_row(sandbox_id) for sandbox_id in session.sandboxes.records))
    found = (listing.row(session, row_id, now, None) for row_id in session.conversations.records)
    complete = not (session.sandboxes.health.incomplete or session.conversations.health.incomplete)
    return Orphans(orphan_sandboxes(sandboxes), orphan_conversations(filter(None, found)), complete)
