"""Every canonical field on a real server: set, set again, unset where it can be, and nothing else moves."""

from typing import Any

import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.settings import SECRET_FIELDS, Settings
from quarterdeck.client.settings import losses
from tests.live.kit import refused
from tests.live.settings_kit import FLAGS, changed, has_field, settings_of, unlike
from tests.live.summary import Notes
from tests.live.values import VALUES

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("name", [name for name in VALUES if name not in SECRET_FIELDS])
async def test_a_field_is_set_and_unset_and_no_other_changes(editable: Client, name: str) -> None:
    record = await existing(editable, name)
    if name == "llm_model":  # of an address that nobody stored, servers show or hide their own with the model
        record = await changed(editable, record, {"llm_base_url": "https://llm.example/v1"})
    held = getattr(record, name, None)
    for value in sorted(VALUES[name], key=lambda value: bool(value == held)):
        gone = {loss.field for loss in losses(record, {name: value}, editable.server) if loss.field == "llm_base_url"}
        before, record = record, await changed(editable, record, {name: value})
        assert getattr(record, name) == value
        assert unlike(before, record) == {name, *gone}
    if await unset(editable, record, name):
        before, record = record, await settings_of(editable)
        assert getattr(record, name, None) in (None, "")
        assert unlike(before, record) == {name}


@pytest.mark.parametrize("name", [name for name in VALUES if name in SECRET_FIELDS])
async def test_a_secret_is_stored_and_cleared_and_no_other_field_changes(
    editable: Client, notes: Notes, name: str
) -> None:
    record = await existing(editable, name)
    flag = FLAGS.get(name)
    for value in VALUES[name]:
        before, record = record, await changed(editable, record, {name: value})
        assert unlike(before, record) <= {flag}
        assert flag is None or getattr(record, flag)
    if await unset(editable, record, name):
        before, record = record, await settings_of(editable)
        assert unlike(before, record) == {flag} - {None}
        assert flag is None or not getattr(record, flag)
        cleared_with = editable.server.rules(name).clear_with
        told = "its flag says so" if flag else "the server tells nothing of it"
        notes.add(f"{name}: {cleared_with!r} clears it at once; {told}")


async def existing(client: Client, name: str) -> Settings:
    """The record as it is now; skips for a field that this server does not have, which the client must refuse."""
    record, server = await settings_of(client), client.server
    if has_field(name, record, server):
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
