"""Knocks at sandboxes of which readings alone say too little: is anybody there?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.tui.live.news import About, News

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.fleet.memories import SandboxMemories


class Knocking:
    """Asks the agent servers of sandboxes in the background, and has their memories know what was found."""

    def __init__(
        self,
        client: Client,
        memories: SandboxMemories,
        publish: Callable[[News], None],
        clock: Callable[[], datetime],
    ) -> None:
        self._client = client
        self._memories = memories
        self._publish = publish
        self._clock = clock
        self._under_way: set[asyncio.Task[None]] = set()

    def at(self, visible: Sequence[str], now: datetime) -> None:
        """Knock at those of these sandboxes that want it."""
        for sandbox_id in self._memories.take_knocks(visible, now):
            task = asyncio.create_task(self._knock(sandbox_id))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def _knock(self, sandbox_id: str) -> None:
        memory = self._memories.by_id.get(sandbox_id)
        address = memory.agent_server if memory is not None else None
        if address is not None:
            answered = await self._client.alive(address)
            if self._memories.knocked(sandbox_id, self._clock(), answered=answered):
                self._publish(News(About.SANDBOXES, frozenset({sandbox_id})))
