"""Finds out what kind of server answers at a connection, again whenever there is a reason to doubt it."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.watch import backoff

BELIEVED_FOR = 60.0
"""Seconds for which a description is trusted if there is no reason to doubt it."""
ANOTHER = "Another server answers at this address than before; everything is read anew."


class ServerWatch:
    """Describes a server until that succeeds, and again later: another server may appear at the same address.

    `accepted` is called whenever it turned out that the server accepts the key.
    """

    def __init__(self, client: Client, publish: Callable[[News], None], accepted: Callable[[], None]) -> None:
        self.kind: Server | None = None
        """The kind of server, None until known."""
        self.trouble: ServiceError | None = None
        """Why the kind of server is not known yet."""
        self.release = ""
        """Its release, empty until known."""
        self._client = client
        self._publish = publish
        self._accepted = accepted
        self._doubted = asyncio.Event()

    @property
    def key_refused(self) -> bool:
        """Whether a protected request showed that the key is wrong or missing."""
        return self.kind is not None and self.kind.key is KeyState.REFUSED

    async def run(self) -> None:
        """Describe again and again until cancelled."""
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
                async with asyncio.timeout(wait):  # wait_for of Python 3.11 can swallow a cancellation
                    await self._doubted.wait()

    def doubt(self) -> None:
        """Describe again now, because something was unexpected or somebody wants to know."""
        self._doubted.set()

    async def _describe(self) -> None:
        before, server = self.kind, await self._client.describe()
        if server.key is KeyState.ACCEPTED:
            self._accepted()
        # A server that lacks all settings now is more likely a page that stands in front of it for a while.
        if server == before or (before is not None and server.generation is Generation.NONE):
            return
        self.kind, self.trouble = server, None
        # The key and release of the same server may change, its abilities do not.
        another = before is not None and server._replace(key=before.key, release=before.release) != before
        self._publish(News(About.SERVER, all_rows=another, another_server=another, words=ANOTHER if another else ""))
        self.release = await self._client.release()
        self._publish(News(About.SERVER))
