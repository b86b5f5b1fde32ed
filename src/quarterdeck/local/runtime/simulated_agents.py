"""The agents of a simulation: conversations that were opened, or were created here, continue from then on."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.local.agents import Agents
from quarterdeck.local.events import MessageBody, text_part
from quarterdeck.local.runtime.seeding import SEED
from quarterdeck.local.runtime.simulated_agent import SimulatedAgent
from quarterdeck.local.store import Record, Store

_LONGEST = timedelta(seconds=60)
"""The longest time that is simulated at once, after a period without requests."""


class SimulatedAgents(Agents):
    """Simulates agents with time, which passes only for running sandboxes, and is simulated only at requests."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        super().__init__(store)
        self.by_conversation: dict[str, SimulatedAgent] = {}
        """The simulated agents by conversation id; only they change the conversation's row from then on."""
        self._clock = clock

    async def begin(self, conversation_id: str) -> None:
        """Simulate the past of a conversation, or start one that was created here."""
        async with self._writing:
            if conversation_id in self.by_conversation:
                return
            row = await self._row(conversation_id)
            rng = Random(f"conversation {SEED} {conversation_id}")  # noqa: S311 - nothing here is secret
            if row["cost"] is None:
                agent = SimulatedAgent(rng, self._clock())
                if row["message"]:
                    agent.say([text_part(row["message"])], run=True)
            else:
                agent = SimulatedAgent(rng, datetime.fromisoformat(row["updated_at"]))
                agent.cost = row["cost"]
                agent.simulate_past(row["title"], ExecutionStatus(row["agent"]))
                agent.shift(self._clock() - agent.now)
            self.by_conversation[conversation_id] = agent
            await self._write(conversation_id, agent)

    async def state(self, conversation_id: str) -> Record:
        """Return the state of the agent."""
        agent = self.by_conversation[conversation_id]
        return {
            "execution_status": agent.status,
            "confirmation_policy": agent.policy.model_dump(),
            "stats": {"usage_to_metrics": agent.stats},
        }

    async def send(self, conversation_id: str, body: MessageBody) -> None:
        """Store a message."""
        await self.act(conversation_id, lambda agent: agent.say(body.parts(), run=body.run))

    async def act(self, conversation_id: str, act: Callable[[SimulatedAgent], None]) -> None:
        """Apply a request to the agent now."""
        await self.pass_time()
        async with self._writing:
            agent = self.by_conversation[conversation_id]
            act(agent)
            await self._write(conversation_id, agent)

    async def pass_time(self) -> None:
        """Simulate the time since the last request."""
        if not self.by_conversation:
            return
        async with self._writing:
            now = self._clock()
            rows = await self._store.by_ids("conversations", self.by_conversation)
            sandboxes = await self._store.by_ids("sandboxes", {row["sandbox_id"] for row in rows})
            up = {row["id"] for row in sandboxes if row["status"] == SandboxStatus.RUNNING}
            for row in rows:
                agent = self.by_conversation[row["id"]]
                passed = now - agent.now
                agent.shift(max(passed - _LONGEST, timedelta()) if row["sandbox_id"] in up else passed)
                agent.pass_time(now)
                await self._write(row["id"], agent)
            for gone in self.by_conversation.keys() - {row["id"] for row in rows}:
                del self.by_conversation[gone]

    async def _write(self, conversation_id: str, agent: SimulatedAgent) -> None:
        """Store new events in their order, and the state of the conversation."""
        told, agent.told = agent.told, []
        if told:
            await self._happened(conversation_id, told)
            how = (agent.status, agent.cost, conversation_id)
            await self._store.run("UPDATE conversations SET agent = ?, cost = ? WHERE id = ?", how)
