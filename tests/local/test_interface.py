import json
import re
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.serving import serving
from tests.client.recorded import FLAT, FOLDER, NESTED, Exchange, exchange
from tests.local.conftest import CONVERSATIONS as PATH
from tests.local.conftest import Caller, Json, Opener, sql, stored

MASK = "**********"
GITHUB = {"github": {"token": MASK}}
FULL: Json = exchange(FLAT, "settings-post-full").body
SECRETS = {name: FULL[name] for name in ("llm_api_key", "search_api_key", "sandbox_api_key")}


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


async def test_health_descriptions_and_what_is_not_well_formed_need_no_key(caller: Caller) -> None:
    del caller.http.headers["X-Session-API-Key"]
    assert [(await caller.http.get(path)).status_code for path in OPEN] == [200] * len(OPEN)
    info = await caller.get("/server_info")
    assert (info["service"], info["settings_store"], info["runs_agents"]) == ("quarterdeck-local", "merge", False)
    assert info["version"] == (await caller.get("/openapi.json"))["info"]["version"]
    assert (await caller.http.get("/api/v1/nope")).status_code == 404
    assert (await caller.http.put("/api/settings", json={})).status_code == 405
    for single in ("sandboxes/x", f"app-conversations/{'0' * 32}"):  # which are read by batch only
        assert (await caller.http.get(f"/api/v1/{single}")).status_code == 405
    as_json = {"Content-Type": "application/json"}
    assert (await caller.http.post("/api/settings", content=b'{"language":', headers=as_json)).status_code == 422
    assert (await caller.http.post("/api/settings", json={"language": 5})).status_code == 401
    assert (await caller.http.get("/api/v1/sandboxes/search?limit=0")).status_code == 401


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


async def test_a_paused_sandbox_is_resumed_and_only_steps_that_matter_are_entered(caller: Caller, folder: Path) -> None:
    sql(folder, "CREATE TABLE steps (status TEXT)")
    noted = "BEGIN INSERT INTO steps VALUES (new.status); END"
    sql(folder, f"CREATE TRIGGER note AFTER UPDATE OF status ON start_tasks {noted}")
    task = await caller.created({})
    await caller.created({"sandbox_id": task["sandbox_id"]})
    await caller.post(f"/api/v1/sandboxes/{task['sandbox_id']}/pause")
    await caller.created({"sandbox_id": task["sandbox_id"]})
    begun = ["STARTING_CONVERSATION", "READY"]
    waited = ["WAITING_FOR_SANDBOX", *begun]
    assert await caller.status(task["sandbox_id"]) == "RUNNING", "it was resumed for that"
    refused = await caller.created({"sandbox_id": "nope"})
    assert [row[0] for row in sql(folder, "SELECT status FROM steps")] == [*waited, *begun, *waited, "ERROR"]
    assert ("nope" in refused["detail"], refused["app_conversation_id"]) == (True, None)


async def test_a_task_whose_service_closed_is_taken_up_by_the_next(open_service: Opener) -> None:
    first = await open_service()
    await first.post("/api/settings", {"llm_model": "openai/from-settings"})
    begun = await first.post(PATH, {"title": "hello", "selected_repository": "a/b"})
    await first.service.aclose()
    second = await open_service()
    task = await second.ended(begun["id"])
    (created,) = await second.all(PATH)
    assert (task["status"], task["app_conversation_id"]) == ("READY", created["id"])
    told = (created["title"], created["selected_repository"], created["llm_model"])
    assert told == ("hello", "a/b", "openai/from-settings")
    assert len(await second.all()) == 1


@pytest.fixture
async def three(caller: Caller) -> list[str]:
    """Ids of three conversations in one sandbox, oldest first."""
    home = (await caller.start("shell"))["id"]
    tasks = [await caller.created({"sandbox_id": home, "title": title}) for title in ("Red", "Green", "Blue")]
    return [task["app_conversation_id"] for task in tasks]


async def test_lists_are_pages_newest_first_and_batches_take_ids_in_two_forms(caller: Caller, three: list[str]) -> None:
    tasks = f"{PATH}/start-tasks"
    for path, member in ((PATH, "id"), (f"{PATH}/search", "id"), (f"{tasks}/search", "app_conversation_id")):
        page = await caller.get(path, limit=2)
        rest = await caller.get(path, limit=2, page_id=page["next_page_id"])
        assert [[one[member] for one in part["items"]] for part in (page, rest)] == [three[:0:-1], three[:1]]
        assert rest["next_page_id"] is None
    (oldest,) = rest["items"]
    assert await caller.get(tasks, ids=[uuid.uuid4().hex, oldest["id"]]) == [None, oldest]
    assert (await caller.http.get(tasks)).status_code == 422
    unknown = uuid.uuid4().hex
    found = await caller.get(PATH, ids=[unknown, str(uuid.UUID(three[0])), three[2]])
    assert [one and one["id"] for one in found] == [None, three[0], three[2]]
    bad = await caller.http.get(PATH, params={"ids": "nope"})
    assert (bad.status_code, bad.json()) == (400, {"detail": "Invalid UUID format for ids: ['nope']"})
    assert (await caller.http.get(PATH, params={"ids": [unknown] * 100})).status_code == 400


async def test_the_list_is_filtered_and_counted(caller: Caller, three: list[str]) -> None:
    (parent,) = await caller.get(PATH, ids=three[0])
    sub = {"sandbox_id": parent["sandbox_id"], "title": "Grey", "parent_conversation_id": parent["id"]}
    child = (await caller.created(sub))["app_conversation_id"]
    red: Json = {"title__contains": "RE"}
    whole = red | {"include_sub_conversations": True}
    for query, expected in ((red, three[1::-1]), (whole, [child, *three[1::-1]]), ({"unheard_of": "1"}, three[::-1])):
        assert [item["id"] for item in (await caller.get(f"{PATH}/search", **query))["items"]] == expected, query
        assert await caller.get(f"{PATH}/count", **query) == len(expected)
    assert (await caller.get(PATH, ids=three[0]))[0]["sub_conversation_ids"] == [child]


