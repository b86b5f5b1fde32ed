import re
import signal

import httpx
import pytest

from tests.cli.serving import serving
from tests.local.conftest import Caller


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_right_after_the_first_line_ends_it_cleanly(number: signal.Signals) -> None:
    with serving() as (_, program):
        program.process.send_signal(number)
        assert program.process.wait(10) == 0


def test_it_answers_to_names_of_loopback_only() -> None:
    with serving() as (url, _), httpx.Client(base_url=url, trust_env=False) as client:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:80", "[::1]:3000"):
            assert client.get("/alive", headers={"Host": host}).status_code == 200, host
        strangers = "example.com 127.8.8.8 127.0.0.1.example.com:3000 localhost.example.com 10.0.0.1 [::1"
        for host in (*strangers.split(), ""):
            for path in ("/alive", "/api/settings", "/nowhere"):
                assert client.get(path, headers={"Host": host}).status_code == 400, (host, path)


OPEN = ["/alive", "/health", "/ready", "/server_info", "/openapi.json", "/docs"]
OF_AGENTS = ["/agent/alive", "/agent/server_info"]


async def test_health_and_description_need_no_key(caller: Caller) -> None:
    del caller.http.headers["X-Session-API-Key"]
    assert [(await caller.http.get(path)).status_code for path in OPEN] == [200] * len(OPEN)
    info = await caller.get("/server_info")
    assert (info["service"], info["settings_store"], info["runs_agents"]) == ("quarterdeck-local", "merge", False)
    # To make the description of the interface takes long enough to hold up keys, so nobody has to ask for it.
    assert info["version"] == (await caller.get("/openapi.json"))["info"]["version"]


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


async def test_only_what_is_well_formed_is_asked_for_its_key_and_single_records_are_not(caller: Caller) -> None:
    del caller.http.headers["X-Session-API-Key"]
    assert (await caller.http.get("/api/v1/nope")).status_code == 404
    assert (await caller.http.put("/api/settings", json={})).status_code == 405
    for single in ("sandboxes/x", f"app-conversations/{'0' * 32}"):  # which are read by batch only
        assert (await caller.http.get(f"/api/v1/{single}")).status_code == 405
    as_json = {"Content-Type": "application/json"}
    assert (await caller.http.post("/api/settings", content=b'{"language":', headers=as_json)).status_code == 422
    assert (await caller.http.post("/api/settings", json={"language": 5})).status_code == 401
    assert (await caller.http.get("/api/v1/sandboxes/search?limit=0")).status_code == 401
