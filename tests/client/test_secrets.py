"""Custom secrets and tokens on stand-ins of both generations."""

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.settings import ProviderToken
from tests.client.fakes import Answer, FakeServer, client_of
from tests.client.recorded import SERVERS

TOKENS = {"1.2.1": "POST /api/add-git-providers", "1.11.0": "POST /api/v1/secrets/git-providers"}
RELEASES = pytest.mark.parametrize("release", TOKENS)


def opened(release: str, *held: str) -> tuple[Client, FakeServer]:
    """A client of a server that holds these secrets, and says yes to everything else."""
    items = [{"name": name, "description": ""} for name in held]
    listed = {"custom_secrets": items} if release == "1.2.1" else {"items": items, "next_page_id": None}
    client, server = client_of(lambda asked: Answer(listed if asked.method == "GET" else {"message": "done"}))
    client.transport.server = SERVERS[release]
    return client, server


@RELEASES
async def test_a_secret_that_is_there_is_never_overwritten_by_a_new_one(release: str) -> None:
    client, server = opened(release, "TOKEN")
    with pytest.raises(ServiceError) as caught:
        await client.secrets.create("TOKEN", SecretStr("v2"))
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.CONFLICT, Outcome.NOT_SENT)
    assert server.sent("POST") == []


@RELEASES
async def test_a_rename_without_a_description_says_that_there_is_none(release: str) -> None:
    client, server = opened(release, "OTHER")
    await client.secrets.update("TOKEN", new_name="OTHER", description=None)
    assert server.sent("PUT")[0].body == {"name": "OTHER", "description": ""}


@RELEASES
async def test_a_change_of_nothing_that_the_server_calls_a_success_is_none(release: str) -> None:
    client, _ = opened(release)
    with pytest.raises(ServiceError) as caught:
        await client.secrets.update("TOKEN", new_name="TOKEN", description="x")
    assert caught.value.kind is ErrorKind.MISSING


@RELEASES
@pytest.mark.parametrize("name", ["", "a b", "a/b", "1A", "Ä", "A\n", ".."])
async def test_a_name_that_could_not_be_deleted_again_is_refused(release: str, name: str) -> None:
    client, server = opened(release, "OLD")
    for attempt in (
        client.secrets.create(name, SecretStr("v")),
        client.secrets.update("OLD", new_name=name, description=None),
    ):
        with pytest.raises(ServiceError) as caught:
            await attempt
        assert caught.value.kind is ErrorKind.INVALID
    assert server.asked == []


@RELEASES
async def test_a_mask_is_not_stored_as_a_secret(release: str) -> None:
    client, server = opened(release)
    with pytest.raises(ServiceError) as caught:
        await client.secrets.create("TOKEN", SecretStr("**********"))
    assert caught.value.kind is ErrorKind.INVALID
    assert server.sent("POST") == []


@RELEASES
async def test_all_tokens_go_at_once_and_a_kept_one_is_sent_empty(release: str) -> None:
    client, server = opened(release)
    await client.secrets.set_tokens(
        {"github": ProviderToken(token=SecretStr("ghp")), "gitlab": ProviderToken(host="git.example")}
    )
    given = {"github": {"token": "ghp", "host": ""}, "gitlab": {"token": "", "host": "git.example"}}
    assert server.asked[0].body == {"provider_tokens": given}


@RELEASES
@pytest.mark.parametrize("said", [{"detail": "Unauthorized"}, {"error": "Invalid token. Please make sure"}])
async def test_a_token_that_its_provider_refuses_is_not_a_wrong_key(release: str, said: dict[str, str]) -> None:
    client, _ = client_of({TOKENS[release]: [Answer(said, 401)]})
    client.transport.server = SERVERS[release]
    with pytest.raises(ServiceError) as caught:
        await client.secrets.set_tokens({"github": ProviderToken(token=SecretStr("ghp_sentinel"))})
    assert caught.value.kind is ErrorKind.INVALID
    assert "github" in caught.value.words
    assert "ghp_sentinel" not in f"{caught.value.words}{caught.value.advice}"
