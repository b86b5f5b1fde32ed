"""App conversations and the start tasks that create them."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.base import read_as
from quarterdeck.client.models.conversation import Conversation, NewConversation, StartTask
from quarterdeck.client.paging import Page, Records
from quarterdeck.client.refusals import FAILED, NEWER, not_offered, offers_nothing
from quarterdeck.client.request import Request, segment
from quarterdeck.client.transport import Transport

CONVERSATIONS = "/api/v1/app-conversations"
START_TASKS = f"{CONVERSATIONS}/start-tasks"
WITH_PARTS = ("include_sub_conversations", "true")
"""Servers leave out conversations that have a parent unless this is set."""
ZIP = b"PK"
"""The first bytes of every zip file."""
CANNOT_RENAME = "This server cannot rename conversations."


def _undashed(record_id: str) -> str:
    """Normalize an id: app records have no dashes, other places do (SERVERS.md: times and ids)."""
    return record_id.replace("-", "").lower()


class ConversationsResource(Records[Conversation]):
    """Lists, creates and deletes conversations; every failure is a ServiceError."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, Conversation, CONVERSATIONS, same=_undashed)

    async def pages(self, *, background: bool = False) -> AsyncIterator[Page[Conversation]]:
        """Read all conversations, newest first, page by page.

        A server with only the documented paths lists them at the collection's own path.
        """
        lacks, started = self._transport.lacks, False
        if self._search not in lacks:
            try:
                async for page in self._pages_at(self._search, (*self._limit, WITH_PARTS), background=background):
                    started = True
                    yield page
                return
            except ServiceError as error:
                if started or not not_offered(error):
                    raise
        async for page in self._pages_at(CONVERSATIONS, background=background):
            lacks.add(self._search)
            yield page

    async def titled(self, words: str) -> Page[Conversation]:
        """Return the newest conversations whose title contains these words, as the server compares them: one page."""
        query = (*self._limit, WITH_PARTS, ("title__contains", words))
        return await anext(self._pages_at(self._search, query))

    async def count(self, *, background: bool = False) -> int | None:
        """Return how many conversations there are, including those with a parent; None if the server does not tell."""
        request = Request("GET", f"{CONVERSATIONS}/count", (WITH_PARTS,), background=background)
        response = await self._transport.send_if_offered(request)
        count = None if response is None else response.json_or_none()
        return count if type(count) is int and count >= 0 else None

    async def create(self, new: NewConversation) -> StartTask | Conversation | None:
        """Create a conversation and return its start task, or whatever record is returned; None if there is none.

        The response does not show success: the start task does. After None, read the list again.
        """
        request = Request("POST", CONVERSATIONS, body=creation_body(new), seconds=self._transport.limits.slow)
        response = await self._transport.send(request)
        answer = response.json_or_none()
        with suppress(ValueError):
            return read_as(StartTask, answer)
        with suppress(ValueError):
            return read_as(Conversation, answer)
        return None

    async def rename(self, conversation_id: str, title: str) -> None:
        """Rename a conversation, and check that its title has changed (SERVERS.md: renaming a conversation).

        Raises ServiceError(NOT_OFFERED) if the server has no such request, requires other members, or keeps the old
        title.
        """
        request = Request("PATCH", _path(conversation_id), body={"title": title}, lacking=CANNOT_RENAME)
        try:
            response = await self._transport.send(request)
        except ServiceError as error:
            # Release 1.2 requires the only member that it allows to change.
            if error.kind is ErrorKind.INVALID and any(each.location == ("public",) for each in error.problems):
                raise offers_nothing(CANNOT_RENAME, error) from None
            raise
        record: Conversation | None
        try:
            record = read_as(Conversation, response.json_or_none())
        except ValueError:
            record = await self.find(conversation_id)
        if record is not None and (record.title or "").strip() != title.strip():
            raise response.error(ErrorKind.NOT_OFFERED, CANNOT_RENAME, NEWER)

    async def trajectory(self, conversation_id: str) -> bytes:
        """Return everything that happened in a conversation as a zip file made by the server; it is held in memory.

        Raises ServiceError: NOT_OFFERED if the server has no such request, TOO_LARGE beyond `Limits.trajectory_body`.
        """
        limits = self._transport.limits
        path = f"{_path(conversation_id)}/download"
        request = Request("GET", path, largest=limits.trajectory_body, seconds=limits.trajectory)
        try:
            response = await self._transport.send(request)
        except ServiceError as error:
            if not_offered(error):
                raise await self._no_trajectory(conversation_id, error) from None
            if error.kind is ErrorKind.TOO_LARGE:
                error.advice = "Nothing was written. Fetch it by other means."
            elif error.status == FAILED:
                error.advice = "Releases before 1.6 always fail at this."
            raise
        if not response.body.startswith(ZIP):
            raise response.error(ErrorKind.SHAPE, "What the server sent is no zip file.", "Nothing was written.")
        return response.body

    async def _no_trajectory(self, conversation_id: str, error: ServiceError) -> ServiceError:
        """Distinguish a missing request from a missing conversation, both 404 (SERVERS.md: the trajectory)."""
        if await self.read((conversation_id,)) == (None,):
            words, advice = "The conversation is not there.", "Read the list again to see whether it is gone."
            return replace(error, kind=ErrorKind.MISSING, words=words, advice=advice)
        return offers_nothing("This server gives no trajectories.", error)

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation, and what goes with it (SERVERS.md: deleting a conversation).

        Raises ServiceError(NOT_OFFERED) if the server has no such request.
        """
        seconds, lacking = self._transport.limits.slow, "This server cannot delete conversations."
        request = Request("DELETE", _path(conversation_id), seconds=seconds, lacking=lacking)
        await self._transport.send(request)


class StartTasksResource(Records[StartTask]):
    """Reads the tasks that create conversations, if a server has them; every failure is a ServiceError."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport, StartTask, START_TASKS, same=_undashed)

    @property
    def offered(self) -> bool:
        """Whether the server has start tasks, as far as it was asked."""
        return self._search not in self._transport.lacks

    async def pages(self, *, background: bool = False) -> AsyncIterator[Page[StartTask]]:
        """Read the newest start tasks, only one page: servers list them for ever."""
        yield replace(await self.newest(background=background), more=False)


def _path(conversation_id: str) -> str:
    return f"{CONVERSATIONS}/{segment(conversation_id)}"


def creation_body(new: NewConversation) -> dict[str, Any]:
    """Return the body that creates a conversation; a message is a list of typed parts."""
    body: dict[str, Any] = new.model_dump(exclude_none=True)
    if (message := body.pop("message", None)) is not None:
        body["initial_message"] = {"role": "user", "content": [{"type": "text", "text": message}], "run": True}
    return body
