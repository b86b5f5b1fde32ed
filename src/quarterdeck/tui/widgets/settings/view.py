"""What the form shows: a draft, what the server can do with it, and what is wrong with it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from quarterdeck.draft import limits, words
from quarterdeck.draft.catalogue import BY_KEY, CATALOGUE
from quarterdeck.draft.draft import MCP, Draft
from quarterdeck.draft.field import Control, Field, Group
from quarterdeck.draft.mcp import Entry, EntryState
from quarterdeck.draft.problem import Problem
from quarterdeck.service.models.capabilities import Server

SERVER_ROW = "mcp:"
"""Begins the id of a row that is an MCP server; alone, it is the row that stands where there is none."""
OTHER_ROW = "other:"
"""Begins the id of a row that is a field the deck does not know."""


@dataclass(frozen=True)
class Counts:
    """How many edits and errors a group has."""

    edits: int
    errors: int


@dataclass(frozen=True)
class FormView:
    """All that decides what the form's lines look like, besides their width."""

    draft: Draft
    server: Server | None = None
    complaints: tuple[Problem, ...] = ()
    """What the server said of the last save."""
    contested: frozenset[str] = frozenset()
    """Edited fields that someone else changed meanwhile."""
    query: str = ""

    @cached_property
    def problems(self) -> Mapping[tuple[str, int | None], Problem]:
        """(field, MCP row) -> what is wrong with it, errors before warnings."""
        found: dict[tuple[str, int | None], Problem] = {}
        for problem in (*limits.problems(self.draft, self.server), *self.complaints):
            place = (problem.key, problem.row)
            if place not in found or (problem.stops and not found[place].stops):
                found[place] = problem
        return found

    def problem_at(self, row: str) -> Problem | None:
        """What is wrong with a row."""
        number = server_row(row)
        return self.problems.get((row, None) if number is None else (MCP, number))

    def is_edited(self, row: str) -> bool:
        """Whether a row is edited; what is wrong with it then stands under it."""
        number = server_row(row)
        if number is None:
            return row in self.draft.edits
        entry = self.draft.servers.entry(number)
        return entry is not None and entry.state is not EntryState.KEPT

    @property
    def first_error(self) -> str | None:
        """The row of the first error, in the order of the form."""
        errors = (problem for problem in self.problems.values() if problem.stops)
        return next((row_of(problem) for problem in errors), None)

    def fields(self, group: Group) -> Iterator[Field]:
        """The fields of a group that are rows of their own and match the filter."""
        for entry in CATALOGUE:
            if entry.group is not group or entry.control is Control.SERVERS:
                continue
            is_there = not entry.extra or (self.draft.base is not None and hasattr(self.draft.base, entry.key))
            if is_there and self._matches(entry.label, entry.key, entry.help, group):
                yield entry

    def servers(self) -> Iterator[Entry]:
        """The MCP servers that match the filter."""
        for entry in self.draft.servers.entries:
            if self._matches(words.server_title(entry.server), words.server_details(entry.server), MCP, Group.MCP):
                yield entry

    @property
    def has_others(self) -> bool:
        """Whether the record has fields the deck does not know."""
        return bool(self._unknown())

    def others(self) -> Iterator[tuple[str, str]]:
        """(name, value) of the fields the deck does not know that match the filter."""
        for name, value in self._unknown().items():
            if self._matches(name, Group.OTHER):
                yield name, words.unknown_words(name, value)

    def _unknown(self) -> Mapping[str, object]:
        members = (self.draft.base.model_extra if self.draft.base else None) or {}
        return {name: value for name, value in members.items() if name not in BY_KEY}

    def counts(self, group: Group) -> Counts:
        """Edits and errors of a group, filtered out or not."""
        edits = [key for key in self.draft.edits if BY_KEY[key].group is group and key != MCP]
        rows = [entry for entry in self.draft.servers.entries if entry.state is not EntryState.KEPT]
        errors = [problem for problem in self.problems.values() if problem.stops and BY_KEY[problem.key].group is group]
        return Counts(len(edits) + (len(rows) if group is Group.MCP else 0), len(errors))

    def _matches(self, *texts: str) -> bool:
        haystack = " ".join(texts).casefold()
        return all(word in haystack for word in self.query.casefold().split())


def server_row(row: str) -> int | None:
    """The number of an MCP server's row, None for other rows."""
    number = row.removeprefix(SERVER_ROW)
    return int(number) if number != row and number else None


def row_of(problem: Problem) -> str:
    """The row a problem is shown at."""
    return problem.key if problem.row is None else f"{SERVER_ROW}{problem.row}"
