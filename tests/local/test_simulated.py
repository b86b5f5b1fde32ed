import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quarterdeck.local.runtime.simulated import Simulation
from tests.cli.serving import KEY, serving
from tests.local.conftest import CONVERSATIONS, SANDBOXES, Caller, Json, Opener, Simulated, every, simulated

STILL = Simulation(150, churn=0)


async def test_a_pause_takes_a_moment_overtakes_a_start_and_its_conversations_are_told() -> None:
    async with simulated(STILL) as service:
        conversation = next(one for one in await service.all(CONVERSATIONS) if one["sandbox_status"] == "RUNNING")
        sandbox_id = conversation["sandbox_id"]
        assert await service.post(f"{SANDBOXES}/{sandbox_id}/pause") == {"success": True}
        assert await service.status(sandbox_id) == "RUNNING"
        service.passes(1)
        paused = await service.sandbox(sandbox_id)
        assert (paused["status"], paused["session_api_key"], paused["exposed_urls"]) == ("PAUSED", None, None)
        (told,) = await service.get(CONVERSATIONS, ids=conversation["id"])
        assert (told["sandbox_status"], told["execution_status"], told["session_api_key"]) == ("PAUSED", None, None)
        await service.post(f"{SANDBOXES}/{sandbox_id}/resume")
        assert await service.status(sandbox_id) == "STARTING"
        service.passes(6)
        assert await service.status(sandbox_id) == "RUNNING"
        started = (await service.start("simulated-node"))["id"]
        service.passes(6)
        assert await service.status(started) == "RUNNING"
        sandbox_id = (await service.start("simulated-node"))["id"]
        assert (await service.all())[0]["id"] == sandbox_id
        await service.post(f"{SANDBOXES}/{sandbox_id}/pause")
        service.passes(60)
        assert await service.status(sandbox_id) == "PAUSED"


async def test_shares_are_believable_and_stay_while_so_many_change_in_a_second() -> None:
    async with simulated(Simulation(1000, churn=1)) as service:
        before, lived = await service.all(), await service.all(CONVERSATIONS)
        shares = Counter(record["status"] for record in before)
        assert shares["PAUSED"] > shares["RUNNING"] > shares["ERROR"] > 10
        assert 50 < len({one["id"] for one in before} - {one["sandbox_id"] for one in lived}) < 200
        assert len({record["execution_status"] for record in lived}) > 5
        service.passes(5)
        after, living = await service.all(), await service.all(CONVERSATIONS)
        other = {new["id"] for old, new in zip(before, after, strict=True) if old != new}
        other |= {new["sandbox_id"] for old, new in zip(lived, living, strict=True) if old != new}
        assert 40 <= len(other) <= 60 + 20  # those that were starting before run by now
        for _ in range(20):
            service.passes(60)
            await service.get(f"{SANDBOXES}/search", limit=1)
        shares = Counter(record["status"] for record in await service.all())
    assert 450 < shares["PAUSED"] < 750
    assert 150 < shares["RUNNING"] < 450


async def test_faults_happen_to_whom_they_are_said_to() -> None:
    faulty = replace(STILL, faults=True)
    async with simulated(faulty) as service:
        running = [record["id"] for record in await service.all() if record["status"] == "RUNNING"]
        groups = (faulty.ids()[3::25], faulty.ids()[7::50], faulty.ids()[11::33])
        fails, ignored, gone = (next(one for one in running if one in group) for group in groups)
        good = next(one for one in running if one not in {fails, ignored, gone})
        answers = [await service.http.post(f"{SANDBOXES}/{one}/pause") for one in (fails, ignored, gone, good)]
        assert [answer.status_code for answer in answers] == [500, 200, 404, 200]
        service.passes(5)
        assert [await service.status(one) for one in (fails, ignored, good)] == ["RUNNING", "RUNNING", "PAUSED"]
        assert await service.sandbox(gone) is None
        more = [await service.http.post(f"{SANDBOXES}/{good}/resume") for _ in range(20)]
        limited = next(answer for answer in more if answer.status_code != 200)
        assert (limited.status_code, limited.headers["Retry-After"]) == (429, "2")


HELLO = {"role": "user", "content": [{"type": "text", "text": "hello"}]}


class Agent:
    """Asks the agent server of one conversation, with the key of its sandbox."""

    def __init__(self, http: httpx.AsyncClient, record: Json) -> None:
        self.http = http
        self.id: str = record["id"]
        self.url: str = record["conversation_url"]
        self.headers = {"X-Session-API-Key": record["session_api_key"]}

    async def get(self, path: str = "", **query: Json) -> Json:
        return (await self.http.get(f"{self.url}{path}", headers=self.headers, params=query)).raise_for_status().json()

    async def post(self, path: str, body: Json = None) -> int:
        return (await self.http.post(f"{self.url}{path}", headers=self.headers, json=body)).status_code

    async def status(self) -> str:
        return str((await self.get())["execution_status"])

    async def log(self) -> list[Json]:
        return await every(self.get, "/events/search")


