"""The agents of a simulation: conversations that somebody looked at, or that began here, go on from then."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.local.agents import told_state
from quarterdeck.local.bodies import MessageBody
from quarterdeck.local.events import EventLogs, text_part
from quarterdeck.local.runtime.play import DELTA, Play
from quarterdeck.local.store import Record, Store

LOOKS_EVERY = 0.05
"""Seconds between two looks at whether a tool has ended."""
_LONGEST = timedelta(seconds=60)
"""The longest time that is made up for when nobody asked anything."""


class SimulatedAgents:
    """Plays conversations with time, which passes for those whose sandbox runs, and only when somebody asks."""

    def __init__(self, store: Store, seed: int, clock: Callable[[], datetime]) -> None:
        self.logs = EventLogs(store)
        self.plays: dict[str, Play] = {}
        """By the id of a conversation, whose row is its agent's alone from then on."""
        self._store = store
        self._seed = seed
        self._clock = clock
        self._passing = asyncio.Lock()

    async def begin(self, conversation_id: str) -> None:
        """Play what led to how a conversation is; one that was begun here begins now."""
        async with self._passing:
            if conversation_id in self.plays:
                return
            (row,) = await self._store.by_ids("conversations", [conversation_id])
            dice = Random(f"conversation {self._seed} {conversation_id}")  # noqa: S311 - nothing here is secret
            if row["cost"] is None:
                play = Play(dice, row["llm_model"], self._clock())
                play.introduce()
                if row["message"]:
                    play.say([text_part(row["message"])], run=True)
            else:
                play = Play(dice, row["llm_model"], datetime.fromisoformat(row["updated_at"]))
                play.cost = row["cost"]
                play.rehearse(row["title"], ExecutionStatus(row["agent"]))
                play.put_off(self._clock() - play.now)
            self.plays[conversation_id] = play
            await self._write(conversation_id, play)

    async def state(self, conversation_id: str) -> Record:
        """How it is."""
        play = await self._play(conversation_id)
        (row,) = await self._store.by_ids("conversations", [conversation_id])
        return told_state(row, play.status, play.policy, play.stats)

    async def send(self, conversation_id: str, message: MessageBody) -> None:
        """Take a message once no tool is under way."""
        parts = [text_part(part.text) if part.type == "text" else part.model_dump() for part in message.content]
        await self._until_tools_end(conversation_id)
        await self.act(conversation_id, lambda play: play.say(parts, run=message.run))

    async def act(self, conversation_id: str, act: Callable[[Play], None]) -> None:
        """Do it; a pause is done once the tools have ended."""
        play = await self._play(conversation_id)
        await self.pass_time()
        async with self._passing:
            try:
                act(play)
            finally:
                await self._write(conversation_id, play)
        if act is Play.pause:
            await self._until_tools_end(conversation_id)

    async def pass_time(self) -> None:
        """Let the time pass that has passed."""
        if not self.plays:
            return
        async with self._passing:
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

    async def _play(self, conversation_id: str) -> Play:
        await self.begin(conversation_id)
        return self.plays[conversation_id]

    async def _until_tools_end(self, conversation_id: str) -> None:
        """Hold whoever asks while a tool is under way; closing the store ends that."""

        async def tools_end() -> None:
            while (play := self.plays.get(conversation_id)) and play.at_work:
                await asyncio.sleep(LOOKS_EVERY)
                await self._store.changes.run(self.pass_time())

        await self._store.changes.begin(tools_end())

    async def _write(self, conversation_id: str, play: Play) -> None:
        """Write down what happened, in its order, and how the conversation is now."""
        told, play.told = play.told, []
        if kept := [event for event in told if event["kind"] != DELTA]:
            await self.logs.append(conversation_id, kept)
            await self._store.run(
                "UPDATE conversations SET agent = ?, cost = ?, updated_at = ? WHERE id = ?",
                (play.status, play.cost, f"{kept[-1]['timestamp']}Z", conversation_id),
            )
        self.logs.tell(conversation_id, told)
