"""The settings that exist on one server: the canonical ones that it accepts, and those that it describes itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import AGENT_KIND, TAKES_ONLY, USUAL_KIND
from quarterdeck.client.nested import CANONICAL as CANONICAL_AT
from quarterdeck.client.options import SchemaField
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.settings.fields import (
    LIST,
    NUMBER,
    OBJECT,
    ON_OFF,
    SECRET,
    TEXT,
    WHOLE,
    Field,
    Group,
    typed,
)

ONE_KIND = frozenset({"agent", "enable_default_condenser", "condenser_max_size"})
"""Settings that only the service's own kind of agent has."""

_GROUPS: Mapping[str, Group] = {"llm": Group.LLM, "general": Group.AGENT, "condenser": Group.AGENT}
"""The form's groups for sections of a server."""
_KINDS = {"boolean": ON_OFF, "integer": WHOLE, "number": NUMBER, "array": LIST, "object": OBJECT}


def generated_fields(schema: Iterable[SchemaField], kind: str) -> Iterator[Field]:
    """Yield the fields for agents of this kind, in the server's order; the first one is the kind itself."""
    schema = tuple(schema)
    kinds = dict.fromkeys(field.variant for field in schema if field.variant is not None)
    if len(kinds) > 1:
        yield _kind_field(kinds)
    seen: set[str] = set()
    for described in schema:
        if described.variant in (None, kind) and described.place not in seen:
            seen.add(described.place)
            yield _field(described)


def _kind_field(kinds: Iterable[str]) -> Field:
    return Field(
        AGENT_KIND,
        "Agent kind",
        "What runs a conversation. Another kind has settings of its own: those of the old kind are discarded.",
        group=Group.AGENT,
        choices={kind: "the service's own agents" if kind == USUAL_KIND else "" for kind in kinds},
        only_choices=True,
        nullable=False,
        unset_to=USUAL_KIND,
    )


def _field(described: SchemaField) -> Field:
    default = None if described.secret else described.default
    choices = {
        choice.value: "" if choice.label == choice.value else choice.label
        for choice in described.choices
        if isinstance(choice.value, str | int) and not isinstance(choice.value, bool)
    }
    return Field(
        described.place,
        described.label,
        (described.description or "The server says nothing more about it.").replace("``", ""),
        SECRET if described.secret else _KINDS.get(described.value_type, TEXT),
        group=_GROUPS.get(described.section) or described.section_label or "More settings",
        choices=choices,
        only_choices=True,
        default="" if default is None else typed(default),
        nullable=default is None,
        unset_to=default,
        minor=described.prominence == "minor",
        needs=tuple(CANONICAL_AT.get(place, place) for place in described.depends_on),
    )


NOT_HERE = "This server has no such setting."


@dataclass(frozen=True)
class FormFields:
    """All settings, in the order of the form within their groups."""

    fields: tuple[Field, ...]
    nested: bool = False
    """Whether the server has the nested generation, which returns no secrets of MCP servers and keeps all members."""

    @cached_property
    def by_key(self) -> Mapping[str, Field]:
        """The settings by key."""
        return {entry.key: entry for entry in self.fields}

    @cached_property
    def longest_label(self) -> int:
        """Characters of the longest label."""
        return max(len(entry.label) for entry in self.fields)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The titles of the groups in reading order; those described by a server come after the agent's."""
        known = tuple(Group)
        others = dict.fromkeys(entry.group for entry in self.fields if entry.group not in known)
        place = known.index(Group.AGENT) + 1
        return (*known[:place], *others, *known[place:])

    def keeping(self, edited: Iterable[Field]) -> "FormFields":
        """Return these settings plus edited ones that are missing here, marked as absent."""
        lost = tuple(replace(entry, absent=NOT_HERE) for entry in edited if entry.key not in self.by_key)
        return replace(self, fields=(*self.fields, *lost)) if lost else self


CANONICAL = FormFields(CATALOGUE)
"""The settings before a server is known."""


def fields_on(server: Server | None, schema: Sequence[SchemaField], kind: str) -> FormFields:
    """Return the settings on a server for this agent kind; `schema` is its description, empty if not known."""
    if server is None:
        return CANONICAL
    canonical = (_on(server, entry, kind) for entry in CATALOGUE)
    return FormFields((*canonical, *generated_fields(schema, kind)), server.nested)


def kind_in(record: Settings | None) -> str:
    """Return the agent kind of a record."""
    kind = record.leaves.get(AGENT_KIND) if record is not None else None
    return kind if isinstance(kind, str) else USUAL_KIND


def _on(server: Server, entry: Field, kind: str) -> Field:
    rules = server.rules(entry.key)
    if not rules.present:
        return replace(entry, absent=NOT_HERE)
    if kind != USUAL_KIND and entry.key in ONE_KIND:
        return replace(entry, absent=f"Agents of the kind {kind} have no such setting.")
    if server.nested and (only := TAKES_ONLY.get(entry.key)):
        entry = replace(entry, choices={value: entry.choices[value] for value in only}, only_choices=True)
    return replace(entry, nullable=entry.nullable and rules.clearable)
