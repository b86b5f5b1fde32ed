"""What a save will do, to be read before it is sent: losses first, then each change, without any secret."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from quarterdeck.draft import limits, words
from quarterdeck.draft.draft import MCP, Draft
from quarterdeck.draft.form_fields import FormFields
from quarterdeck.draft.limits import Loss
from quarterdeck.draft.mcp import Entry, EntryState
from quarterdeck.draft.problem import Problem
from quarterdeck.draft.server_changes import differences
from quarterdeck.service.models.capabilities import Server


class Act(StrEnum):
    """What happens to a line's thing; the value is its word."""

    SET = "set"
    UNSET = "unset"
    ADDED = "added"
    EDITED = "edited"
    REMOVED = "removed"


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
    return Review(
        (*limits.losses(draft, server), *limits.servers_losing(losing)),
        tuple(_lines(draft, server)),
        tuple(problem for problem in draft.problems if problem in edited),
        draft.fields,
    )


def _is_edited(draft: Draft, problem: Problem) -> bool:
    if problem.row is None:
        return problem.key in draft.edits
    entry = draft.servers.entry(problem.row)
    return entry is not None and entry.state is not EntryState.KEPT


def _lines(draft: Draft, server: Server) -> Iterator[Line]:
    for key in (entry for entry in draft.fields.by_key if entry in draft.edits):
        if key == MCP:
            yield from (_server_line(entry) for entry in draft.servers.entries if entry.state is not EntryState.KEPT)
            continue
        act = Act.UNSET if draft.edits[key] is None else Act.SET
        entry, new = draft.field_at(key), words.change_words(draft, key)
        place = key if entry.described else ""
        yield Line(act, entry.label, words.former(draft, key), new, limits.effect(key, server), place)


def _server_line(entry: Entry) -> Line:
    label = words.server_title(entry.was or entry.server)
    if entry.removed:
        return Line(Act.REMOVED, label, words.server_details(entry.server), "")
    if entry.was is None:
        return Line(Act.ADDED, label, "", words.server_details(entry.server))
    return Line(Act.EDITED, label, *map(", ".join, differences(entry.was, entry.server)))