def text_of(event: Json) -> str:
    return str(event["llm_message"]["content"][0]["text"])


async def created(caller: Caller, text: str, **more: Json) -> tuple[Json, Agent]:
    task = await caller.created({"initial_message": HELLO | {"content": [{"type": "text", "text": text}]}, **more})
    (record,) = await caller.get(CONVERSATIONS, ids=task["app_conversation_id"])
    return record, Agent(caller.http, record)


async def test_messages_are_kept_and_it_is_said_that_nobody_answers(open_service: Opener) -> None:
    caller = await open_service()
    record, agent = await created(caller, "Look at the login page")
    first, note = await agent.log()
    assert (first["kind"], first["source"], text_of(first)) == ("MessageEvent", "user", "Look at the login page")
    assert (note["source"], "No agent runs here" in text_of(note)) == ("environment", True)
    assert await agent.post("/events", HELLO | {"run": False}) == 200
    assert ([await agent.post(path) for path in ("/run", "/interrupt")], await agent.status()) == ([200] * 2, "idle")
    assert [(event["kind"], text_of(event)) for event in (await agent.log())[2:]] == [("MessageEvent", "hello")]
    await caller.service.aclose()
    again = await open_service()
    (record,) = await again.get(CONVERSATIONS, ids=record["id"])
    kept = Agent(again.http, record)
    assert len(await kept.log()) == 3
    await again.post(f"/api/v1/sandboxes/{record['sandbox_id']}/pause")
    assert (await again.http.get(kept.url, headers=kept.headers)).status_code == 503
    copies = f"/api/v1/conversation/{record['id']}/events/search"
    copied = await again.get(copies, sort_order="TIMESTAMP_DESC", limit=2)
    assert ([event["id"] for event in copied["items"]][-1], copied["next_page_id"]) == (note["id"], first["id"])
    await again.http.delete(f"{CONVERSATIONS}/{record['id']}")
    assert (await again.http.get(copies)).status_code == 404


async def test_it_is_asked_with_the_key_of_the_sandbox_about_the_conversations_in_it(caller: Caller) -> None:
    (_, agent), (_, other) = await created(caller, "one"), await created(caller, "two")
    for key in ("", "wrong", caller.http.headers["X-Session-API-Key"]):
        answer = await caller.http.get(agent.url, headers={"X-Session-API-Key": key})
        assert (answer.status_code, answer.json()) == (401, {"detail": "Unauthorized"})
    assert (await caller.http.get(other.url, headers=agent.headers)).status_code == 404
    assert (await caller.http.get(agent.url[:-1], headers=agent.headers)).status_code == 422
    base = agent.url.partition("/api/")[0]
    assert (await caller.http.get(f"{base}/alive", headers={"X-Session-API-Key": ""})).json() == {"status": "ok"}
    assert (await agent.get())["execution_status"] == "idle"


@pytest.fixture
async def world() -> AsyncIterator[Simulated]:
    async with simulated(Simulation(60, churn=0)) as service:
        yield service


async def test_a_conversation_that_is_deleted_while_its_log_is_asked_for_is_not_there(world: Simulated) -> None:
    async def deleted_after(requests: int, name: str) -> bool:
        for _ in range(requests):
            await world.http.get("/alive")
        return (await world.http.delete(f"{CONVERSATIONS}/{name}")).is_success

    for requests, name in enumerate([record["id"] for record in await world.all(CONVERSATIONS)][:30]):
        log = world.http.get(f"/api/v1/conversation/{name}/events/search")
        answer, deleted = await asyncio.gather(log, deleted_after(requests, name))
        assert (deleted, answer.status_code in (200, 404)) == (True, True)


async def some(world: Simulated, status: str) -> Agent:
    records = await world.all(CONVERSATIONS)
    return Agent(world.http, next(record for record in records if record["execution_status"] == status))


async def test_a_log_is_read_from_either_end_and_any_event_and_tells_the_listed_cost(world: Simulated) -> None:
    agent = await some(world, "finished")
    log = await agent.log()
    ids = [event["id"] for event in log]
    assert len(set(ids)) == len(ids)
    newest = await agent.get("/events/search", sort_order="TIMESTAMP_DESC", limit=10)
    assert [event["id"] for event in newest["items"]] == ids[:-11:-1]
    before = await agent.get("/events/search", sort_order="TIMESTAMP_DESC", limit=10, page_id=newest["next_page_id"])
    assert before["items"][0]["id"] == ids[-11]
    assert (await agent.get("/events/search", page_id=ids[-3]))["items"] == log[-3:]
    assert (await agent.get("/events/search", page_id="unknown", limit=2))["items"] == log[:2]
    assert {"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"} <= {event["kind"] for event in log}
    assert (await world.http.get(f"{agent.url}/events/search?limit=101", headers=agent.headers)).status_code == 422
    (record,) = await world.get(CONVERSATIONS, ids=agent.id)
    await agent.post("/events", HELLO | {"run": True})
    for _ in range(30):
        world.passes(10)
        await agent.status()
    told = [event["value"] for event in await agent.log() if event.get("key") == "stats"]
    costs = [value["usage_to_metrics"]["agent"]["accumulated_cost"] for value in told]
    (after,) = await world.get(CONVERSATIONS, ids=agent.id)
    assert costs[0] == record["metrics"]["accumulated_cost"]
    assert costs[-1] == after["metrics"]["accumulated_cost"] > costs[0]


