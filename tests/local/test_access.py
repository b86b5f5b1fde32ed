import re

import pytest

from tests.local.conftest import Caller

OPEN = ["/alive", "/health", "/ready", "/server_info", "/openapi.json", "/docs"]
OF_AGENTS = ["/agent/alive", "/agent/server_info"]


async def test_health_and_description_need_no_key(caller: Caller) -> None:
    del caller.http.headers["X-Session-API-Key"]
    assert [(await caller.http.get(path)).status_code for path in OPEN] == [200] * len(OPEN)


@pytest.mark.parametrize("key", ["", "wrong", "ключ"])
async def test_empty_and_wrong_keys_are_refused_alike(caller: Caller, key: str) -> None:
    del caller.http.headers["X-Session-API-Key"]
    paths = (await caller.get("/openapi.json"))["paths"]
    guarded = [(method, path) for path, of in paths.items() for method in of if path not in {*OPEN, *OF_AGENTS}]
    assert len(guarded) > 25
    for method, path in guarded:
        at = re.sub(r"{.*?}", "0" * 32, path)
        answer = await caller.http.request(method, at, headers={b"X-Session-API-Key": key.encode()}, json={})
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


@pytest.mark.parametrize("path", ["/api/v1/sandboxes/x", "/api/v1/app-conversations/00000000000000000000000000000000"])
async def test_single_records_are_read_by_batch_only(caller: Caller, path: str) -> None:
    assert (await caller.http.get(path)).status_code == 405


async def test_it_says_what_it_is(caller: Caller) -> None:
    info = await caller.get("/server_info")
    assert (info["service"], info["settings_store"], info["runs_agents"]) == ("quarterdeck-local", "merge", False)
