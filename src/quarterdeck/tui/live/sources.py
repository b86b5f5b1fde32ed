"""What the watches read from: the client's lists, asked for in the background so that a person's requests go first.

What was read is given out when no key is being answered: taking in a page of a hundred records costs milliseconds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.page import Page

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.client.models.conversation import Conversation, StartTask
    from quarterdeck.client.models.sandbox import Sandbox
AtRest = Callable[[], Awaitable[None]]
"""Waits until no key is being answered."""


async def no_keys() -> None:
    """Wait for nothing: where there is no keyboard."""


class SandboxSource:
    """The sandboxes of a server."""

    def __init__(self, client: Client, at_rest: AtRest = no_keys) -> None:
        self._client = client
        self._at_rest = at_rest

    async def pages(self) -> AsyncIterator[Page[Sandbox]]:
        """All of them, page by page."""
        async for page in self._client.sandboxes.pages(background=True):
            await self._at_rest()
            yield page

    async def read(self, ids: Sequence[str]) -> Sequence[Sandbox | None] | None:
        """These ones."""
        answers = await self._client.sandboxes.read(ids, background=True)
        await self._at_rest()
        return answers


class ConversationSource:
    """The conversations of a server."""

    def __init__(self, client: Client, at_rest: AtRest = no_keys) -> None:
        self._client = client
        self._at_rest = at_rest
        self._counted = False
        self.total: int | None = None
        """How many there were when they were first read; None for one page of them, and where nobody says."""

    async def pages(self) -> AsyncIterator[Page[Conversation]]:
        """All of them, page by page; when there is more than one, it is asked once how many there are."""
        async for page in self._client.conversations.pages(background=True):
            await self._at_rest()
            yield page
            if page.next_page_id is not None and not self._counted:
                self._counted = True
                with suppress(ServiceError):  # the list is read all the same
                    self.total = await self._client.conversations.count(background=True)

    async def read(self, ids: Sequence[str]) -> Sequence[Conversation | None] | None:
        """These ones."""
        answers = await self._client.conversations.read(ids, background=True)
        await self._at_rest()
        return answers


class StartTaskSource:
    """The newest start tasks of a server: one page, as servers list them for ever."""

    def __init__(self, client: Client) -> None:
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
