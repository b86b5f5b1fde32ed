import socket
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from quarterdeck.client.models.enums import SandboxStatus as Status
from quarterdeck.local.runtime.base import READY_WITHIN, Identity, Sandbox
from quarterdeck.local.runtime.launching import free_port
from quarterdeck.local.runtime.processes import Liveness, answers, judge
from quarterdeck.local.runtime.sessions import Seen


def sandbox(status: Status = Status.RUNNING, *, has_run: bool = True) -> Sandbox:
    born, leader = "2026-01-01T00:00:00.000000Z", Identity(1, 1, "boot")
    return Sandbox("a", "files", born, SecretStr("key"), status, has_run=has_run, port=1, leader=leader)


@dataclass
class FakeClock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seen", "silence", "has_run", "status"),
    [
        (Seen.ALIVE, None, True, Status.RUNNING),
        (Seen.ALIVE, None, False, Status.RUNNING),
        (Seen.ALIVE, 0.0, False, Status.STARTING),
        (Seen.ALIVE, READY_WITHIN - 0.1, True, Status.STARTING),
        (Seen.ALIVE, READY_WITHIN, False, Status.ERROR),
        (Seen.STOPPED, None, True, Status.PAUSED),
        (Seen.GONE, None, True, Status.MISSING),
        (Seen.GONE, None, False, Status.ERROR),
    ],
)
def test_the_owner_says_what_it_sees(seen: Seen, silence: float | None, status: Status, *, has_run: bool) -> None:
    assert judge(sandbox(has_run=has_run), seen, silence, owner=True) is status


@pytest.mark.parametrize("last_seen", list(Status))
def test_who_does_not_own_never_declares_dead(last_seen: Status) -> None:
    assert judge(sandbox(last_seen), Seen.GONE, None, owner=False) is last_seen


@pytest.mark.parametrize(("seen", "status"), [(Seen.ALIVE, Status.RUNNING), (Seen.STOPPED, Status.PAUSED)])
def test_who_does_not_own_says_what_it_sees_alive(seen: Seen, status: Status) -> None:
    assert judge(sandbox(Status.STARTING), seen, None, owner=False) is status


async def test_silence_is_counted_from_when_it_was_first_heard() -> None:
    clock = FakeClock()
    liveness = Liveness(clock)
    port = free_port(())
    assert await liveness.silence(port) == 0.0
    clock.now += 7
    assert await liveness.silence(port) == 7.0
    liveness.forget(port)
    assert await liveness.silence(port) == 0.0


async def test_a_port_that_is_open_but_mute_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert not await answers(mute.getsockname()[1])
