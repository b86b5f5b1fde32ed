from pathlib import Path

import pytest

from tests.client.recorded import FLAT, exchange
from tests.local.conftest import Caller, Json, sql, stored

MASK = "**********"
GITHUB = {"github": {"token": MASK}}
FULL: Json = exchange(FLAT, "settings-post-full").body
SECRETS = {name: FULL[name] for name in ("llm_api_key", "search_api_key", "sandbox_api_key")}


@pytest.mark.parametrize("failing", ["settings", "secrets"])
async def test_a_body_is_stored_whole_or_not_at_all(caller: Caller, folder: Path, failing: str) -> None:
    body = {"language": "fr", "secrets_store": {"provider_tokens": {"github": {"token": "ghp"}}}}
    failure = "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    sql(folder, f"CREATE TRIGGER full BEFORE INSERT ON documents WHEN new.name = '{failing}' {failure}")
    refused = await caller.http.post("/api/settings", json=body)
    sql(folder, "DROP TRIGGER full")
    assert (refused.status_code, "no room" in refused.json()["detail"]) == (500, True)
    assert (stored(folder), stored(folder, "secrets")) == (None, None)
    await caller.post("/api/settings", body)
    assert (await caller.get("/api/settings"))["provider_tokens_set"] == {"github": None}


async def test_all_but_secrets_comes_back_and_what_is_not_sent_or_known_is_kept(caller: Caller, folder: Path) -> None:
    server = {"url": "https://a.example", "api_key": None, "headers": {"X-Team": "blue"}}
    config = {**FULL["mcp_config"], "shttp_servers": [], "sse_servers": [server]}
    await caller.post("/api/settings", FULL | {"future": {"deep": [1]}, "mcp_config": config})
    before, held = await caller.get("/api/settings"), stored(folder)
    untold = dict.fromkeys(SECRETS) | {"llm_api_key_set": True, "search_api_key_set": True}
    untold |= {"secrets_store": {"provider_tokens": {}}}
    assert (FULL | {"mcp_config": config} | untold).items() <= before.items()
    await caller.post("/api/settings", {})
    await caller.post("/api/settings", before)
    assert (await caller.get("/api/settings"), stored(folder)) == (before, held), "nothing is lost by sending it back"
    await caller.post("/api/settings", {"language": None, "llm_api_key": "", "mcp_config": {"sse_servers": []}})
    told = {"language": None, "llm_api_key_set": False, "mcp_config": {**config, "sse_servers": []}}
    assert await caller.get("/api/settings") == before | told
    assert stored(folder)["search_api_key"] == SECRETS["search_api_key"]


def server(kind: str, **members: Json) -> Json:
    needed = {"name": "fs", "command": "npx"} if kind == "stdio" else {"url": "https://a.example"}
    return {"mcp_config": {f"{kind}_servers": [needed | members]}}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"max_iterations": "many"}, "max_iterations"),
        ({"enable_sound_notifications": None}, "enable_sound_notifications"),
        ({"condenser_max_size": 19}, "condenser_max_size"),
        ({"secrets_store": None}, "secrets_store"),
        ({"mcp_config": {"sse_servers": None}}, "mcp_config.sse_servers"),
        *((server("sse", url=url), "mcp_config.sse_servers.0.url") for url in ("ftp://a.example", "http://[::1")),
        ({"mcp_config": {"sse_servers": [{"api_key": SECRETS["llm_api_key"]}]}}, "mcp_config.sse_servers.0.url"),
        (server("shttp", timeout=0), "mcp_config.shttp_servers.0.timeout"),
        (server("stdio", name="bad name!"), "mcp_config.stdio_servers.0.name"),
        (server("stdio", command="npx -y x"), "mcp_config.stdio_servers.0.command"),
        (server("stdio", args="-y x"), "mcp_config.stdio_servers.0.args"),
        (server("stdio", env={"A": 1}), "mcp_config.stdio_servers.0.env.A"),
        # A mask is never stored.
        *(({name: mask}, name) for name, mask in zip(SECRETS, (MASK, " *** ", "••••••"), strict=True)),
        (server("sse", api_key=MASK), "mcp_config.sse_servers.0.api_key"),
        (server("stdio", env={"KEY": MASK}), "mcp_config.stdio_servers.0.env.KEY"),
        ({"secrets_store": {"provider_tokens": GITHUB}}, "secrets_store.provider_tokens.github.token"),
    ],
)
async def test_what_is_wrong_or_masked_is_refused(caller: Caller, folder: Path, body: Json, place: str) -> None:
    await caller.post("/api/settings", SECRETS)
    before = stored(folder)
    answer = await caller.http.post("/api/settings", json=body)
    assert answer.status_code == 422
    assert SECRETS["llm_api_key"] not in answer.text
    assert [".".join(map(str, problem["loc"])) for problem in answer.json()["detail"]] == [f"body.{place}"]
    assert stored(folder) == before


@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"", b'{"max_budget_per_task": NaN}', b'{"n": "\\ud800"}'])
async def test_what_no_record_can_hold_is_refused(caller: Caller, body: bytes) -> None:
    answer = await caller.http.post("/api/settings", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["detail"][0]["loc"][0]) == (422, "body")


async def test_tokens_and_secrets_are_kept_and_never_told_by_both_doors(caller: Caller, folder: Path) -> None:
    tokens = {"github": {"token": "ghp", "host": "github.example"}, "gitlab": {"token": "glp"}}
    custom = {"A": {"secret": "va", "description": "a"}, "B": "vb"}
    await caller.post("/api/settings", {"secrets_store": {"provider_tokens": tokens, "custom_secrets": custom}})
    await caller.post("/api/settings", {"secrets_store": {"provider_tokens": {"gitlab": {"token": ""}}}})
    answer = await caller.http.get("/api/settings")
    assert answer.json()["provider_tokens_set"] == {"github": "github.example"}
    assert answer.json()["secrets_store"] == {"provider_tokens": {}}
    assert "ghp" not in answer.text
    await caller.http.put("/api/secrets/A", json={"name": "C", "value": "other", "description": "new"})
    told = await caller.get("/api/secrets")
    assert told == {"custom_secrets": [{"name": "B", "description": ""}, {"name": "C", "description": "new"}]}
    await caller.http.delete("/api/secrets/B")
    assert stored(folder, "secrets")["custom_secrets"] == {"C": {"secret": "va", "description": "new"}}
    await caller.post("/api/settings", {"secrets_store": {"custom_secrets": {"C": ""}}})
    assert stored(folder, "secrets")["custom_secrets"] == {}


async def test_tokens_not_sent_are_dropped_and_empty_ones_keep_theirs(caller: Caller, folder: Path) -> None:
    async def set_tokens(**tokens: Json) -> int:
        return (await caller.http.post("/api/add-git-providers", json={"provider_tokens": tokens})).status_code

    await caller.post("/api/settings", {})
    await set_tokens(github={"token": "ghp", "host": "g.example"}, gitlab={"token": "glp"})
    assert (await caller.get("/api/settings"))["provider_tokens_set"] == {"github": "g.example", "gitlab": None}
    await set_tokens(github={"token": "", "host": "o.example"}, forgejo={"token": None, "host": "f.example"})
    assert await set_tokens(gitlab={"token": " ••• "}) == 422
    assert (await caller.get("/api/settings"))["provider_tokens_set"] == {"github": "o.example"}
    assert stored(folder, "secrets")["provider_tokens"]["github"] == {"token": "ghp", "host": "o.example"}
    await caller.post("/api/unset-provider-tokens")
    assert (await caller.get("/api/settings"))["provider_tokens_set"] == {}
