"""The settings there are on one server: the canonical ones as it takes them, and those that it describes itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from quarterdeck.client.models.capabilities import Generation, Server
from quarterdeck.client.models.schema import SchemaField
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings.fields.catalogue import CATALOGUE
from quarterdeck.settings.fields.field import Field, Group
from quarterdeck.settings.fields.generated import AGENT_KIND, USUAL_KIND, generated_fields
from quarterdeck.settings.fields.nested_fields import ONE_KIND, as_nested

NOT_HERE = "This server has no such setting."


@dataclass(frozen=True, eq=False)
class FormFields:
    """All settings, in the order of the form within their groups; two are equal only when they are the same one."""

    fields: tuple[Field, ...]

    @cached_property
    def by_key(self) -> Mapping[str, Field]:
        """Key -> setting."""
        return {entry.key: entry for entry in self.fields}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Titles of the groups in reading order; those a server describes come after the agent's."""
        known = tuple(Group)
        others = dict.fromkeys(entry.group for entry in self.fields if entry.group not in known)
        place = known.index(Group.AGENT) + 1
        return (*known[:place], *others, *known[place:])

    def keeping(self, edited: Iterable[Field]) -> "FormFields":
        """With settings that are edited, and that are not among these, as ones that the server lacks."""
        lost = tuple(replace(entry, absent=NOT_HERE) for entry in edited if entry.key not in self.by_key)
        return FormFields((*self.fields, *lost)) if lost else self


CANONICAL = FormFields(CATALOGUE)
"""What there is before a server is known."""


def fields_on(server: Server | None, schema: Sequence[SchemaField], kind: str) -> FormFields:
    """The settings on a server with agents of this kind; `schema` is what it describes, empty while that is unknown."""
    if server is None:
        return CANONICAL
    canonical = (_on(server, entry, kind) for entry in CATALOGUE)
    return FormFields((*canonical, *generated_fields(schema, kind)))


def kind_in(record: Settings | None) -> str:
    """The kind of agent that a record is for."""
    kind = record.leaves.get(AGENT_KIND) if record is not None else None
    return kind if isinstance(kind, str) else USUAL_KIND


def _on(server: Server, entry: Field, kind: str) -> Field:
    rules = server.rules(entry.key)
    if not rules.present:
        return replace(entry, absent=NOT_HERE)
    if kind != USUAL_KIND and entry.key in ONE_KIND:
        return replace(entry, absent=f"Agents of the kind {kind} have no such setting.")
    if server.generation is Generation.NESTED:
        entry = as_nested(entry)
    return replace(entry, nullable=entry.nullable and rules.clearable)
