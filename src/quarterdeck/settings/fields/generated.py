"""Settings that a server describes itself, made into fields of the form (contract c.2 "Schema endpoints")."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quarterdeck.client.models.schema import SchemaField
from quarterdeck.settings.fields import checks
from quarterdeck.settings.fields.checks import Check
from quarterdeck.settings.fields.field import Choice, Control, Field, Group
from quarterdeck.settings.fields.nested_fields import PLACES
from quarterdeck.settings.fields.reading import Reader, as_json, as_number, as_text, as_whole, typed

AGENT_KIND = "agent_settings.agent_kind"
USUAL_KIND = "openhands"

_GROUPS: Mapping[str, Group] = {"llm": Group.LLM, "general": Group.AGENT, "condenser": Group.AGENT}
"""Sections of a server that the form has a group for."""
_READERS: Mapping[str, tuple[Reader, str]] = {
    "integer": (as_whole, "This is not a whole number; type one such as 3."),
    "number": (as_number, "This is not a number; type one such as 0.5."),
    "array": (as_json(list), 'This is not a JSON list; type one such as ["a", "b"].'),
    "object": (as_json(dict), 'This is not a JSON object; type one such as {"a": 1}.'),
}


def generated_fields(schema: Iterable[SchemaField], kind: str) -> Iterator[Field]:
    """The fields for agents of this kind, in the server's order; first of all which kind it is."""
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
    values = tuple(Choice(kind, "the service's own agents" if kind == USUAL_KIND else "") for kind in kinds)
    return Field(
        AGENT_KIND,
        "Agent kind",
        Group.AGENT,
        "What runs a conversation. Another kind has settings of its own: those of the old kind are discarded.",
        Control.SELECT,
        checks=(checks.only([choice.value for choice in values]),),
        choices=values,
        nullable=False,
        unset_to=USUAL_KIND,
    )


def _field(described: SchemaField) -> Field:
    reader, sentence = _READERS.get(described.value_type, (as_text, ""))
    default = None if described.secret else described.default
    choices = tuple(
        Choice(choice.value, "" if choice.label == choice.value else choice.label)
        for choice in described.choices
        if isinstance(choice.value, str | int) and not isinstance(choice.value, bool)
    )
    return Field(
        described.place,
        described.label,
        _GROUPS.get(described.section) or described.section_label or "More settings",
        (described.description or "The server says nothing more of it.").replace("``", ""),
        _control(described, choices),
        reads=_defaulting(reader, default),
        checks=_checks(described, choices, sentence),
        choices=choices,
        default="" if default is None else typed(default),
        nullable=default is None,
        unset_to=default,
        minor=described.prominence == "minor",
        needs=tuple(PLACES.get(place, place) for place in described.depends_on),
    )


def _control(described: SchemaField, choices: tuple[Choice, ...]) -> Control:
    if described.secret:
        return Control.SECRET
    if described.value_type == "boolean":
        return Control.THREE_WAY
    return Control.SELECT if choices else Control.TEXT


def _checks(described: SchemaField, choices: tuple[Choice, ...], sentence: str) -> tuple[Check, ...]:
    if described.secret:
        return (checks.secret,)
    if described.value_type == "boolean":
        return ()
    if choices:
        return (checks.only([choice.value for choice in choices]),)
    return (checks.readable_as(sentence), checks.hidden_inside) if sentence else (checks.plain,)


def _defaulting(reader: Reader, default: Any) -> Reader:
    """A reader that takes an empty line for the server's default."""

    def read(text: str) -> Any:
        value = reader(text)
        return default if value is None else value

    return read
