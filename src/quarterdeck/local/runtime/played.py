"""The agents of a simulation: conversations that somebody looked at, or that began here, go on from then."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.local.agents import Agents, state_told
from quarterdeck.local.events import MessageBody, text_part
from quarterdeck.local.runtime.play import Play
from quarterdeck.local.runtime.seeding import SEED
from quarterdeck.local.store import Record, Store

_LONGEST = timedelta(seconds=60)
"""The longest time that is made up for when nobody asked anything."""


class PlayedAgents(Agents):
    """Plays conversations with time, which passes for those whose sandbox runs, and only when somebody asks."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        super().__init__(store)
        self.plays: dict[str, Play] = {}
        """By the id of a conversation, whose row is its agent's alone from then on."""
        self._clock = clock

    async def begin(self, conversation_id: str) -> None:
        """Play what led to how a conversation is; one that was begun here begins now."""
        async with self._writing:
            if conversation_id in self.plays:
                return
            (row,) = await self._store.by_ids("conversations", [conversation_id])
            dice = Random(f"conversation {SEED} {conversation_id}")  # noqa: S311 - nothing here is secret
            if row["cost"] is None:
                play = Play(dice, self._clock())
                if row["message"]:
                    play.say([text_part(row["message"])], run=True)
            else:
                play = Play(dice, datetime.fromisoformat(row["updated_at"]))
                play.cost = row["cost"]
                play.rehearse(row["title"], ExecutionStatus(row["agent"]))
                play.put_off(self._clock() - play.now)
            self.plays[conversation_id] = play
            await self._write(conversation_id, play)

    async def state(self, conversation_id: str) -> Record:
        """How it is."""
        play = self.plays[conversation_id]
        return state_told(play.status, play.policy, play.stats)

    async def send(self, conversation_id: str, body: MessageBody) -> None:
        """Take a message."""
        await self.act(conversation_id, lambda play: play.say(body.parts(), run=body.run))

    async def act(self, conversation_id: str, act: Callable[[Play], None]) -> None:
        """Do it now."""
        await self.pass_time()
        async with self._writing:
            play = self.plays[conversation_id]
            act(play)
            await self._write(conversation_id, play)

    async def pass_time(self) -> None:
        """Let the time pass that has passed."""
        if not self.plays:
            return
        async with self._writing:
            now = self._clock()
            rows = await self._store.by_ids("conversations", self.plays)
            sandboxes = await self._store.by_ids("sandboxes", {row["sandbox_id"] for row in rows})
            up = {row["id"] for row in sandboxes if row["status"] == SandboxStatus.RUNNING}
            for row in rows:
                play = self.plays[row["id"]]
                passed = now - play.now
                play.put_off(max(passed - _LONGEST, timedelta()) if row["sandbox_id"] in up else passed)
                play.pass_time(now)
                await self._write(row["id"], play)
            for gone in self.plays.keys() - {row["id"] for row in rows}:
                del self.plays[gone]

    async def _write(self, conversation_id: str, play: Play) -> None:
        """Write down what happened, in its order, and how the conversation is now."""
        told, play.told = play.told, []
        if told:
            await self._happened(conversation_id, told)
            how = (play.status, play.cost, conversation_id)
            await self._store.run("UPDATE conversations SET agent = ?, cost = ? WHERE id = ?", how)
