"""What changes by itself, as if people and agents were at work; the shares of the statuses stay about as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.local.records import stamp

if TYPE_CHECKING:
    from quarterdeck.local.simulated.records import SimulatedSandbox
    from quarterdeck.local.simulated.world import World

_TRIES = 50
"""How many sandboxes are looked at for one that is due to change."""
_PAUSES, _FAILS, _WAKES, _RECOVERS = 0.20, 0.025, 0.10, 0.15
"""How likely a sandbox that was picked does so. As many must pause as wake, and fail as recover, given `SHARES`."""
_AT_WORK = (ExecutionStatus.RUNNING, ExecutionStatus.RUNNING, ExecutionStatus.FINISHED, ExecutionStatus.IDLE)


def churn(world: World, changes: int) -> None:
    """Change so many sandboxes, or conversations in them, of those that there are."""
    for _ in range(min(changes, len(world.sandboxes))):
        for _ in range(_TRIES):
            if _changes(world, world.sandboxes.at(world.dice.randrange(len(world.sandboxes)))):
                break


def _changes(world: World, sandbox: SimulatedSandbox) -> bool:
    """Let one sandbox go its way; False when it stays as it is."""
    fate = world.dice.random()
    match sandbox.status:
        case SandboxStatus.RUNNING if fate < _FAILS:
            world.set_status(sandbox, SandboxStatus.ERROR)
        case SandboxStatus.RUNNING if fate < _FAILS + _PAUSES:
            world.pause(sandbox)
        case SandboxStatus.RUNNING:
            return _work(world, sandbox)
        case SandboxStatus.PAUSED if fate < _WAKES:
            world.wake(sandbox)
        case SandboxStatus.ERROR if fate < _RECOVERS:
            world.wake(sandbox)
        case _:
            return False
    return True


def _work(world: World, sandbox: SimulatedSandbox) -> bool:
    """Let the agents in it do something that costs; False when there are none."""
    for conversation in world.inhabitants(sandbox.id):
        conversation.cost += world.dice.expovariate(1 / 0.02)
        conversation.updated_at = stamp(world.now)
        conversation.agent = world.dice.choice(_AT_WORK)
        conversation.changed()
    return bool(world.inhabitants(sandbox.id))
