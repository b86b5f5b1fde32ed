"""What answers at a connection, asked again whenever there is a reason to doubt it."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import KeyState, Server
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.watch import backoff

BELIEVED_FOR = 60.0
"""Seconds for which a description is believed when nothing speaks against it."""


class ServerWatch:
    """Describes a server until it is known, and again later: another one may be put behind the same address."""

    def __init__(self, client: Client, publish: Callable[[News], None]) -> None:
        self.kind: Server | None = None
        """What answers, None while that is not known."""
        self.trouble: ServiceError | None = None
        """Why it is not known what answers, while it is not."""
        self.release = ""
        """Empty while it is not known."""
        self._client = client
        self._publish = publish
        self._doubted = asyncio.Event()

    @property
    def key_refused(self) -> bool:
        """Whether a protected call said that the key is wrong or missing."""
        return self.kind is not None and self.kind.key is KeyState.REFUSED

    async def run(self) -> None:
        """Ask until cancelled."""
        failures = 0
        while True:
            self._doubted.clear()
            try:
                await self._describe()
                failures, wait = 0, BELIEVED_FOR
            except ServiceError as error:
                failures += 1
                wait = backoff(failures, random.random(), error.retry_after)  # noqa: S311 - no secret
                if self.kind is None:
                    self.trouble = error
                    self._publish(News(About.SERVER))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._doubted.wait(), wait)

    def doubt(self) -> None:
        """Ask again now: something was not as it should be, or somebody wants to know."""
        self._doubted.set()

    async def _describe(self) -> None:
        before, server = self.kind, await self._client.describe()
        if server == before:
            return
        self.kind, self.trouble = server, None
        # The key and the release of one server may change, what it can do does not.
        another = before is not None and server._replace(key=before.key, release=before.release) != before
        self._publish(News(About.SERVER, all_rows=another, another_server=another))
        self.release = await self._client.release()
        self._publish(News(About.SERVER))
