"""Custom secrets and tokens of git providers: written, and never told."""

from pathlib import Path

import pytest

from tests.local.conftest import Caller, Json, Opener, stored
from tests.servers import Mode

MASK = "**********"


def secret(name: str, value: str = "v", **more: str) -> Json:
    return {"name": name, "value": value, **more}


async def listed(caller: Caller) -> list[tuple[str, str]]:
    told = await caller.get("/api/secrets")
    assert all(set(one) == {"name", "description"} for one in told["custom_secrets"])
    return [(one["name"], one["description"]) for one in told["custom_secrets"]]


def values(folder: Path) -> dict[str, str]:
    return {name: entry["secret"] for name, entry in stored(folder, "secrets")["custom_secrets"].items()}


@pytest.mark.parametrize("store", ["merge", "replace"])
async def test_a_secret_is_renamed_and_described_but_keeps_its_value(
    open_service: Opener, folder: Path, store: Mode
) -> None:
    caller = await open_service(store=store)
    for name in ("A", "B"):
        await caller.post("/api/secrets", secret(name, f"v{name}", description="d"))
    answer = await caller.http.put("/api/secrets/A", json=secret("C", "other", description="new"))
    assert answer.status_code == 200
    assert await listed(caller) == [("B", "d"), ("C", "new")]
    assert values(folder) == {"B": "vB", "C": "vA"}
    await caller.http.put("/api/secrets/C", json={"name": "C"})
    assert await listed(caller) == [("B", "d"), ("C", "")]


async def test_both_doors_lead_to_the_same_secrets(caller: Caller, folder: Path) -> None:
    custom = {"A": {"secret": "va", "description": "a"}, "B": "vb"}
    await caller.post("/api/settings", {"secrets_store": {"custom_secrets": custom}})
    assert await listed(caller) == [("A", "a"), ("B", "")]
    await caller.http.delete("/api/secrets/A")
    await caller.post("/api/settings", {"secrets_store": {"custom_secrets": {"B": ""}}})
    assert values(folder) == {}


async def set_tokens(caller: Caller, **tokens: Json) -> tuple[int, list[str]]:
    answer = await caller.http.post("/api/add-git-providers", json={"provider_tokens": tokens})
    return answer.status_code, list(answer.json())


async def providers(caller: Caller) -> Json:
    await caller.post("/api/settings", {})
    answer = await caller.http.get("/api/settings")
    assert "ghp" not in answer.text
    return answer.json()["provider_tokens_set"]


async def test_tokens_are_told_by_provider_and_host(caller: Caller) -> None:
    both = {"github": {"token": "ghp", "host": "g.example"}, "gitlab": {"token": "glp"}}
    assert await set_tokens(caller, **both) == (200, ["message"])
    assert await providers(caller) == {"github": "g.example", "gitlab": None}
    await caller.post("/api/unset-provider-tokens")
    assert await providers(caller) == {}


async def test_tokens_not_sent_are_dropped_and_empty_ones_keep_theirs(caller: Caller, folder: Path) -> None:
    await set_tokens(caller, github={"token": "ghp", "host": "g.example"}, gitlab={"token": "glp"})
    await set_tokens(
        caller, github={"token": "", "host": "other.example"}, forgejo={"token": None, "host": "f.example"}
    )
    assert await providers(caller) == {"github": "other.example"}
    assert stored(folder, "secrets")["provider_tokens"]["github"] == {"token": "ghp", "host": "other.example"}


@pytest.mark.parametrize("token", [MASK, " ••• "])
async def test_a_mask_changes_nothing(caller: Caller, token: str) -> None:
    await set_tokens(caller, github={"token": "ghp"})
    assert await set_tokens(caller, github={"token": "new"}, gitlab={"token": token}) == (422, ["detail"])
    assert await providers(caller) == {"github": None}
