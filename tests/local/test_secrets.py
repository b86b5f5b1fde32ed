"""Custom secrets and tokens of git providers: written by both generations, told by neither."""

from pathlib import Path

import pytest

from tests.local.conftest import Caller, Json, Opener, stored
from tests.servers import Mode

FLAT: list[Mode] = ["merge", "replace"]
MASK = "**********"


def secret(name: str, value: str = "v", **more: str) -> Json:
    return {"name": name, "value": value, **more}


async def refused(caller: Caller, method: str, path: str, body: Json = None) -> tuple[int, list[str]]:
    answer = await caller.http.request(method, path, json=body)
    return answer.status_code, list(answer.json())


async def flat_list(caller: Caller) -> list[tuple[str, str]]:
    told = await caller.get("/api/secrets")
    assert all(set(one) == {"name", "description"} for one in told["custom_secrets"])
    return [(one["name"], one["description"]) for one in told["custom_secrets"]]


def values(folder: Path) -> dict[str, str]:
    return {name: entry["secret"] for name, entry in stored(folder, "secrets")["custom_secrets"].items()}


@pytest.mark.parametrize("store", FLAT)
async def test_a_flat_secret_is_renamed_and_described_but_keeps_its_value(
    open_service: Opener, folder: Path, store: Mode
) -> None:
    caller = await open_service(store=store)
    for name in ("A", "B"):
        await caller.post("/api/secrets", secret(name, f"v{name}", description="d"))
    answer = await caller.http.put("/api/secrets/A", json=secret("C", "other", description="new"))
    assert answer.status_code == 200
    assert await flat_list(caller) == [("B", "d"), ("C", "new")]
    assert values(folder) == {"B": "vB", "C": "vA"}
    await caller.http.put("/api/secrets/C", json={"name": "C"})
    assert await flat_list(caller) == [("B", "d"), ("C", "")]


async def test_both_doors_of_the_merging_service_lead_to_the_same_secrets(caller: Caller, folder: Path) -> None:
    custom = {"A": {"secret": "va", "description": "a"}, "B": "vb"}
    await caller.post("/api/settings", {"secrets_store": {"custom_secrets": custom}})
    assert await flat_list(caller) == [("A", "a"), ("B", "")]
    await caller.http.delete("/api/secrets/A")
    await caller.post("/api/settings", {"secrets_store": {"custom_secrets": {"B": ""}}})
    assert values(folder) == {}


class Tokens:
    """The paths of tokens in one generation."""

    def __init__(self, caller: Caller, *, nested: bool) -> None:
        self.caller = caller
        self.nested = nested
        self.path = "/api/v1/secrets/git-providers" if nested else "/api/add-git-providers"

    async def set(self, **tokens: Json) -> tuple[int, list[str]]:
        return await refused(self.caller, "POST", self.path, {"provider_tokens": tokens})

    async def clear(self) -> tuple[int, list[str]]:
        if self.nested:
            return await refused(self.caller, "DELETE", self.path)
        return await refused(self.caller, "POST", "/api/unset-provider-tokens")

    async def told(self) -> Json:
        path = "/api/v1/settings" if self.nested else "/api/settings"
        await self.caller.post(path, {})
        answer = await self.caller.http.get(path)
        assert "ghp" not in answer.text
        return answer.json()["provider_tokens_set"]


@pytest.fixture(params=["merge", "replace", "nested"])
async def tokens(request: pytest.FixtureRequest, open_service: Opener) -> Tokens:
    return Tokens(await open_service(store=request.param), nested=request.param == "nested")


async def test_tokens_are_told_by_provider_and_host(tokens: Tokens) -> None:
    assert await tokens.set(github={"token": "ghp", "host": "g.example"}, gitlab={"token": "glp"}) == (200, ["message"])
    assert await tokens.told() == {"github": "g.example", "gitlab": None}
    assert await tokens.clear() == (200, ["message"])
    assert await tokens.told() == {}


async def test_tokens_not_sent_are_dropped_and_empty_ones_keep_theirs(tokens: Tokens, folder: Path) -> None:
    await tokens.set(github={"token": "ghp", "host": "g.example"}, gitlab={"token": "glp"})
    await tokens.set(github={"token": "", "host": "other.example"}, forgejo={"token": None, "host": "f.example"})
    assert await tokens.told() == {"github": "other.example"}
    assert stored(folder, "secrets")["provider_tokens"]["github"] == {"token": "ghp", "host": "other.example"}


@pytest.mark.parametrize("token", ["refused", MASK, " ••• "])
async def test_a_refused_token_changes_nothing(tokens: Tokens, token: str) -> None:
    await tokens.set(github={"token": "ghp"})
    member = "detail" if tokens.nested else "error"
    assert await tokens.set(github={"token": "new"}, gitlab={"token": token}) == (401, [member])
    assert await tokens.told() == {"github": None}
