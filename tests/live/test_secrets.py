"""Secrets, git tokens and LLM profiles on a real server."""

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.enums import GitProvider
from quarterdeck.client.models.settings import Profile, Profiles, ProviderToken
from tests.live.kit import changed, refused, settings_of

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


async def described(client: Client) -> dict[str, str | None]:
    return {secret.name: secret.description or None for secret in await client.secrets.list()}


@pytest_asyncio.fixture(loop_scope="session")
async def name(client: Client) -> AsyncIterator[str]:
    """A name that no secret has; secrets whose names begin with it are deleted afterwards."""
    name = f"LIVE_CHECK_{secrets.token_hex(4).upper()}"
    yield name
    for left in [secret.name for secret in await client.secrets.list() if secret.name.startswith(name)]:
        await client.secrets.delete(left)


async def test_a_secret_is_created_described_renamed_and_deleted(client: Client, name: str) -> None:
    others = await described(client)
    await client.secrets.create(name, SecretStr("live-check-1"), "first words")
    unknown = f"{name}_OTHER"
    for attempt in (client.secrets.delete(unknown), client.secrets.update(unknown, new_name=unknown, description="x")):
        with refused(ErrorKind.MISSING):
            await attempt
    with refused(ErrorKind.CONFLICT, unsent=True):
        await client.secrets.create(name, SecretStr("live-check-2"), "other words")
    if client.server.nested:
        await client.secrets.replace_value(name, SecretStr("live-check-2"))
    else:
        with refused(ErrorKind.NOT_OFFERED, unsent=True):
            await client.secrets.replace_value(name, SecretStr("live-check-2"))
    assert await described(client) == {**others, name: "first words"}
    await client.secrets.update(name, new_name=name, description="other words")
    assert await described(client) == {**others, name: "other words"}
    await client.secrets.update(name, new_name=f"{name}_NEW", description="other words")
    assert await described(client) == {**others, f"{name}_NEW": "other words"}
    await client.secrets.delete(f"{name}_NEW")
    assert await described(client) == others


async def test_a_token_that_its_provider_refuses_says_nothing_of_the_key(client: Client, notes: list[str]) -> None:
    before = await settings_of(client)
    if before.provider_tokens_set:
        pytest.skip("tokens are stored that could not be put back")
    with refused(ErrorKind.INVALID):
        await client.secrets.set_tokens({GitProvider.GITHUB: ProviderToken(token=SecretStr("live-check"))})
    assert await client.settings.load() == before
    await client.secrets.clear_tokens()
    assert await client.settings.load() == before
    notes.append("provider tokens: a refused one is reported as invalid, and the key as good")


@pytest_asyncio.fixture(loop_scope="session")
async def profile_name(editable: Client) -> AsyncIterator[str]:
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


async def test_a_profile_is_saved_activated_renamed_and_deleted(editable: Client, profile_name: str) -> None:
    client, name, other = editable, profile_name, f"{profile_name}-2"
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