async def test_title_and_publicity_can_be_changed(caller: Caller, three: list[str]) -> None:
    path = f"{PATH}/{three[0]}"
    before = (await caller.get(PATH, ids=three[0]))[0]
    assert (await caller.http.patch(path, json={})).json() == before
    after = (await caller.http.patch(path, json={"title": " New ", "public": True})).json()
    assert (after["title"], after["public"], after["created_at"]) == ("New", True, before["created_at"])
    assert after["updated_at"] == before["updated_at"], "the agent did nothing"
    assert (await caller.http.patch(path, json={"title": " "})).status_code == 422
    unknown = await caller.http.patch(f"{PATH}/{uuid.uuid4().hex}", json={"title": "x"})
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "unknown_app_conversation"})
    assert (await caller.http.patch(f"{PATH}/nope", json={})).status_code == 422


async def test_a_deleted_conversation_takes_its_start_along_but_no_sandbox(caller: Caller, three: list[str]) -> None:
    sandbox_id = (await caller.get(PATH, ids=three[0]))[0]["sandbox_id"]
    assert (await caller.http.delete(f"{PATH}/{three[0]}")).json() == {"success": True}
    again = await caller.http.delete(f"{PATH}/{three[0]}")
    assert (again.status_code, again.json()) == (404, {"detail": "Conversation not found"})
    assert await caller.get(f"{PATH}/count") == 2
    starts = (await caller.get(f"{PATH}/start-tasks/search"))["items"]
    assert three[0] not in {start["app_conversation_id"] for start in starts}
    assert await caller.status(sandbox_id) == "RUNNING"
    await caller.delete(sandbox_id)
    (record,) = await caller.get(PATH, ids=three[2])
    assert (record["sandbox_status"], record["sandbox_id"], record["title"]) == ("MISSING", sandbox_id, "Blue")


ASKED = {
    "settings": (NESTED, "10 19 21 23-27 30 31 55 56 79 81 86-106 110-112 115-117 120 121 123 124 113 114"),
    "unreadable settings": (NESTED, "108 70 71 73 74"),
    "profiles": (NESTED, "30 125-127 130 131 134-140 142 143"),
    "secrets": (NESTED, "144 145 147-150 153 154 160-167 169-171 173"),
    "flat secrets": (FLAT, "83 86-102 105 106 108-111"),
}
"""Exchanges by the numbers that their files begin with, in the order in which they are asked."""
TOLD_WHOLE = {FLAT: "92 95 110 111", NESTED: "154"}  # answers that are the same word by word


def numbered(release: str, numbers: str) -> Iterator[tuple[str, Exchange]]:
    for span in numbers.split():
        first, _, last = span.partition("-")
        for number in range(int(first), int(last or first) + 1):
            (file,) = (FOLDER / release).glob(f"{number}-*.json")
            name = file.stem.partition("-")[2]
            yield name, exchange(release, name)


async def asked(caller: Caller, one: Exchange) -> httpx.Response:
    content = one.body if isinstance(one.body, str) else None if one.body is None else json.dumps(one.body)
    headers = {"Content-Type": "application/json"} if content else {}
    return await caller.http.request(one.method, one.path, params=dict(one.query), content=content, headers=headers)


def shape(body: Json, depth: int = 2) -> Json:
    """The kinds of the members of a body by name, and of their members."""
    if isinstance(body, dict):
        return {name: shape(value, depth - 1) for name, value in body.items()} if depth else "object"
    if isinstance(body, list):
        return [shape(body[0], depth)] if body and depth else "list"
    return "text" if isinstance(body, str) else "other"


def told(body: Json) -> Json:
    """The part of a body that both servers have to tell alike: member names, and where something is wrong."""
    if isinstance(body, dict) and isinstance(body.get("detail"), list):
        return [(problem["type"], problem["loc"]) for problem in body["detail"]]
    return shape(body)


@pytest.mark.parametrize(("release", "numbers"), ASKED.values(), ids=ASKED)
async def test_it_answers_in_the_shape_of_a_real_server(open_service: Opener, release: str, numbers: str) -> None:
    caller = await open_service(store="nested" if release == NESTED else "replace")
    whole = {name for name, _ in numbered(release, TOLD_WHOLE[release])}
    for name, one in numbered(release, numbers):
        answer, kind = await asked(caller, one), one.answer.headers["content-type"].split(";")[0]
        assert answer.status_code == one.answer.status, (name, answer.text)
        assert answer.headers["Content-Type"].split(";")[0] == kind, name
        if kind == "text/plain":
            assert answer.content == one.answer.body, name
        elif name in whole:
            assert answer.json() == one.answer.body, name
        else:
            assert told(answer.json()) == told(one.answer.body), name


async def test_a_loaded_record_has_the_members_and_values_of_a_recorded_one(open_service: Opener) -> None:
    caller = await open_service(store="nested")
    for store, load in [("post-empty-object", "get-after-empty-object"), ("post-full", "get-full")]:
        await asked(caller, exchange(NESTED, f"settings-{store}"))
        expected = json.loads(exchange(NESTED, f"settings-{load}").answer.content)
        record = await caller.get("/api/v1/settings")
        for block in (record, expected):
            block["agent_settings"].pop("agent_context")
        assert record["agent_settings"].pop("llm").items() <= expected["agent_settings"].pop("llm").items()
        assert record == expected
