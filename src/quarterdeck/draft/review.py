"""What a save will do, to be read before it is sent: losses first, then each change, without any secret."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from quarterdeck.draft import limits, words
from quarterdeck.draft.catalogue import BY_KEY
from quarterdeck.draft.draft import MCP, Draft
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
    """One change. `old` and `new` are raw text, `note` says why it may have no effect."""

    act: Act
    label: str
    old: str
    new: str
    note: str = ""


@dataclass(frozen=True)
class Review:
    """All that is to be known before a save."""

    losses: tuple[Loss, ...]
    lines: tuple[Line, ...]
    warnings: tuple[Problem, ...]


def review(draft: Draft, server: Server) -> Review:
    """Describe the save of a draft on a server."""
    edited = {problem for problem in draft.problems if not problem.stops and _is_edited(draft, problem)}
    return Review(
        tuple(limits.losses(draft, server)),
        tuple(_lines(draft, server)),
        tuple(problem for problem in draft.problems if problem in edited),
    )


def _is_edited(draft: Draft, problem: Problem) -> bool:
    if problem.row is None:
        return problem.key in draft.edits
    entry = draft.servers.entry(problem.row)
    return entry is not None and entry.state is not EntryState.KEPT


def _lines(draft: Draft, server: Server) -> Iterator[Line]:
    for key in (entry for entry in BY_KEY if entry in draft.edits):
        if key == MCP:
            yield from (_server_line(entry) for entry in draft.servers.entries if entry.state is not EntryState.KEPT)
            continue
        act = Act.UNSET if draft.edits[key] is None else Act.SET
        new = words.change_words(draft, key)
        yield Line(act, BY_KEY[key].label, words.former(draft, key), new, limits.effect(key, server))


def _server_line(entry: Entry) -> Line:
    label = words.server_title(entry.was or entry.server)
    if entry.removed:
        return Line(Act.REMOVED, label, words.server_details(entry.server), "")
    if entry.was is None:
        return Line(Act.ADDED, label, "", words.server_details(entry.server))
    return Line(Act.EDITED, label, *map(", ".join, differences(entry.was, entry.server)))
