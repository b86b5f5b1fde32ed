import pytest

from tests.local.conftest import Caller

OPEN = ["/alive", "/health", "/ready", "/server_info", "/openapi.json", "/docs"]
GUARDED = [
    ("GET", "/api/settings"),
    ("POST", "/api/settings"),
    ("GET", "/api/secrets"),
    ("POST", "/api/secrets"),
    ("PUT", "/api/secrets/x"),
    ("DELETE", "/api/secrets/x"),
    ("POST", "/api/add-git-providers"),
    ("POST", "/api/unset-provider-tokens"),
    ("GET", "/api/options/models"),
    ("GET", "/api/v1/sandboxes/search"),
    ("GET", "/api/v1/sandboxes?id=x"),
    ("POST", "/api/v1/sandboxes"),
    ("POST", "/api/v1/sandboxes/x/pause"),
    ("POST", "/api/v1/sandboxes/x/resume"),
    ("DELETE", "/api/v1/sandboxes/x?sandbox_id=x"),
    ("GET", "/api/v1/sandbox-specs/search"),
    ("GET", "/api/v1/app-conversations"),
    ("POST", "/api/v1/app-conversations"),
    ("GET", "/api/v1/app-conversations/search"),
    ("GET", "/api/v1/app-conversations/count"),
    ("GET", "/api/v1/app-conversations/start-tasks/search"),
    ("PATCH", "/api/v1/app-conversations/00000000000000000000000000000000"),
    ("DELETE", "/api/v1/app-conversations/00000000000000000000000000000000"),
]


async def test_health_and_description_need_no_key(caller: Caller) -> None:
    del caller.http.headers["X-Session-API-Key"]
    assert [(await caller.http.get(path)).status_code for path in OPEN] == [200] * len(OPEN)


@pytest.mark.parametrize("key", ["", "wrong", "ключ"])
async def test_empty_and_wrong_keys_are_refused_alike(caller: Caller, key: str) -> None:
    del caller.http.headers["X-Session-API-Key"]
    headers = {b"X-Session-API-Key": key.encode()}
    for method, path in GUARDED:
        answer = await caller.http.request(method, path, headers=headers, json={})
        assert (answer.status_code, answer.json()) == (401, {"detail": "Unauthorized"}), (method, path)


async def test_only_what_is_well_formed_is_asked_for_its_key(caller: Caller) -> None:
    del caller.http.headers["X-Session-API-Key"]
    assert (await caller.http.get("/api/v1/nope")).status_code == 404
    assert (await caller.http.put("/api/settings", json={})).status_code == 405
    broken = await caller.http.post(
        "/api/settings", content=b'{"language":', headers={"Content-Type": "application/json"}
    )
    assert broken.status_code == 422
    assert (await caller.http.post("/api/settings", json={"language": 5})).status_code == 401
    assert (await caller.http.get("/api/v1/sandboxes/search?limit=0")).status_code == 401


async def test_it_says_what_it_is(caller: Caller) -> None:
    info = await caller.get("/server_info")
    assert info["service"] == "quarterdeck-local"
    assert info["settings_store"] == "merge"
    assert info["runs_agents"] is False


async def test_the_other_generation_is_not_there(caller: Caller) -> None:
    answer = await caller.http.get("/api/v1/settings")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize("path", ["/api/v1/sandboxes/x", "/api/v1/app-conversations/00000000000000000000000000000000"])
async def test_single_records_are_read_by_batch_only(caller: Caller, path: str) -> None:
    assert (await caller.http.get(path)).status_code == 405


async def test_what_can_be_chosen_is_told_in_bare_lists(caller: Caller) -> None:
    for name in ("models", "agents", "security-analyzers"):
        offered = await caller.get(f"/api/options/{name}")
        assert offered
        assert all(isinstance(one, str) for one in offered)