async def test_what_led_to_a_status_is_there_and_the_same_each_time(world: Simulated) -> None:
    async with simulated(Simulation(60, churn=0)) as second:
        assert await world.all() == await second.all()
        for status in ("running", "finished", "idle", "waiting_for_confirmation", "paused"):
            agent, again = await some(world, status), await some(second, status)
            assert await agent.status() == status
            log = await agent.log()
            assert [event["value"] for event in log if event.get("key") == "execution_status"][-1] == status
            assert await again.log() == log


async def test_an_agent_is_stopped_in_the_middle_and_goes_on_and_sleeps_with_its_sandbox(world: Simulated) -> None:
    agent = await some(world, "running")
    assert (await agent.post("/interrupt"), await agent.status()) == (200, "paused")
    before = await agent.log()
    assert "InterruptEvent" in [event["kind"] for event in before[-3:]]
    world.passes(60)
    assert (await agent.log(), await agent.post("/run")) == (before, 200)
    (record,) = await world.get(CONVERSATIONS, ids=agent.id)
    assert record["execution_status"] == "running"
    await world.post(f"/api/v1/sandboxes/{record['sandbox_id']}/pause")
    world.passes(1)
    assert (await world.http.get(agent.url, headers=agent.headers)).status_code == 503
    copies = f"/api/v1/conversation/{agent.id}/events/search?sort_order=TIMESTAMP_DESC&limit=1"
    last = await world.get(copies)
    world.passes(50)
    assert await world.get(copies) == last
    await world.post(f"/api/v1/sandboxes/{record['sandbox_id']}/resume")
    world.passes(6)
    (record,) = await world.get(CONVERSATIONS, ids=agent.id)
    world.passes(30)
    await Agent(world.http, record).get()
    assert await world.get(copies) != last


async def test_a_conversation_that_is_begun_runs_and_asks_when_it_is_told_to_ask_always(world: Simulated) -> None:
    records = await world.all(CONVERSATIONS)
    home = next(record for record in records if record["sandbox_status"] == "RUNNING")["sandbox_id"]
    record, agent = await created(world, "hello", sandbox_id=home)
    assert (record["execution_status"], await agent.status()) == ("running", "running")
    assert await agent.post("/confirmation_policy", {"policy": {"kind": "AlwaysConfirm"}}) == 200
    world.passes(10)
    assert (await world.get(CONVERSATIONS, ids=record["id"]))[0]["execution_status"] == "waiting_for_confirmation"
    assert (await agent.get())["confirmation_policy"]["kind"] == "AlwaysConfirm"
    unasked = await world.created({"sandbox_id": home})
    assert (await world.get(CONVERSATIONS, ids=unasked["app_conversation_id"]))[0]["execution_status"] == "idle"


async def test_a_socket_tells_the_state_and_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", KEY)
    with serving("--simulate", "40", "--churn", "0") as (url, _):
        async with httpx.AsyncClient(base_url=url, headers={"X-Session-API-Key": KEY}, trust_env=False) as http:
            listed = (await http.get(f"{CONVERSATIONS}/search")).json()["items"]
            agent = Agent(http, next(one for one in listed if one["execution_status"] == "paused"))
            socket = agent.url.replace("http:", "ws:").replace("/api/conversations/", "/sockets/events/")
            async with connect(socket, additional_headers=agent.headers, proxy=None) as listening:
                state = json.loads(await asyncio.wait_for(listening.recv(), 20))
                assert (state["key"], state["value"]["execution_status"]) == ("full_state", "paused")
                assert await agent.post("/events", HELLO) == 200
                kinds: list[str] = []
                while "StreamingDeltaEvent" not in kinds or not {"ActionEvent", "MessageEvent"} & set(kinds[4:]):
                    kinds.append(json.loads(await asyncio.wait_for(listening.recv(), 20))["kind"])
            assert kinds[0] == "MessageEvent"
            assert "StreamingDeltaEvent" not in {event["kind"] for event in await agent.log()}
            wrong = agent.headers | {"X-Session-API-Key": "wrong"}
            for headers, place in ((wrong, socket), (agent.headers, f"{socket[:-4]}0000")):
                with pytest.raises((ConnectionClosed, InvalidStatus)):
                    async with connect(place, additional_headers=headers, proxy=None) as listening:
                        await asyncio.wait_for(listening.recv(), 20)
            elsewhere = socket.replace("127.0.0.1", "example.com")
            with pytest.raises(InvalidStatus, match="400"):
                await connect(elsewhere, host="127.0.0.1", additional_headers=agent.headers, proxy=None)
