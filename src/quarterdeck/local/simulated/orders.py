"""What is asked of simulated sandboxes, and what goes wrong with it on purpose."""

from fastapi import HTTPException

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.simulated.records import SimulatedSandbox
from quarterdeck.local.simulated.words import SPECS
from quarterdeck.local.simulated.world import World


class Orders:
    """Starts, pauses, resumes and deletes; raises what a server answers instead when it does not."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._faults = world.simulation.faults
        self._asked = 0

    def start(self, spec_id: str | None) -> SimulatedSandbox:
        """A new sandbox; 404 when there is no such spec."""
        self._begin()
        spec = SPECS[0] if spec_id is None else next((spec for spec in SPECS if spec.id == spec_id), None)
        if spec is None:
            raise HTTPException(404, "There is no such sandbox spec")
        return self._world.start(spec)

    def pause(self, sandbox_id: str) -> None:
        """Pause; 404 when there is nothing to pause."""
        sandbox = self._asked_for(sandbox_id)
        if sandbox_id in self._faults.pauses_fail:
            raise HTTPException(500, "The simulated sandbox does not let itself be paused")
        if sandbox_id not in self._faults.pauses_ignored:
            self._world.pause(sandbox)

    def resume(self, sandbox_id: str) -> None:
        """Resume; 404 when there is nothing to resume."""
        self._world.resume(self._asked_for(sandbox_id))

    def delete(self, sandbox_id: str) -> None:
        """Delete; 404 when there is no such sandbox."""
        self._world.delete(self._asked_for(sandbox_id, missing=True))

    def _asked_for(self, sandbox_id: str, *, missing: bool = False) -> SimulatedSandbox:
        """The sandbox that is asked something; of one that is MISSING only if that is no matter."""
        self._begin()
        sandbox = self._world.sandboxes.get(sandbox_id)
        if sandbox is not None and sandbox_id in self._faults.gone:
            self._world.delete(sandbox)
            sandbox = None
        if sandbox is None or (sandbox.status is SandboxStatus.MISSING and not missing):
            raise HTTPException(404)
        return sandbox

    def _begin(self) -> None:
        """Let time pass, and count; 429 when it is the turn of that."""
        self._world.catch_up()
        self._asked += 1
        if self._asked == self._faults.rate_limit_at:
            raise HTTPException(429, "Too many requests", {"Retry-After": str(self._faults.retry_after)})
