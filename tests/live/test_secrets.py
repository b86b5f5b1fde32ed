import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind
from quarterdeck.client.models.enums import GitProvider
from quarterdeck.client.models.settings import ProviderToken
from tests.live.kit import refused, settings_of

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
