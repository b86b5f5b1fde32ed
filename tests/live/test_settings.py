from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.settings import SECRET_FIELDS, Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.client.settings import losses
from tests.live.kit import FLAGS, changed, has, refused, settings_of, shown, told, unlike
from tests.live.test_values import LEAVES, VALUES

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

TRIED: Mapping[str, Sequence[Any]] = {**VALUES, **LEAVES}


@pytest.mark.parametrize("name", TRIED)
async def test_each_is_set_and_unset_and_no_other_changes(
    editable: Client, schema: Mapping[str, SchemaField], notes: list[str], name: str
) -> None:
    record = await existing(editable, name)
    if name == "llm_model":  # of an address that nobody stored, servers show or hide their own with the model
        record = await changed(editable, record, {"llm_base_url": "https://llm.example/v1"})
    tried = list(TRIED[name])
    if "." in name:
        assert schema[name].secret is isinstance(tried[0], SecretStr)
        tried = [choice.value for choice in schema[name].choices] or tried
    held, seen_at = shown(record, name), FLAGS.get(name, name)
    for value in sorted(tried, key=lambda value: bool(value == held)):
        gone = {loss.field for loss in losses(record, {name: value}, editable.server)} & {"llm_base_url"}
        before, record = record, await changed(editable, record, {name: value})
        assert shown(record, name) == told(editable, name, value)
        moved = {seen_at} if shown(before, name) != shown(record, name) else set()
        assert unlike(before, record) == {*moved, *gone}
    if await unset(editable, record, name):
        before, record = record, await settings_of(editable)
        empty = (False,) if name in FLAGS else (schema[name].default,) if "." in name else (None, "")
        assert shown(record, name) in empty
        assert unlike(before, record) <= {seen_at}
        if name in SECRET_FIELDS:
            found = "its flag says so" if name in FLAGS else "the server tells nothing of it"
            notes.append(f"{name}: {editable.server.rules(name).clear_with!r} clears it at once; {found}")


async def existing(client: Client, name: str) -> Settings:
    """The record as it is now; skips for a field that this server does not have, which the client must refuse."""
    record, server = await settings_of(client), client.server
    if has(name, record, server):
        return record
    if not server.rules(name).present:
        with refused(ErrorKind.INVALID, unsent=True):
            await client.settings.store(record, {name: VALUES[name][0]})
    pytest.skip(f"this server has no {name}")


async def unset(client: Client, record: Settings, name: str) -> bool:
    """Unset a field, or see the client refuse it where the server would not do it; says which."""
    changes: dict[str, Any] = {name: None}
    if client.server.rules(name).clearable:
        await client.settings.store(record, changes)
        return True
    with refused(ErrorKind.INVALID, unsent=True):
        await client.settings.store(record, changes)
    return False
