"""The agents of a simulation: conversations that somebody looked at, or that began here, go on from then."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.local.agents import told_state
from quarterdeck.local.bodies import MessageBody
from quarterdeck.local.events import EventLogs, text_part
from quarterdeck.local.records import stamp
from quarterdeck.local.runtime.play import Play
from quarterdeck.local.store import Record, Store

LOOKS_EVERY = 0.05
"""Seconds between two looks at whether a tool has ended."""
_LONGEST = timedelta(seconds=60)
"""The longest time that is made up for when nobody asked anything."""


class SimulatedAgents:
    """Plays conversations with time, which passes for those whose sandbox runs, and only when somebody asks.

    `played` is told the ids of those whose rows are theirs alone from then on.
    """

    def __init__(
        self, store: Store, logs: EventLogs, seed: int, clock: Callable[[], datetime], played: set[str]
    ) -> None:
        self._store = store
        self._logs = logs
        self._seed = seed
        self._clock = clock
        self._played = played
        self._plays: dict[str, Play] = {}
        self._passing = asyncio.Lock()

    async def catch_up(self) -> None:
        """Let the time pass that has passed."""
        if self._plays:
            await self._store.changes.run(self._pass_time())

    async def begin(self, conversation_id: str) -> None:
        """Play what led to how a conversation is; one that was begun here begins now."""
        async with self._passing:
            if conversation_id in self._plays:
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
                play.rehearse(row["title"], ExecutionStatus(row["agent"]))
                play.put_off(self._clock() - play.now)
                play.now = self._clock()
            self._plays[conversation_id] = play
            self._played.add(conversation_id)
            await self._write(conversation_id, play)

    async def state(self, conversation_id: str) -> Record:
        """How it is."""
        play = await self._play(conversation_id)
        (row,) = await self._store.by_ids("conversations", [conversation_id])
        return told_state(row, play.status, play.policy, play.stats)

    async def send(self, conversation_id: str, message: MessageBody) -> None:
        """Take a message once no tool is under way."""
        play = await self._play(conversation_id)
        while play.holds_messages:
            await asyncio.sleep(LOOKS_EVERY)
            await self._pass_time()
        parts = [text_part(part.text) if part.type == "text" else part.model_dump() for part in message.content]
        await self._act(conversation_id, lambda play: play.say(parts, run=message.run))

    async def run(self, conversation_id: str) -> None:
        """Let it go on."""
        await self._act(conversation_id, Play.go_on)

    async def pause(self, conversation_id: str) -> None:
        """Stop it after its tools."""
        await self._act(conversation_id, Play.pause)
        play = await self._play(conversation_id)
        while play.at_work:
            await asyncio.sleep(LOOKS_EVERY)
            await self._pass_time()

    async def interrupt(self, conversation_id: str) -> None:
        """Stop it at once."""
        await self._act(conversation_id, Play.interrupt)

    async def answer(self, conversation_id: str, *, accept: bool, reason: str) -> None:
        """Do what waits, or do it not."""
        await self._act(conversation_id, Play.accept if accept else lambda play: play.reject(reason))

    async def set_policy(self, conversation_id: str, policy: Mapping[str, Any]) -> None:
        """Let it ask as this says."""
        await self._act(conversation_id, lambda play: play.ask(policy))

    async def _play(self, conversation_id: str) -> Play:
        await self.begin(conversation_id)
        return self._plays[conversation_id]

    async def _act(self, conversation_id: str, act: Callable[[Play], None]) -> None:
        play = await self._play(conversation_id)
        await self._pass_time()
        async with self._passing:
            try:
                act(play)
            finally:
                await self._write(conversation_id, play)

    async def _pass_time(self) -> None:
        async with self._passing:
            now = self._clock()
            rows = await self._store.by_ids("conversations", self._plays)
            sandboxes = await self._store.by_ids("sandboxes", {row["sandbox_id"] for row in rows})
            up = {row["id"] for row in sandboxes if row["status"] == SandboxStatus.RUNNING}
            for row in rows:
                play = self._plays[row["id"]]
                passed = now - play.now
                lost = passed if row["sandbox_id"] not in up else max(passed - _LONGEST, timedelta())
                play.put_off(lost)
                play.now += lost
                play.pass_time(now)
                await self._write(row["id"], play)
            for gone in self._plays.keys() - {row["id"] for row in rows}:
                del self._plays[gone]

    async def _write(self, conversation_id: str, play: Play) -> None:
        """Write down what happened, in its order, and how the conversation is now."""
        told, play.told = play.told, []
        if kept := [each.event for each in told if each.kept]:
            await self._logs.append(conversation_id, kept)
            await self._store.run(
                "UPDATE conversations SET agent = ?, cost = ?, updated_at = ? WHERE id = ?",
                (play.status, play.cost, stamp(told[-1].at), conversation_id),
            )
        self._logs.tell(conversation_id, [each.event for each in told])
