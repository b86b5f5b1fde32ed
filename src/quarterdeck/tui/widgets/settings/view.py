"""What the form shows: a draft, what the server can do with it, what is wrong with it, and the lists beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import CustomSecret, Profile
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field, Group, Problem
from quarterdeck.settings.mcp import Entry, EntryState
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.settings.review import problems
from quarterdeck.tui.widgets.settings.lists import NOTHING_READ, Lists
from quarterdeck.tui.widgets.settings.rows import RowKind, kind_of, name_in, row_of, server_row

_GROUPS = {
    RowKind.SERVER: Group.MCP,
    RowKind.OTHER: Group.OTHER,
    RowKind.SECRET: Group.SECRETS,
    RowKind.TOKEN: Group.TOKENS,
    RowKind.PROFILE: Group.PROFILES,
}
OWN_ROWS = (Control.SERVERS, Control.READ_ONLY)
"""Controls of fields that are lists of rows."""


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
    """Edited rows that someone else changed meanwhile."""
    arrived: frozenset[str | Identity] = frozenset()
    """Fields and MCP servers that came changed from the server and were not looked at since."""
    query: str = ""
    lists: Lists = NOTHING_READ

    @cached_property
    def problems(self) -> Mapping[tuple[str, int | None], Problem]:
        """(field, MCP row) -> what is wrong with it, errors before warnings."""
        found: dict[tuple[str, int | None], Problem] = {}
        for problem in (*problems(self.draft, self.server), *self.complaints):
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

    def is_news(self, row: str) -> bool:
        """Whether somebody else changed what a row holds."""
        return row in self.contested or (self._place(row) in self.arrived and not self.is_edited(row))

    def seen(self, row: str) -> "FormView":
        """The view once somebody has looked at a row."""
        place = self._place(row)
        return replace(self, arrived=self.arrived - {place}) if place in self.arrived else self

    def _place(self, row: str) -> str | Identity:
        """What holds on to a row when the list of MCP servers is read anew."""
        number = server_row(row)
        entry = self.draft.servers.entry(number) if number is not None else None
        return row if entry is None or entry.origin is None else entry.origin

    @property
    def first_error(self) -> str | None:
        """The row of the first error, in the order of the form."""
        errors = (problem for problem in self.problems.values() if problem.stops)
        return next((row_of(problem) for problem in errors), None)

    @property
    def hides_secrets(self) -> bool:
        """Whether the server tells no secrets of MCP servers."""
        return self.server is not None and self.server.nested

    # Groups

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups there are, in reading order."""
        return tuple(group for group in self.draft.fields.groups if self._is_there(group))

    def _is_there(self, group: str) -> bool:
        if group == Group.PROFILES:
            return self.server is not None and self.server.nested
        return group != Group.OTHER or bool(self._unknown())

    def group_of(self, row: str) -> str | None:
        """The group a row is in."""
        kind = kind_of(row)
        if kind is RowKind.FIELD:
            entry = self.draft.fields.by_key.get(row)
            return entry.group if entry is not None else None
        return name_in(row) if kind is RowKind.MORE else _GROUPS[kind]

    def counts(self, group: str) -> Counts:
        """Edits and errors of a group, filtered out or not."""
        group_of = self.draft.field_at
        edits = [key for key in self.draft.edits if group_of(key).group == group and key != MCP]
        rows = self.draft.servers.edited if group == Group.MCP else ()
        errors = [one for one in self.problems.values() if one.stops and group_of(one.key).group == group]
        return Counts(len(edits) + len(rows), len(errors))

    # Rows

    def fields(self, group: str) -> Iterator[Field]:
        """The fields of a group that are shown: the lesser ones only when looked for, edited or set."""
        return (entry for entry in self._matching(group) if self.query or not self._is_lesser(entry))

    def hidden(self, group: str) -> int:
        """How many fields of a group only a search shows."""
        return 0 if self.query else sum(self._is_lesser(entry) for entry in self._matching(group))

    def _matching(self, group: str) -> Iterator[Field]:
        for entry in self.draft.fields.fields:
            if entry.group != group or entry.control in OWN_ROWS:
                continue
            is_there = not entry.extra or (self.draft.base is not None and hasattr(self.draft.base, entry.key))
            if is_there and self._matches(entry.label, entry.key, entry.help, group):
                yield entry

    def _is_lesser(self, entry: Field) -> bool:
        usual = entry.secret or self.draft.was(entry.key) in (None, entry.unset_to)
        return entry.minor and usual and entry.key not in self.draft.edits and self.problem_at(entry.key) is None

    def servers(self) -> Iterator[Entry]:
        """The MCP servers that match the filter."""
        for entry in self.draft.servers.entries:
            if self._matches(words.server_title(entry.server), words.server_details(entry.server), MCP, Group.MCP):
                yield entry

    def secrets(self) -> Iterator[CustomSecret]:
        """The custom secrets that match the filter."""
        for secret in self.lists.secrets or ():
            if self._matches(secret.name, secret.description or "", Group.SECRETS):
                yield secret

    def profiles(self) -> Iterator[Profile]:
        """The LLM profiles that match the filter."""
        for profile in self.lists.profiles.items if self.lists.profiles is not None else ():
            if self._matches(profile.name, profile.model or "", Group.PROFILES):
                yield profile

    @property
    def tokens(self) -> Mapping[str, str | None]:
        """Git provider -> host, of those that a token is stored for."""
        return (self.draft.base.provider_tokens_set if self.draft.base is not None else None) or {}

    def shown_tokens(self) -> Iterator[tuple[str, str | None]]:
        """(provider, host) of the tokens that match the filter."""
        for provider, host in self.tokens.items():
            if self._matches(provider, host or "", Group.TOKENS):
                yield provider, host

    def others(self) -> Iterator[tuple[str, str]]:
        """(name, value) of the fields the deck does not know that match the filter."""
        for name, value in self._unknown().items():
            if self._matches(name, Group.OTHER):
                yield name, words.unknown_words(name, value)

    def _unknown(self) -> Mapping[str, object]:
        members = (self.draft.base.model_extra if self.draft.base else None) or {}
        return {name: value for name, value in members.items() if name not in self.draft.fields.by_key}

    def _matches(self, *texts: str) -> bool:
        haystack = " ".join(texts).casefold()
        return all(word in haystack for word in self.query.casefold().split())
