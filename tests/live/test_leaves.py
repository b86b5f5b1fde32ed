"""Settings that only a server's own forms know: values of every type, set and set back to their defaults."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.options import SchemaField
from tests.live.settings_kit import changed, settings_of, unlike

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

TRIED: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "string": ("agent_settings.verification.critic_model_name", ("live-check", "Åsa's critic")),
    "integer": ("agent_settings.condenser.keep_first", (3, 4)),
    "number": ("agent_settings.llm.temperature", (0.25, 1)),
    "boolean": ("agent_settings.enable_sub_agents", (True, False)),
    "array": ("agent_settings.tools", ([], [{"name": "terminal", "params": {}}])),
    "object": ("agent_settings.llm.extra_headers", ({"X-One": "1", "X-Two": "2"}, {"X-Two": "3"})),
}
"""Value type -> a field of it and values for it that a server only keeps.

It acts on some others at every load: one that names a tokenizer is looked up on the network, for minutes where none is.
"""
SECRET = "agent_settings.verification.critic_api_key"
CHOSEN = "agent_settings.llm.reasoning_effort"


@pytest.mark.parametrize("value_type", TRIED)
async def test_a_field_of_each_type_is_set_and_set_back(
    editable: Client, schema: tuple[SchemaField, ...], value_type: str
) -> None:
    place, values = TRIED[value_type]
    field = offered(schema, place)
    assert field.value_type == value_type
    await walk(editable, field, values)


async def test_each_choice_of_a_field_is_taken(editable: Client, schema: tuple[SchemaField, ...]) -> None:
    field = offered(schema, CHOSEN)
    assert len(field.choices) > 1
    await walk(editable, field, [choice.value for choice in field.choices])


async def test_a_secret_is_taken_and_never_told(editable: Client, schema: tuple[SchemaField, ...]) -> None:
    field = offered(schema, SECRET)
    assert field.secret
    record = await settings_of(editable)
    for value in (SecretStr("live-check-5"), None):
        now = await changed(editable, record, {field.place: value})
        assert now.leaves[field.place] is None
        assert unlike(record, now) == set()


def offered(schema: Iterable[SchemaField], place: str) -> SchemaField:
    field = next((field for field in schema if field.place == place), None)
    return field or pytest.skip(f"this server has no {place}")


async def walk(client: Client, field: SchemaField, values: Iterable[Any]) -> None:
    """Set each value, then set the field back; nothing else may change on the way."""
    record = await settings_of(client)
    held = record.leaves[field.place]
    for value in sorted(values, key=lambda value: bool(value == held)):
        before, record = record, await changed(client, record, {field.place: value})
        assert record.leaves[field.place] == value
        assert unlike(before, record) == {field.place}
    reset = await changed(client, record, {field.place: None})
    assert reset.leaves[field.place] == field.default
    assert unlike(record, reset) <= {field.place}
