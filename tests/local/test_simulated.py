from collections import Counter
from dataclasses import replace

from quarterdeck.local.runtime.simulated import Simulation
from tests.local.conftest import CONVERSATIONS, SANDBOXES, simulated

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
