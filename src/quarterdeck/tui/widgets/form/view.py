"""What the form shows: a draft, what the server can do with it, what is wrong with it, and the lists beside it.

Rows go by ids: a field's is its key, those of other rows begin with their kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import CustomSecret, Profiles
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field, Group, Problem
from quarterdeck.settings.mcp import Entry, EntryState
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.settings.review import problems
from quarterdeck.tui.cells import Tone


class RowKind(StrEnum):
    """What a row is; the value begins its id. No field's key has a colon."""

    FIELD = ""
    SERVER = "mcp:"
    OTHER = "other:"
    MORE = "more:"
    SECRET = "secret:"  # noqa: S105 - begins a row's id
    TOKEN = "token:"  # noqa: S105 - begins a row's id
    PROFILE = "profile:"


AT_ONCE = {
    RowKind.PROFILE: Group.PROFILES,
    RowKind.TOKEN: Group.TOKENS,
    RowKind.SECRET: Group.SECRETS,
}
"""Rows that are no part of the draft, by their group: what is done to them is done at once."""
_GROUPS = {**AT_ONCE, RowKind.SERVER: Group.MCP, RowKind.OTHER: Group.OTHER}
LISTS: Mapping[str, RowKind] = {group: kind for kind, group in _GROUPS.items() if kind is not RowKind.SERVER}
"""Groups that are lists of names, by what their rows are."""
_KINDS = {str(kind): kind for kind in RowKind}
KEPT = "kept as it is"
_OWN_ROWS = (Control.SERVERS, Control.READ_ONLY)
"""Controls of fields that are lists of rows."""


def kind_of(row: str) -> RowKind:
    """What a row is."""
    return _KINDS.get(row[: row.find(":") + 1], RowKind.FIELD)


def name_in(row: str) -> str:
    """What the id says besides the kind; empty for the row that stands where a list has none."""
    return row.removeprefix(kind_of(row))


def server_row(row: str) -> int | None:
    """The number of an MCP server's row, None for other rows."""
    return int(name_in(row)) if kind_of(row) is RowKind.SERVER and name_in(row) else None


def row_of(key: str, server: int | None) -> str:
    """The row of a field, or of an MCP server by its number."""
    return key if server is None else f"{RowKind.SERVER}{server}"


@dataclass(frozen=True)
class Tried:
    """What came of checking an MCP server as it was then, in a word or two."""

    server: McpServer
    brief: str
    tone: Tone


