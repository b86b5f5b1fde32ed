"""The simulated sandboxes and conversations, and how what is asked of them comes true in time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from heapq import heappop, heappush
from random import Random

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.records import stamp
from quarterdeck.local.simulated.churn import churn
from quarterdeck.local.simulated.records import SimulatedConversation, SimulatedSandbox
from quarterdeck.local.simulated.seeding import new_key, seeded_conversations, seeded_sandboxes
from quarterdeck.local.simulated.shelf import Shelf
from quarterdeck.local.simulated.simulation import Clock, Simulation, new_id
from quarterdeck.local.specs import Spec

PAUSED_AFTER = timedelta(seconds=0.6)
"""How long a pause takes."""
RUNS_AFTER = (2.0, 5.0)
"""Between how many seconds a start or resume takes."""
_UP = frozenset({SandboxStatus.RUNNING, SandboxStatus.STARTING})
_CATCHES_UP = timedelta(seconds=60)
"""The longest time that is made up for when nobody asked anything."""


class World:
    """All that is pretended. Whoever looks or asks first calls `catch_up`: time passes only there."""

    def __init__(self, simulation: Simulation, clock: Clock) -> None:
        self.simulation = simulation
        self.dice = Random(f"world {simulation.seed}")  # noqa: S311 - nothing here is secret
        self.now = clock()
        self._clock = clock
        self._owed = 0.0
        self._coming: list[tuple[datetime, int, str, SandboxStatus]] = []
        sandboxes = seeded_sandboxes(simulation, self.now)
        self.sandboxes = Shelf(sandboxes)
        self.conversations = Shelf(seeded_conversations(simulation, sandboxes, self.now))
        self._inhabitants: defaultdict[str, list[SimulatedConversation]] = defaultdict(list)
        for conversation in self.conversations:
            self._inhabitants[conversation.sandbox_id].append(conversation)
        for sandbox in sandboxes:
            if sandbox.status is SandboxStatus.STARTING:
                self._come(sandbox, SandboxStatus.RUNNING, timedelta(seconds=self.dice.uniform(2, 60)))

    def catch_up(self) -> None:
        """Let the time pass that has passed: what was under way arrives, and some records change by themselves."""
        before, self.now = self.now, self._clock()
        while self._coming and self._coming[0][0] <= self.now:
            _, turn, sandbox_id, status = heappop(self._coming)
            sandbox = self.sandboxes.get(sandbox_id)
            if sandbox is not None and sandbox.turn == turn:
                self.set_status(sandbox, status)
        passed = min(self.now - before, _CATCHES_UP).total_seconds()
        self._owed += max(0.0, passed) * len(self.sandboxes) * self.simulation.churn / 100
        changes, self._owed = int(self._owed), self._owed % 1
        churn(self, changes)

    def inhabitants(self, sandbox_id: str) -> Sequence[SimulatedConversation]:
        """The conversations that say they live in a sandbox."""
        return self._inhabitants.get(sandbox_id, ())

    def set_status(self, sandbox: SimulatedSandbox, status: SandboxStatus) -> None:
        """Change the status of a sandbox, which is told of its conversations too."""
        sandbox.turn += 1
        sandbox.status = status
        self._changed(sandbox)

    def pause(self, sandbox: SimulatedSandbox) -> None:
        """Let a sandbox that is up be paused in a moment; nothing happens to any other."""
        if sandbox.status in _UP:
            self._come(sandbox, SandboxStatus.PAUSED, PAUSED_AFTER)

    def resume(self, sandbox: SimulatedSandbox) -> None:
        """Wake a paused sandbox; nothing happens to any other."""
        if sandbox.status is SandboxStatus.PAUSED:
            self.wake(sandbox)

    def wake(self, sandbox: SimulatedSandbox) -> None:
        """Let a sandbox start with a new key, as the remote service does, and run in a while."""
        sandbox.key = new_key(self.dice)
        self.set_status(sandbox, SandboxStatus.STARTING)
        self._run_soon(sandbox)

    def start(self, spec: Spec) -> SimulatedSandbox:
        """A new sandbox, which runs in a while."""
        sandbox_id = new_id(self.dice)
        sandbox = SimulatedSandbox(sandbox_id, spec.id, stamp(self.now), new_key(self.dice), SandboxStatus.STARTING)
        self.sandboxes.add(sandbox)
        self._run_soon(sandbox)
        return sandbox

    def delete(self, sandbox: SimulatedSandbox) -> None:
        """Take a sandbox away; its conversations stay, without one."""
        self.sandboxes.remove(sandbox)
        for conversation in self.inhabitants(sandbox.id):
            conversation.sandbox = None
            conversation.changed()

    def add(self, conversation: SimulatedConversation) -> None:
        """Take in a new conversation."""
        self.conversations.add(conversation)
        self._inhabitants[conversation.sandbox_id].append(conversation)

    def drop(self, conversation: SimulatedConversation) -> None:
        """Take a conversation away, not its sandbox."""
        self.conversations.remove(conversation)
        self._inhabitants[conversation.sandbox_id].remove(conversation)

    def _run_soon(self, sandbox: SimulatedSandbox) -> None:
        self._come(sandbox, SandboxStatus.RUNNING, timedelta(seconds=self.dice.uniform(*RUNS_AFTER)))
        if self.simulation.cap is not None:
            up = [one for one in self.sandboxes if one.status in _UP and one is not sandbox]
            for displaced in up[max(0, self.simulation.cap - 1) :]:
                self.set_status(displaced, SandboxStatus.PAUSED)

    def _come(self, sandbox: SimulatedSandbox, status: SandboxStatus, after: timedelta) -> None:
        sandbox.turn += 1
        heappush(self._coming, (self.now + after, sandbox.turn, sandbox.id, status))

    def _changed(self, sandbox: SimulatedSandbox) -> None:
        sandbox.changed()
        for conversation in self.inhabitants(sandbox.id):
            conversation.changed()
