"""What a simulation begins with: shares of statuses and agents' states as on a busy server, spread over two months."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from quarterdeck.client.models.enums import ExecutionStatus, GitProvider, SandboxStatus
from quarterdeck.local.records import stamp
from quarterdeck.local.simulated.records import SimulatedConversation, SimulatedSandbox
from quarterdeck.local.simulated.simulation import Simulation, new_id
from quarterdeck.local.simulated.words import SPECS, a_model, a_repository, a_title

T = TypeVar("T")
SHARES = {
    SandboxStatus.PAUSED: 60,
    SandboxStatus.RUNNING: 30,
    SandboxStatus.ERROR: 5,
    SandboxStatus.MISSING: 3,
    SandboxStatus.STARTING: 2,
}
"""Percent of the sandboxes in each status."""
_AGENTS = {
    ExecutionStatus.RUNNING: 35,
    ExecutionStatus.FINISHED: 25,
    ExecutionStatus.IDLE: 20,
    ExecutionStatus.WAITING_FOR_CONFIRMATION: 10,
    ExecutionStatus.PAUSED: 5,
    ExecutionStatus.ERROR: 3,
    ExecutionStatus.STUCK: 2,
}
_SPECS = {SPECS[0].id: 70, SPECS[1].id: 20, SPECS[2].id: 10}
_INHABITANTS = {1: 76, 2: 9, 3: 3, 0: 12}
"""Percent of the sandboxes that have so many conversations."""
_WITHOUT_SANDBOX = 0.05
"""Conversations whose sandbox was deleted, for each sandbox that there is."""
_OLDEST = timedelta(days=60)


def seeded_sandboxes(simulation: Simulation, now: datetime) -> list[SimulatedSandbox]:
    """The sandboxes of a simulation, newest first."""
    dice = Random(f"sandboxes {simulation.seed}")  # noqa: S311 - nothing here is secret
    ids = simulation.ids()
    return [
        SimulatedSandbox(
            id=sandbox_id,
            spec_id=weighted(dice, _SPECS),
            created_at=stamp(now - _OLDEST * (place + dice.random()) / len(ids) - timedelta(seconds=20)),
            key=new_key(dice),
            status=weighted(dice, SHARES),
        )
        for place, sandbox_id in enumerate(ids)
    ]


def seeded_conversations(
    simulation: Simulation, sandboxes: list[SimulatedSandbox], now: datetime
) -> Iterator[SimulatedConversation]:
    """The conversations that live in these sandboxes, and those whose sandbox was deleted."""
    dice = Random(f"conversations {simulation.seed}")  # noqa: S311 - nothing here is secret
    for sandbox in sandboxes:
        for _ in range(weighted(dice, _INHABITANTS)):
            born = datetime.fromisoformat(sandbox.created_at)
            yield a_conversation(dice, sandbox, born + (now - born) * dice.random() / 10, now)
    for _ in range(round(len(sandboxes) * _WITHOUT_SANDBOX)):
        yield a_conversation(dice, None, now - _OLDEST * dice.random(), now)


def a_conversation(
    dice: Random, sandbox: SimulatedSandbox | None, born: datetime, now: datetime
) -> SimulatedConversation:
    """A conversation of that age; one that is at work was updated just now, the others some time ago."""
    agent = weighted(dice, _AGENTS)
    quiet = timedelta(seconds=dice.uniform(0, 40))
    if agent is not ExecutionStatus.RUNNING or sandbox is None or not sandbox.runs:
        quiet = min(timedelta(minutes=dice.expovariate(1 / 90)), (now - born) * 0.9)
    repository = a_repository(dice)
    return SimulatedConversation(
        id=f"{dice.getrandbits(128):032x}",
        sandbox_id=sandbox.id if sandbox else new_id(dice),
        sandbox=sandbox,
        title=a_title(dice),
        repository=repository,
        branch="main" if repository else None,
        git_provider=GitProvider.GITHUB if repository else None,
        trigger="gui",
        llm_model=a_model(dice),
        agent=agent,
        cost=dice.expovariate(1 / 1.5),
        created_at=stamp(born),
        updated_at=stamp(max(born, now - quiet)),
    )


def new_key(dice: Random) -> str:
    """What looks like the key of a sandbox."""
    return f"simulated-{dice.getrandbits(128):032x}"


def weighted(dice: Random, weights: dict[T, int]) -> T:
    """One of these, each as often as its weight says."""
    return dice.choices(list(weights), list(weights.values()))[0]
