"""What the watches read from: the client's lists, asked for in the background so that a person's requests go first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from quarterdeck.service.models.page import Page

if TYPE_CHECKING:
    from quarterdeck.service.client import ServiceClient
    from quarterdeck.service.models.conversation import Conversation, StartTask
    from quarterdeck.service.models.sandbox import Sandbox


class SandboxSource:
    """The sandboxes of a server."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def pages(self) -> AsyncIterator[Page[Sandbox]]:
        """All of them, page by page."""
        return self._client.sandboxes.pages(background=True)

    async def read(self, ids: Sequence[str]) -> Sequence[Sandbox | None] | None:
        """These ones."""
        return await self._client.sandboxes.read(ids, background=True)


class ConversationSource:
    """The conversations of a server."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def pages(self) -> AsyncIterator[Page[Conversation]]:
        """All of them, page by page."""
        return self._client.conversations.pages(background=True)

    async def read(self, ids: Sequence[str]) -> Sequence[Conversation | None] | None:
        """These ones."""
        return await self._client.conversations.read(ids, background=True)


class StartTaskSource:
    """The newest start tasks of a server: one page, as servers list them for ever."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client
        self._last: Page[StartTask] = Page(())

    async def pages(self) -> AsyncIterator[Page[StartTask]]:
        """The newest ones."""
        items = await self._client.conversations.recent_start_tasks(background=True)
        if items != self._last.items:
            self._last = Page(items)
        yield self._last

    async def read(self, ids: Sequence[str]) -> Sequence[StartTask | None] | None:
        """These ones."""
        return await self._client.conversations.start_tasks(ids, background=True)
