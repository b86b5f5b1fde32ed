import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.settings import Profile, Profiles
from tests.live.kit import changed, refused, settings_of

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(loop_scope="session")
async def name(editable: Client) -> AsyncIterator[str]:
    """A name that no profile has; profiles whose names begin with it are deleted, and the active one is so again."""
    if not editable.server.nested:
        with refused(ErrorKind.NOT_OFFERED, unsent=True):
            await editable.profiles.list()
        pytest.skip("this server keeps no LLM profiles")
    name, active = f"live-check-{secrets.token_hex(4)}", (await editable.profiles.list()).active
    yield name
    for left in [profile.name for profile in (await editable.profiles.list()).items if profile.name.startswith(name)]:
        await editable.profiles.delete(left)
    if active is not None:
        await editable.profiles.activate(active)


def found(profiles: Profiles, name: str) -> Profile | None:
    return next((profile for profile in profiles.items if profile.name == name), None)


async def test_a_profile_is_saved_activated_renamed_and_deleted(editable: Client, name: str) -> None:
    client, other = editable, f"{name}-2"
    for attempt in (client.profiles.activate(name), client.profiles.rename(name, other)):
        with refused(ErrorKind.MISSING):
            await attempt
    record = await changed(client, await settings_of(client), {"llm_model": "openai/gpt-4o"})
    for saved in (name, other):
        await client.profiles.save(saved)
    with refused(ErrorKind.CONFLICT):
        await client.profiles.rename(name, other)
    profile = found(await client.profiles.list(), name)
    assert (profile and profile.model) == "openai/gpt-4o"
    record = await changed(client, record, {"llm_model": "openai/gpt-4.1"})
    assert (await client.profiles.list()).active is None
    await client.profiles.activate(name)
    assert (await client.profiles.list()).active == name
    assert (await settings_of(client)).llm_model == "openai/gpt-4o"
    await client.profiles.rename(name, f"{name}.new")
    profiles = await client.profiles.list()
    assert (found(profiles, name), profiles.active) == (None, f"{name}.new")
    await client.profiles.delete(f"{name}.new")
    assert found(await client.profiles.list(), f"{name}.new") is None