@dataclass(frozen=True)
class Lists:
    """What stands beside the record: None for what is not read yet; `trouble` says of a group why it is not."""

    secrets: tuple[CustomSecret, ...] | None = None
    profiles: Profiles | None = None
    trouble: Mapping[Group, str] = field(default_factory=dict)
    checks: Mapping[int, Tried] = field(default_factory=dict)
    """Row of an MCP server -> its last check in this run."""

    def tried(self, entry: Entry) -> Tried | None:
        """The check of a server, while the server is as it was then."""
        tried = self.checks.get(entry.row)
        return tried if tried is not None and tried.server == entry.server else None


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
    lists: Lists = field(default_factory=Lists)

    @cached_property
    def problems(self) -> Mapping[str, Problem]:
        """Row -> what is wrong with it, errors before warnings."""
        found: dict[str, Problem] = {}
        for problem in (*problems(self.draft, self.server), *self.complaints):
            row = row_of(problem.key, problem.row)
            if row not in found or (problem.stops and not found[row].stops):
                found[row] = problem
        return found

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What stops a save, one a row, in the order of the form."""
        return tuple(problem for problem in self.problems.values() if problem.stops)

    def is_edited(self, row: str) -> bool:
        """Whether a row is edited; what is wrong with it then stands under it."""
        entry = self.entry(row)
        return row in self.draft.edits if entry is None else entry.state is not EntryState.KEPT

    def is_news(self, row: str) -> bool:
        """Whether somebody else changed what a row holds."""
        return row in self.contested or (self._place(row) in self.arrived and not self.is_edited(row))

    def seen(self, row: str) -> "FormView":
        """The view once somebody has looked at a row."""
        place = self._place(row)
        return replace(self, arrived=self.arrived - {place}) if place in self.arrived else self

    def _place(self, row: str) -> str | Identity:
        """What holds on to a row when the list of MCP servers is read anew."""
        entry = self.entry(row)
        return row if entry is None or entry.origin is None else entry.origin

    def entry(self, row: str) -> Entry | None:
        """The MCP server of a row."""
        number = server_row(row)
        return None if number is None else self.draft.servers.entry(number)

    def field(self, row: str) -> Field | None:
        """The field of a row."""
        return self.draft.fields.by_key.get(row)

    @property
    def hides_secrets(self) -> bool:
        """Whether the server tells no secrets of MCP servers."""
        return self.server is not None and self.server.nested

    # Groups

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups there are, in reading order."""
        missing = set() if self.server is not None and self.server.nested else {Group.PROFILES}
        missing |= set() if self._unknown else {Group.OTHER}
        return tuple(group for group in self.draft.fields.groups if group not in missing)

    def group_of(self, row: str) -> str | None:
        """The group a row is in."""
        kind = kind_of(row)
        if kind is RowKind.FIELD:
            entry = self.field(row)
            return entry.group if entry is not None else None
        return name_in(row) if kind is RowKind.MORE else _GROUPS[kind]

    def counts(self, group: str) -> Counts:
        """Edits and errors of a group, filtered out or not."""
        group_of = self.draft.field_at
        edits = sum(group_of(key).group == group and key != MCP for key in self.draft.edits)
        servers = len(self.draft.servers.edited) if group == Group.MCP else 0
        return Counts(edits + servers, sum(group_of(error.key).group == group for error in self.errors))

    # Rows

    def fields(self, group: str) -> Iterator[Field]:
        """The fields of a group that are shown: the lesser ones only when looked for, edited or set."""
        return (entry for entry in self._matching(group) if self.query or not self._is_lesser(entry))

    def hidden(self, group: str) -> int:
        """How many fields of a group only a search shows."""
        return 0 if self.query else sum(self._is_lesser(entry) for entry in self._matching(group))

    def _matching(self, group: str) -> Iterator[Field]:
        for entry in self.draft.fields.fields:
            if entry.group != group or entry.control in _OWN_ROWS:
                continue
            is_there = not entry.extra or (self.draft.base is not None and hasattr(self.draft.base, entry.key))
            if is_there and self.matches(entry.label, entry.key, entry.help, group):
                yield entry

    def _is_lesser(self, entry: Field) -> bool:
        usual = entry.secret or self.draft.was(entry.key) in (None, entry.unset_to)
        return entry.minor and usual and entry.key not in self.draft.edits and entry.key not in self.problems

    def servers(self) -> tuple[Entry, ...]:
        """The MCP servers that match the filter."""
        entries = self.draft.servers.entries
        if not self.query:
            return entries
        return tuple(
            entry
            for entry in entries
            if self.matches(words.server_title(entry.server), words.server_details(entry.server), MCP, Group.MCP)
        )

    def listed(self, kind: RowKind) -> Sequence[tuple[str, str, str]] | None:
        """(name, what is said of it, how it stands) of the rows of a list that match; None while it is not read."""
        match kind:
            case RowKind.SECRET if self.lists.secrets is not None:
                rows = [(secret.name, secret.description or "", "value stored") for secret in self.lists.secrets]
            case RowKind.TOKEN:
                rows = [(name, host or "its usual host", "token stored") for name, host in self.tokens.items()]
            case RowKind.PROFILE if self.lists.profiles is not None:
                active = self.lists.profiles.active
                profiles = self.lists.profiles.items
                rows = [(each.name, each.model or "", "active" if each.name == active else "") for each in profiles]
            case RowKind.OTHER:
                rows = [(name, words.unknown_words(name, held), KEPT) for name, held in self._unknown.items()]
            case _:
                return None
        return [row for row in rows if self.matches(*row[:2], _GROUPS[kind])]

    def secret(self, name: str) -> CustomSecret:
        """The secret of a row."""
        return next(secret for secret in self.lists.secrets or () if secret.name == name)

    @property
    def tokens(self) -> Mapping[str, str | None]:
        """Git provider -> host, of those that a token is stored for."""
        return (self.draft.base.provider_tokens_set if self.draft.base is not None else None) or {}

    @cached_property
    def _unknown(self) -> Mapping[str, object]:
        members = (self.draft.base.model_extra if self.draft.base else None) or {}
        return {name: value for name, value in members.items() if name not in self.draft.fields.by_key}

    def matches(self, *texts: str) -> bool:
        """Whether texts together hold every word of the filter."""
        haystack = " ".join(texts).casefold()
        return all(word in haystack for word in self.query.casefold().split())
