"""What a server can do with a draft: what it cannot store, and what it loses whatever we send (`Server.rules`)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quarterdeck.client.models.capabilities import Server
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields.catalogue import BY_KEY
from quarterdeck.settings.fields.field import Control
from quarterdeck.settings.fields.generated import AGENT_KIND
from quarterdeck.settings.fields.nested_fields import OF_AGENT
from quarterdeck.settings.mcp.servers import EntryState
from quarterdeck.settings.problem import Problem

TYPE_AGAIN = "unless you go back and type them again."


@dataclass(frozen=True)
class Loss:
    """A stored value that a save takes away although nobody asked for it."""

    key: str
    words: str


def refusals(draft: Draft, server: Server) -> Iterator[Problem]:
    """Edits that this server would not keep."""
    for key, value in draft.edits.items():
        rules, entry = server.rules(key), draft.field_at(key)
        if entry.absent:
            yield _at(draft, key, f"{entry.absent} u drops the edit.")
        elif AGENT_KIND in draft.edits and _goes_with_kind(key):
            yield _at(draft, key, "It goes with the old kind of agent: save the new kind first, or drop this edit.")
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
    if AGENT_KIND in draft.edits:
        yield Loss(
            AGENT_KIND,
            f"Agent kind: with {draft.was(AGENT_KIND)} go all settings of its agents, "
            "such as model, keys, condenser and MCP servers.",
        )
    if server.merges or draft.base is None:
        return
    for entry in draft.fields.fields:
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


def servers_losing(names: Iterable[str]) -> Iterator[Loss]:
    """What a save of MCP servers loses where their secrets are not told: `names` are the servers it strikes."""
    struck = tuple(names)
    if len(struck) == 1:
        yield Loss(MCP, f"MCP server {struck[0]}: its key and hidden values, if it has any, {TYPE_AGAIN}")
    elif struck:
        yield Loss(
            MCP, f"MCP servers {', '.join(struck)}: their keys and hidden values, if they have any, {TYPE_AGAIN}"
        )


def parking_losses(draft: Draft, server: Server) -> Iterator[Loss]:
    """What is lost of MCP servers that are parked where the secrets of none are told (contract T5)."""
    if server.mcp_secrets_hidden:
        for entry in draft.servers.edited:
            if entry.state is EntryState.PARKED and entry.was is not None and not words.has_secret(entry.server):
                yield Loss(
                    MCP,
                    f"{words.server_title(entry.server)}: this server does not tell its key and hidden values, "
                    "so they cannot be kept here. Type them first, or when it is used again.",
                )


def effect(key: str, server: Server | None) -> str:
    """Why an edit of a field may do nothing here; empty when conversations use it."""
    if server is None or key not in BY_KEY or server.rules(key).in_effect or BY_KEY[key].control is Control.READ_ONLY:
        return ""
    if server.local:
        return "Stored only: this local service runs no agent."
    return BY_KEY[key].effect or "Conversations of this release do not use it."


def _goes_with_kind(key: str) -> bool:
    return key != AGENT_KIND and (key in OF_AGENT or key.startswith("agent_settings."))


def _at(draft: Draft, key: str, sentence: str) -> Problem:
    """A problem of an edit, of MCP servers at the first one that is edited."""
    rows = (entry.row for entry in draft.servers.edited) if key == MCP else ()
    return Problem(key, sentence, row=next(iter(rows), None))
