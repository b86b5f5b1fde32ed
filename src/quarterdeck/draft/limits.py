"""What a server can do with a draft: what it cannot store, and what it loses whatever we send (`Server.rules`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from quarterdeck.draft.catalogue import BY_KEY, CATALOGUE
from quarterdeck.draft.draft import Draft
from quarterdeck.draft.field import Control
from quarterdeck.draft.problem import Problem
from quarterdeck.service.models.capabilities import Server


@dataclass(frozen=True)
class Loss:
    """A stored value that a save takes away although nobody asked for it."""

    key: str
    words: str


def refusals(draft: Draft, server: Server) -> Iterator[Problem]:
    """Edits that this server would not keep."""
    for key, value in draft.edits.items():
        rules = server.rules(key)
        if value is not None:
            continue
        if not rules.clearable:
            yield Problem(key, "This server keeps the stored value when it is cleared; replace it instead.")
        elif not rules.nullable and rules.clear_with is None:
            yield Problem(key, "This server needs a value here.")


def problems(draft: Draft, server: Server | None) -> tuple[Problem, ...]:
    """All problems of a draft, those with this server included."""
    return (*draft.problems, *(refusals(draft, server) if server else ()))


def losses(draft: Draft, server: Server) -> Iterator[Loss]:
    """What a save loses on this server, unless it is typed again."""
    if server.merges or draft.base is None:
        return
    for entry in CATALOGUE:
        if entry.key in draft.edits or not server.rules(entry.key).lost_on_store:
            continue
        if entry.secret and draft.stored(entry.key) is None:
            yield Loss(
                entry.key,
                f"{entry.label}: if one is stored, this save erases it, for this server neither tells nor keeps it. "
                "Type it again to keep it.",
            )
        elif draft.was(entry.key) is not None or draft.stored(entry.key):
            yield Loss(entry.key, f"{entry.label}: this server loses it at every save. Type it again to keep it.")


def effect(key: str, server: Server | None) -> str:
    """Why an edit of a field may do nothing here; empty when conversations use it."""
    if server is None or server.rules(key).in_effect or BY_KEY[key].control is Control.READ_ONLY:
        return ""
    if server.local:
        return "Stored only: this local service runs no agent."
    return BY_KEY[key].effect or "Conversations of this release do not use it."
