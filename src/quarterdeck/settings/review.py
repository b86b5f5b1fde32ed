"""What a save will do, to be read before it is sent: losses first, then each change, without any secret."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from quarterdeck.client.models.capabilities import Server
from quarterdeck.client.models.mcp import McpServer
from quarterdeck.settings import limits, words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields.form_fields import FormFields
from quarterdeck.settings.limits import Loss
from quarterdeck.settings.mcp.differences import differences
from quarterdeck.settings.mcp.duplicates import duplicates
from quarterdeck.settings.mcp.secrets import bare
from quarterdeck.settings.mcp.servers import Entry, EntryState
from quarterdeck.settings.problem import Problem

KEPT_HERE = "kept on this machine"
COMES_BACK = "Where the server's own config.toml has it, the server adds it again."
WITH_SECRETS = "Its secrets go into a private file on this machine."
HERE_ONLY = "Kept on this machine only; the server is not asked."


class Act(StrEnum):
    """What happens to a line's thing; the value is its word."""

    SET = "set"
    UNSET = "unset"
    ADDED = "added"
    EDITED = "edited"
    REMOVED = "removed"
    PARKED = "parked"
    UNPARKED = "unparked"


@dataclass(frozen=True)
class Line:
    """One change. All texts are raw; `note` says why it may have no effect."""

    act: Act
    label: str
    old: str
    new: str
    note: str = ""
    place: str = ""
    """The dotted place of a setting that only the server describes."""


@dataclass(frozen=True)
class Review:
    """All that is to be known before a save."""

    losses: tuple[Loss, ...]
    lines: tuple[Line, ...]
    warnings: tuple[Problem, ...]
    fields: FormFields


def review(draft: Draft, server: Server, losing: Iterable[str] = ()) -> Review:
    """Describe the save of a draft on a server; `losing` are the MCP servers whose untold secrets go with it."""
    edited = {problem for problem in draft.problems if not problem.stops and _is_edited(draft, problem)}
    lost = (*limits.losses(draft, server), *limits.parking_losses(draft, server), *limits.servers_losing(losing))
    return Review(
        lost if draft.changes else (),
        tuple(lines(draft, server)),
        tuple(problem for problem in draft.problems if problem in edited),
        draft.fields,
    )


def _is_edited(draft: Draft, problem: Problem) -> bool:
    if problem.row is None:
        return problem.key in draft.edits
    entry = draft.servers.entry(problem.row)
    return entry is not None and entry.state is not EntryState.KEPT


def lines(draft: Draft, server: Server | None = None) -> Iterator[Line]:
    """Each change of a draft, in the order of the form."""
    for key in (entry for entry in draft.fields.by_key if entry in draft.edits):
        if key == MCP:
            copies = {row for group in duplicates(draft.stored_servers) for row in group}
            for changed in draft.servers.edited:
                line = _server_line(changed)
                is_copy = changed.removed and changed.row in copies
                yield replace(line, note=COMES_BACK) if is_copy else line
            continue
        act = Act.UNSET if draft.edits[key] is None else Act.SET
        entry, new = draft.field_at(key), words.change_words(draft, key)
        place = key if entry.described else ""
        yield Line(act, entry.label, words.former(draft, key), new, limits.effect(key, server), place)


def _server_line(entry: Entry) -> Line:
    before, kept = entry.before or entry.server, _kept_note(entry.server)
    note = HERE_ONLY if entry.local else ""
    label = words.server_title(before)
    match entry.state:
        case EntryState.REMOVED:
            return Line(Act.REMOVED, label, words.server_details(entry.server), "", note)
        case EntryState.PARKED:
            return Line(Act.PARKED, label, words.server_details(before), KEPT_HERE, kept)
        case EntryState.UNPARKED:
            return Line(Act.UNPARKED, label, KEPT_HERE, words.server_details(entry.server), note)
        case EntryState.ADDED:
            return Line(Act.ADDED, label, "", words.server_details(entry.server))
        case _:
            old, new = map(", ".join, differences(before, entry.server))
            return Line(Act.EDITED, label, old, new, f"{note} {kept}".strip() if entry.local else note)


def _kept_note(server: McpServer) -> str:
    """What this machine keeps of the secrets of a parked server, and what not."""
    kept = WITH_SECRETS if bare(server) != server else ""
    return " ".join(filter(None, (kept, words.to_type(server))))
