"""Custom secrets and tokens on stand-ins of both generations."""

from typing import Any

import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.settings import ProviderToken
from tests.client.fakes import Answer, Asked, FakeServer, client_of
from tests.client.recorded import SERVERS

PATHS = {"1.2.1": "/api/secrets", "1.11.0": "/api/v1/secrets"}
TOKENS = {"1.2.1": "POST /api/add-git-providers", "1.11.0": "POST /api/v1/secrets/git-providers"}
RELEASES = pytest.mark.parametrize("release", PATHS)


class SecretServer:
    """Keeps secrets as a release does, its odd sides included."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.path = PATHS[release]
        self.held: dict[str, dict[str, Any]] = {}

    def __call__(self, asked: Asked) -> Answer:
        name = asked.path.removeprefix(f"{self.path}/")
        match asked.method:
            case "GET":
                items = [{"name": name, "description": held["description"]} for name, held in self.held.items()]
                flat = self.path == "/api/secrets"
                return Answer({"custom_secrets": items} if flat else {"items": items, "next_page_id": None})
            case "POST":
                body = asked.body
                kept = self.held.get(body["name"], {}).get("description", "")
                self.held[body["name"]] = {"value": body["value"], "description": body.get("description", kept)}
                return Answer({"message": "created"}, 201)
            case "PUT" if self.held.get(name) or not self.held:
                value = self.held.pop(name, {}).get("value")
                if value is not None:
                    self.held[asked.body["name"]] = {"value": value, "description": asked.body.get("description", "")}
                return Answer({"message": "updated"})
            case "DELETE" if name in self.held or not self.held:
                self.held.pop(name, None)
                return Answer({"message": "deleted"})
        return Answer({"error": f"Secret with ID {name} not found"}, 404)


def opened(release: str) -> tuple[Client, FakeServer, SecretServer]:
    keeper = SecretServer(release)
    client, wire = client_of(keeper)
    client.server = SERVERS[release]
    return client, wire, keeper


@RELEASES
async def test_a_secret_that_is_there_is_never_overwritten_by_a_new_one(release: str) -> None:
    client, _, keeper = opened(release)
    await client.secrets.create("TOKEN", SecretStr("v1"))
    with pytest.raises(ServiceError) as caught:
        await client.secrets.create("TOKEN", SecretStr("v2"))
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.CONFLICT, Outcome.NOT_SENT)
    assert keeper.held["TOKEN"]["value"] == "v1"


@RELEASES
async def test_a_rename_without_a_description_says_that_there_is_none(release: str) -> None:
    client, wire, _ = opened(release)
    await client.secrets.create("TOKEN", SecretStr("v1"), "first")
    await client.secrets.update("TOKEN", new_name="OTHER", description=None)
    assert wire.sent("PUT")[0].body == {"name": "OTHER", "description": ""}


@RELEASES
async def test_a_change_of_nothing_that_the_server_calls_a_success_is_none(release: str) -> None:
    client, _, _ = opened(release)
    with pytest.raises(ServiceError) as caught:
        await client.secrets.update("TOKEN", new_name="TOKEN", description="x")
    assert caught.value.kind is ErrorKind.MISSING


@RELEASES
@pytest.mark.parametrize("name", ["", "a b", "a/b", "1A", "Ä", "A\n", ".."])
async def test_a_name_that_could_not_be_deleted_again_is_refused(release: str, name: str) -> None:
    client, wire, keeper = opened(release)
    keeper.held["OLD"] = {"value": "v", "description": ""}
    for attempt in (
        client.secrets.create(name, SecretStr("v")),
        client.secrets.update("OLD", new_name=name, description=None),
    ):
        with pytest.raises(ServiceError) as caught:
            await attempt
        assert caught.value.kind is ErrorKind.INVALID
    assert wire.asked == []


@RELEASES
async def test_a_mask_is_not_stored_as_a_secret(release: str) -> None:
    client, wire, _ = opened(release)
    with pytest.raises(ServiceError) as caught:
        await client.secrets.create("TOKEN", SecretStr("**********"))
    assert caught.value.kind is ErrorKind.INVALID
    assert wire.sent("POST") == []


@RELEASES
async def test_all_tokens_go_at_once_and_a_kept_one_is_sent_empty(release: str) -> None:
    client, wire = client_of({TOKENS[release]: [Answer({"message": "stored"})]})
    client.server = SERVERS[release]
    await client.secrets.set_tokens(
        {"github": ProviderToken(token=SecretStr("ghp")), "gitlab": ProviderToken(host="git.example")}
    )
    assert wire.asked[0].body == {
        "provider_tokens": {
            "github": {"token": "ghp", "host": ""},
            "gitlab": {"token": "", "host": "git.example"},
        }
    }


@RELEASES
@pytest.mark.parametrize("said", [{"detail": "Unauthorized"}, {"error": "Invalid token. Please make sure"}])
async def test_a_token_that_its_provider_refuses_is_not_a_wrong_key(release: str, said: dict[str, str]) -> None:
    client, _ = client_of({TOKENS[release]: [Answer(said, 401)]})
    client.server = SERVERS[release]
    with pytest.raises(ServiceError) as caught:
        await client.secrets.set_tokens({"github": ProviderToken(token=SecretStr("ghp_sentinel"))})
    assert caught.value.kind is ErrorKind.INVALID
    assert "github" in caught.value.words
    assert "ghp_sentinel" not in f"{caught.value.words}{caught.value.advice}"
