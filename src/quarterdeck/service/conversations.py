"""App conversations and the start tasks that create them (contract section g)."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from typing import Any

from quarterdeck.service.bodies import read_json
from quarterdeck.service.calls import Call, Repeat, Reply
from quarterdeck.service.errors import ServiceError
from quarterdeck.service.models.conversation import (
    Conversation,
    NewConversation,
    StartTask,
    read_conversation,
    read_start_task,
)
from quarterdeck.service.models.page import Page
from quarterdeck.service.paths import segment
from quarterdeck.service.records import Records
from quarterdeck.service.refusals import not_offered, offers_nothing
from quarterdeck.service.sender import Sender

CONVERSATIONS = "/api/v1/app-conversations"
START_TASKS = f"{CONVERSATIONS}/start-tasks"


def _undashed(record_id: str) -> str:
    """App records write ids without dashes, other places with them (contract T22)."""
    return record_id.replace("-", "").lower()


class ConversationsResource:
    """Lists, creates and deletes conversations; every failure is a ServiceError."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._conversations = Records(sender, read_conversation, _undashed)
        self._tasks = Records(sender, read_start_task, _undashed)
        self._documented_only = False
        self._tasks_listed = True

    def forget(self) -> None:
        """Forget what was found not to be offered: another server may answer now."""
        self._conversations.forget()
        self._tasks.forget()
        self._documented_only = False
        self._tasks_listed = True

    async def pages(self, *, background: bool = False) -> AsyncIterator[Page[Conversation]]:
        """Read all conversations, newest first, page by page.

        A server that has only the documented paths lists them at the collection itself.
        """
        if not self._documented_only:
            started = False
            try:
                async for page in self._conversations.pages(
                    f"{CONVERSATIONS}/search", self._query, background=background
                ):
                    started = True
                    yield page
                return
            except ServiceError as error:
                if started or not not_offered(error):
                    raise
        async for page in self._conversations.pages(CONVERSATIONS, background=background):
            self._documented_only = True
            yield page

    async def count(self, *, background: bool = False) -> int | None:
        """How many conversations there are; None where the server does not say."""
        try:
            reply = await self._sender.send(Call("GET", f"{CONVERSATIONS}/count", background=background))
        except ServiceError as error:
            if not not_offered(error):
                raise
            return None
        count = _content(reply)
        return count if type(count) is int and count >= 0 else None

    async def read(self, ids: Sequence[str], *, background: bool = False) -> tuple[Conversation | None, ...] | None:
        """Read these conversations in this order, None for one that is not there; None for all: no such read here."""
        return await self._conversations.batch(CONVERSATIONS, "ids", ids, background=background)

    async def create(self, new: NewConversation) -> StartTask | Conversation | None:
        """Create a conversation and return the task that does it, whatever else the server answers with, or nothing.

        An answer says nothing about success: that is in the start task (contract T15). After None, list again.
        """
        call = Call(
            "POST", CONVERSATIONS, body=creation_body(new), repeat=Repeat.ONCE, seconds=self._sender.limits.start
        )
        reply = await self._sender.send(call)
        answer = _content(reply)
        for read in (read_start_task, read_conversation):
            try:
                return read(answer)
            except ValueError:
                continue
        return None

    async def start_tasks(self, ids: Sequence[str], *, background: bool = False) -> tuple[StartTask | None, ...] | None:
        """Read these start tasks in this order, None for one that is not there; None for all: not offered here."""
        return await self._tasks.batch(START_TASKS, "ids", ids, background=background)

    async def recent_start_tasks(self, *, background: bool = False) -> tuple[StartTask, ...]:
        """Read the newest start tasks, one page of them; none where they are not offered, which is asked only once."""
        if self._tasks_listed:
            try:
                async for page in self._tasks.pages(f"{START_TASKS}/search", self._query, background=background):
                    return page.items
            except ServiceError as error:
                if not not_offered(error):
                    raise
                self._tasks_listed = False
        return ()

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation; its sandbox goes with it when no other conversation uses it (contract T27).

        Raises ServiceError(NOT_OFFERED) where a server has no such call.
        """
        path = f"{CONVERSATIONS}/{segment(conversation_id)}"
        seconds = self._sender.limits.delete
        try:
            await self._sender.send(Call("DELETE", path, repeat=Repeat.ONCE, seconds=seconds))
        except ServiceError as error:
            if not not_offered(error):
                raise
            raise offers_nothing("This server cannot delete conversations.", error) from None

    @property
    def _query(self) -> tuple[tuple[str, str], ...]:
        return (("limit", str(self._sender.limits.page)),)


def _content(reply: Reply) -> Any:
    """What JSON an answer holds, None where it is none."""
    try:
        return read_json(reply.body)
    except ServiceError:
        return None


def creation_body(new: NewConversation) -> dict[str, Any]:
    """Write what a conversation is created with; a message is a list of typed parts (contract T16)."""
    body: dict[str, Any] = {name: value for name, value in asdict(new).items() if value is not None}
    if (message := body.pop("message", None)) is not None:
        body["initial_message"] = {"role": "user", "content": [{"type": "text", "text": message}], "run": True}
    return body
