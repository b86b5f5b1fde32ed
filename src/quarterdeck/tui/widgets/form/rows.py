"""The rows of the form, and everything that decides how they look: a draft, the server, and data saved at once.

A field's row has the field's key as its id; the ids of other rows begin with their kind.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import PROFILES, CustomSecret, Profiles
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control, Field, Group, Problem
from quarterdeck.settings.mcp import Entry, EntryState
from quarterdeck.settings.review import problems
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.text import Shown


class RowKind(StrEnum):
    """The kind of a row; its value begins the row's id. No field's key contains a colon."""

    FIELD = ""
    SERVER = "mcp:"
    OTHER = "other:"
    MORE = "more:"
    SECRET = "secret:"  # noqa: S105 - begins a row's id
    TOKEN = "token:"  # noqa: S105 - begins a row's id
    PROFILE = "profile:"
    NONE = "none:"


AT_ONCE: Mapping[str, RowKind] = {
    Group.PROFILES: RowKind.PROFILE,
    Group.TOKENS: RowKind.TOKEN,
    Group.SECRETS: RowKind.SECRET,
}
"""Groups that are not part of the draft: commands on their rows act at once."""
_LISTS = {**AT_ONCE, Group.OTHER: RowKind.OTHER}
"""Groups that are lists of names."""
_OWN_ROWS = (Control.SERVERS, Control.READ_ONLY)
"""Controls of fields that are shown as lists of rows."""
CHIPS = {
    EntryState.ADDED: (Shown("new"), Tone.EDITED),
    EntryState.EDITED: (Shown("edited"), Tone.EDITED),
    EntryState.REMOVED: (Shown("will be deleted"), Tone.WARN),
    EntryState.DISABLED: (Shown("will be disabled"), Tone.WARN),
    EntryState.ENABLED: (Shown("will be enabled"), Tone.EDITED),
}
"""What a save does with an MCP server."""
MOST_PROFILES = 10
"""A server refuses more."""


@dataclass(frozen=True)
class Row:
    """A row; `name` is a field's key, a server's number or a name in a list, empty in an empty list."""

    kind: RowKind = RowKind.FIELD
    name: str = ""
    group: str = ""
    field: Field | None = None
    entry: Entry | None = None
    """The MCP server."""
    about: str = ""
    """The words after a name in a list."""
    stands: str = ""
    """Its state, in one or two words."""

    @cached_property
    def id(self) -> str:
        """The id of the row."""
        return f"{self.kind}{self.name}"

    @property
    def at_once(self) -> bool:
        """Whether commands on it act at once."""
        return self.group in AT_ONCE


NOWHERE = Row(RowKind.NONE)
"""The row under the cursor if nothing matches the filter."""


def row_of(key: str, server: int | None) -> str:
    """Return the row id of a field, or of an MCP server by its number."""
    return key if server is None else f"{RowKind.SERVER}{server}"


@dataclass(frozen=True)
class CheckResult:
    """The result of checking an MCP server, in one or two words and in a sentence; `server` is what was checked."""

    server: McpServer
    brief: str
    tone: Tone
    words: str = ""


@dataclass(frozen=True)
class Lists:
    """Data that is saved at once: None if not read yet; `trouble` has the reason for each group that cannot be read."""

    secrets: tuple[CustomSecret, ...] | None = None
    profiles: Profiles | None = None
    trouble: Mapping[str, str] = field(default_factory=dict)

    @property
    def profile_names(self) -> frozenset[str]:
        """The names of the known profiles."""
        return frozenset(each.name for each in self.profiles.items) if self.profiles is not None else frozenset()


@dataclass(frozen=True)
class FormView:
    """Everything that decides how the form's lines look, except their width."""

    draft: Draft
    server: Server | None = None
    read_only: bool = False
    """Whether the connection lets nothing be changed."""
    complaints: tuple[Problem, ...] = ()
    """The server's errors about the last save."""
    contested: frozenset[str] = frozenset()
    """Edited rows that somebody else changed meanwhile."""
    arrived: frozenset[str] = frozenset()
    """Rows that came changed from the server and were not looked at since."""
    query: str = ""
    editing: str = ""
    """The field whose editor is open; it stays shown."""
    lists: Lists = field(default_factory=Lists)
    checks: Mapping[int, CheckResult] = field(default_factory=dict)
    """The last check in this run, by the row of the MCP server."""

    def check_of(self, entry: Entry) -> CheckResult | None:
        """Return the last check of a server, if it is still what was checked."""
        tried = self.checks.get(entry.row)
        return tried if tried is not None and tried.server == entry.server else None

    @cached_property
    def problems(self) -> Mapping[str, Problem]:
        """The problem of each row, errors before warnings."""
        found: dict[str, Problem] = {}
        for problem in (*problems(self.draft, self.server), *self.complaints):
            row = row_of(problem.key, problem.row)
            if row not in found or (problem.stops and not found[row].stops):
                found[row] = problem
        return found

    @cached_property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that prevent a save, one per row, in the order of the form."""
        return tuple(problem for problem in self.problems.values() if problem.stops)

    @property
    def hides_secrets(self) -> bool:
        """Whether the server returns no secrets of MCP servers."""
        return self.server is not None and self.server.nested

    @property
    def edits_llm(self) -> bool:
        """Whether settings of the LLM are edited."""
        return any(self.draft.field_at(key).group == Group.LLM for key in self.draft.edits)

    def is_edited(self, row: Row) -> bool:
        """Whether a row is edited; its problem is then shown below it."""
        return row.id in self.draft.edits if row.entry is None else row.entry.edited

    def is_news(self, row: Row) -> bool:
        """Whether somebody else changed the value of a row."""
        return row.id in self.contested or (row.id in self.arrived and not self.is_edited(row))

    def why_untold(self, row: Row) -> str:
        """Return why it is not known what is in a list without rows; empty if nothing is."""
        untold = "Not told before settings are saved." if row.kind is RowKind.TOKEN and self.draft.base is None else ""
        return self.lists.trouble.get(row.group) or row.stands or untold

    @cached_property
    def edits_in(self) -> Counter[str]:
        """The number of edits in each group, shown or not."""
        edits = Counter(self.draft.field_at(key).group for key in self.draft.edits if key != MCP)
        edits[Group.MCP] += len(self.draft.servers.edited)
        return edits

    @cached_property
    def errors_in(self) -> Counter[str]:
        """The number of errors in each group, shown or not."""
        return Counter(self.draft.field_at(error.key).group for error in self.errors)

    # Rows

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The existing groups, in reading order."""
        missing = set() if self.hides_secrets else {Group.PROFILES}
        missing |= set() if self._unknown else {Group.OTHER}
        return tuple(group for group in self.draft.fields.groups if group not in missing)

    @cached_property
    def rows(self) -> Mapping[str, Row]:
        """The rows that match the filter by id, in reading order."""
        return {row.id: row for group in self.groups for row in self._rows_in(group)}

    def _rows_in(self, group: str) -> Iterator[Row]:
        hidden = 0
        for entry in self._fields_in(group):
            if not self.query and self._is_lesser(entry):
                hidden += 1
            else:
                yield Row(RowKind.FIELD, entry.key, group, field=entry)
        if hidden:
            yield Row(RowKind.MORE, group, group, about=str(hidden))
        if group == Group.MCP:
            yield from self._servers()
        elif group in _LISTS:
            yield from self._names(group, _LISTS[group])

    def _fields_in(self, group: str) -> Iterator[Field]:
        """Yield the fields of a group that this server has and that match the filter."""
        for entry in self.draft.fields.fields:
            if entry.group == group and entry.control not in _OWN_ROWS:
                is_there = self.draft.has(entry) and not (entry.extra and self.draft.base is None)
                is_named = entry.key in self.draft.edits or (entry.absent and not entry.extra)
                key = entry.key if "." in self.query else entry.key.partition(".")[2] or entry.key  # most begin alike
                if (is_there or is_named) and self._matches(entry.label, key, entry.help, group):
                    yield entry

    def _is_lesser(self, entry: Field) -> bool:
        """Whether a field is hidden unless searched for: it is minor, neither set nor edited, and has no problem."""
        if entry.key == self.editing:
            return False
        usual = entry.secret or self.draft.was(entry.key) in (None, entry.unset_to)
        return entry.minor and usual and entry.key not in self.draft.edits and entry.key not in self.problems

    def _servers(self) -> Iterator[Row]:
        entries = self.draft.servers.entries
        for entry in entries:
            if not self.query or self._matches(*self._shown(entry), MCP, Group.MCP):
                yield Row(RowKind.SERVER, str(entry.row), Group.MCP, entry=entry)
        if not entries and self._matches(MCP, Group.MCP):
            yield Row(RowKind.SERVER, group=Group.MCP)

    def _shown(self, entry: Entry) -> Iterator[str]:
        """Yield what the row of an MCP server shows."""
        yield words.entry_place_word(entry)
        yield words.entry_key_words(entry, hidden=self.hides_secrets)
        yield words.server_title(entry.server)
        yield words.server_details(entry.server)
        yield from CHIPS.get(entry.state, ())[:1]

    def _names(self, group: str, kind: RowKind) -> Iterator[Row]:
        """Yield a row for each name, or one that says why there is none."""
        known = self._known(kind)
        for name, about, stands in known or ():
            if self._matches(name, about, stands, group):
                yield Row(kind, name, group, about=about, stands=stands)
        if not known and self._matches(group):
            yield Row(kind, group=group, stands="" if known is not None else "Reading…")

    def _known(self, kind: RowKind) -> Sequence[tuple[str, str, str]] | None:
        """Return (name, words about it, state); None if the list is not read yet."""
        secrets, profiles = self.lists.secrets, self.lists.profiles
        match kind:
            case RowKind.SECRET if secrets is not None:
                return [(each.name, each.description or "", "value stored") for each in secrets]
            case RowKind.TOKEN:
                return [(name, host or "its usual host", "token stored") for name, host in self.draft.tokens.items()]
            case RowKind.PROFILE if profiles is not None:
                stands = {} if self.draft.base is None else {self.draft.base.active_profile: "active"}
                keys = {True: "", False: " · no key"}
                return [
                    (each.name, f"{each.model or 'no model'}{keys[each.api_key_set]}", stands.get(each.name, ""))
                    for each in profiles.items
                ]
            case RowKind.OTHER:
                unknown = self._unknown.items()
                return [(name, words.unknown_words(name, held), "kept as it is") for name, held in unknown]
        return None

    @cached_property
    def _unknown(self) -> Mapping[str, object]:
        members = (self.draft.base.model_extra if self.draft.base else None) or {}
        shown = {PROFILES, *self.draft.fields.by_key}
        return {name: value for name, value in members.items() if name not in shown}

    def _matches(self, *texts: str) -> bool:
        """Whether the texts together contain every word of the filter."""
        haystack = " ".join(texts).casefold()
        return all(word in haystack for word in self.query.casefold().split())
