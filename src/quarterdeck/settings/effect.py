"""What a saved setting reaches: which conversations go by it, and from when on."""

from quarterdeck.client.models.server import Server
from quarterdeck.settings.catalogue import BY_KEY, SESSIONS_ONLY
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field, Group

_NOT_OF_CONVERSATIONS = (Group.INTERFACE, Group.PRIVACY)


def effect(key: str, server: Server | None) -> str:
    """Why an edit of a field may do nothing here; empty when conversations use it."""
    if server is None or key not in BY_KEY or server.rules(key).in_effect or BY_KEY[key].control is Control.READ_ONLY:
        return ""
    if server.local:
        return "Stored only: this local service runs no agent."
    return BY_KEY[key].effect or "Conversations of this release do not use it."


def effect_word(entry: Field, server: Server | None) -> str:
    """A word or two for a setting that this server's conversations do not go by; empty for the others."""
    if server is None or entry.absent or entry.group == Group.PRIVACY:
        return ""
    if entry.group == Group.INTERFACE:
        return "web only"
    why = effect(entry.key, server)
    return "V0 only" if why == SESSIONS_ONLY else "no effect" if why and not server.local else ""


def reaches_conversations(draft: Draft, server: Server) -> bool:
    """Whether a draft changes anything that conversations go by; none run on the local service."""
    return not server.local and any(_is_used(draft.field_at(key), server) for key in draft.edits)


def until_when(draft: Draft, server: Server, running: int) -> str:
    """Who goes by what was saved, as the end of a sentence; empty where no conversation does."""
    if not reaches_conversations(draft, server):
        return ""
    keep = {0: "", 1: "; 1 running keeps the old values"}.get(running, f"; {running} running keep the old values")
    return f"new conversations only{keep}"


def _is_used(entry: Field, server: Server) -> bool:
    return entry.key == MCP or (entry.group not in _NOT_OF_CONVERSATIONS and not effect(entry.key, server))
