"""What an agent server offers for its conversations, below ``/agent``: log, state, messages, answers, and the socket.

Each sandbox is an agent server of its own, known by its key: it has the conversations of that sandbox and no others.
"""

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Depends, Header, HTTPException, Request, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.websockets import WebSocketState

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.bodies import AnswerBody, MessageBody, PolicyBody
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.errors import AlreadyRunningError
from quarterdeck.local.events import made
from quarterdeck.local.records import Done, Limit, Page, Paging
from quarterdeck.local.runtime.base import Runtime
from quarterdeck.local.runtime.play import Play
from quarterdeck.local.store import Record, Store

VERSION = "1.34.0"
"""The agent server of release 1.11: what is offered here is as there."""
PREFIX = "/agent"
LISTENS_EVERY = 0.1
"""Seconds between two looks at what happened by itself while somebody listens."""
AUTHENTICATED_WITHIN = 10.0
WRONG_KEY, UNKNOWN = 4001, 4004
"""Why a socket is closed."""
OWN = "/api/conversations/{conversation_id}"


class Order(StrEnum):
    """How events can be sorted."""

    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_DESC = "TIMESTAMP_DESC"


async def agent_server(request: Request) -> str:
    """Where the agents of conversations are asked, by the name under which this service was asked itself."""
    return f"{str(request.base_url).rstrip('/')}{PREFIX}"


AgentServerUrl = Annotated[str, Depends(agent_server)]


def agent_router(store: Store, runtime: Runtime, conversations: Conversations) -> APIRouter:
    """The agent servers of all sandboxes."""
    router = APIRouter(prefix=PREFIX, tags=["Agent server"])
    agents, logs = runtime.agents, runtime.agents.logs

    async def let_in(conversation_id: UUID, x_session_api_key: Annotated[str, Header()] = "") -> str:
        """The id as it is stored, with its log begun.

        Raises 401 for a key of no sandbox, 404 for a conversation of another one, 503 while the sandbox does not run.
        """
        key = x_session_api_key
        sandboxes = await store.select("sandboxes", "key = ?", (key,)) if key else []
        if not sandboxes or not secrets.compare_digest(sandboxes[0]["key"].encode(), key.encode()):
            raise HTTPException(401, "Unauthorized")
        await runtime.catch_up()
        found = (await conversations.read([conversation_id.hex])).get(conversation_id.hex)
        if found is None or found["sandbox_id"] != sandboxes[0]["id"]:
            raise HTTPException(404)
        if found["sandbox_status"] != SandboxStatus.RUNNING:
            raise HTTPException(503, f"The sandbox does not run: it is {found['sandbox_status']}.")
        await agents.begin(conversation_id.hex)
        return conversation_id.hex

    async def let_act(conversation_id: UUID, x_session_api_key: Annotated[str, Header()] = "") -> str:
        """As real ones say it of what is asked of an agent that is not there."""
        try:
            return await let_in(conversation_id, x_session_api_key)
        except HTTPException as error:
            raise HTTPException(400) if error.status_code == 404 else error from None

    @router.get("/alive")
    async def alive() -> dict[str, str]:
        """The agent server is there."""
        return {"status": "ok"}

    @router.get("/server_info")
    async def server_info() -> dict[str, Any]:
        """What it is."""
        return {"title": "Quarterdeck's local service", "version": VERSION}

    @router.get(OWN)
    async def state(conversation: Annotated[str, Depends(let_in)]) -> dict[str, Any]:
        """How the conversation is."""
        return await agents.state(conversation)

    @router.get(f"{OWN}/events/search")
    async def search(
        conversation: Annotated[str, Depends(let_in)],
        page_id: str | None = None,
        limit: Limit = 100,
        sort_order: Order = Order.TIMESTAMP,
    ) -> Page[dict[str, Any]]:
        """A page in the order of the log, or against it; its id is that of its first event."""
        newest_first = sort_order is Order.TIMESTAMP_DESC
        return await logs.page(conversation, page_id, limit, newest_first=newest_first)

    @router.get(f"{OWN}/events/count")
    async def count(conversation: Annotated[str, Depends(let_in)]) -> int:
        """How many events there are."""
        return await logs.count(conversation)

    @router.post(f"{OWN}/events")
    async def send(conversation: Annotated[str, Depends(let_in)], body: MessageBody) -> Done:
        """Say something; held while a tool runs."""
        if body.role != "user":
            raise HTTPException(422, "Only messages of the role user can be sent")
        await agents.send(conversation, body)
        return Done(success=True)

    async def done(conversation: str, act: Callable[[Play], None]) -> Done:
        await agents.act(conversation, act)
        return Done(success=True)

    @router.post(f"{OWN}/run")
    async def run(conversation: Annotated[str, Depends(let_act)]) -> Done:
        """Let the agent go on: what waits to be accepted is done."""
        try:
            return await done(conversation, Play.go_on)
        except AlreadyRunningError as error:
            raise HTTPException(409, str(error)) from None

    @router.post(f"{OWN}/pause")
    async def pause(conversation: Annotated[str, Depends(let_act)]) -> Done:
        """Stop the agent after its step; held until then."""
        return await done(conversation, Play.pause)

    @router.post(f"{OWN}/interrupt")
    async def interrupt(conversation: Annotated[str, Depends(let_act)]) -> Done:
        """Stop the agent at once."""
        return await done(conversation, Play.interrupt)

    @router.post(f"{OWN}/events/respond_to_confirmation")
    async def respond(conversation: Annotated[str, Depends(let_in)], body: AnswerBody) -> Done:
        """Accept or refuse what waits; done also where nothing does."""
        return await done(conversation, Play.accept if body.accept else lambda play: play.reject(body.reason))

    @router.post(f"{OWN}/confirmation_policy")
    async def set_policy(conversation: Annotated[str, Depends(let_in)], body: PolicyBody) -> Done:
        """Say when the agent asks."""
        return await done(conversation, lambda play: play.ask(body.policy.told()))

    @router.websocket("/sockets/events/{conversation_id}")
    async def listen(socket: WebSocket, conversation_id: UUID) -> None:
        """Tell what happens from now on; what is sent here is said by the person, and runs."""
        key = socket.headers.get("x-session-api-key") or socket.query_params.get("session_api_key")
        if key is None:
            await socket.accept()
            key = await _first_frame(socket)
        try:
            conversation = await store.changes.run(let_in(conversation_id, key))
        except HTTPException as error:
            if error.status_code == 404 and socket.application_state is WebSocketState.CONNECTING:
                await socket.accept()
            await socket.close(UNKNOWN if error.status_code == 404 else WRONG_KEY)
            return
        if socket.application_state is WebSocketState.CONNECTING:
            await socket.accept()
        with logs.listen(conversation) as happening:
            await _tell(socket, _full_state(await agents.state(conversation)))
            try:
                async with asyncio.TaskGroup() as both_ways:
                    both_ways.create_task(_hear(socket, conversation))
                    both_ways.create_task(_tell_all(socket, happening))
            except* (WebSocketDisconnect, RuntimeError):  # RuntimeError: something was told after they had left
                pass

    async def _hear(socket: WebSocket, conversation: str) -> None:
        while True:
            text = await socket.receive_text()
            try:
                message = MessageBody.model_validate_json(text)
            except ValidationError:
                words = {"code": "JSONDecodeError", "detail": "The frame is no message."}
                await _tell(socket, made("ServerErrorEvent", "environment", str(uuid4()), datetime.now(UTC), **words))
            else:
                await store.changes.run(agents.send(conversation, message.model_copy(update={"run": True})))

    async def _tell_all(socket: WebSocket, happening: asyncio.Queue[Record]) -> None:
        while True:
            try:
                await _tell(socket, await asyncio.wait_for(happening.get(), LISTENS_EVERY))
            except TimeoutError:
                await store.changes.run(runtime.catch_up())

    return router


def copies_router(runtime: Runtime, conversations: Conversations) -> APIRouter:
    """What the app server itself keeps of the events, which is read also while the sandbox sleeps or is gone."""
    router = APIRouter(prefix="/conversation/{conversation_id}/events", tags=["Conversations"])

    async def known(conversation_id: UUID) -> str:
        if conversation_id.hex not in await conversations.read([conversation_id.hex]):
            raise HTTPException(404)
        await runtime.agents.begin(conversation_id.hex)
        return conversation_id.hex

    @router.get("/search")
    async def search(
        conversation: Annotated[str, Depends(known)], window: Paging, sort_order: Order = Order.TIMESTAMP
    ) -> Page[dict[str, Any]]:
        """A page in the order of time."""
        return await runtime.agents.logs.by_time(conversation, window, newest_first=sort_order is Order.TIMESTAMP_DESC)

    @router.get("/count")
    async def count(conversation: Annotated[str, Depends(known)]) -> int:
        """How many events are kept."""
        return await runtime.agents.logs.count(conversation)

    return router


async def _first_frame(socket: WebSocket) -> str:
    """The key of a first frame ``{"type": "auth", "session_api_key": ...}``; empty where none comes."""
    with suppress(TimeoutError, ValueError, WebSocketDisconnect, KeyError):
        async with asyncio.timeout(AUTHENTICATED_WITHIN):
            frame = json.loads(await socket.receive_text())
        if isinstance(frame, dict) and frame.get("type") == "auth":
            return str(frame.get("session_api_key", ""))
    return ""


async def _tell(socket: WebSocket, event: Mapping[str, Any]) -> None:
    await socket.send_text(json.dumps(event))


def _full_state(state: Record) -> Record:
    now = datetime.now(UTC)
    members = {"key": "full_state", "value": state}
    return made("ConversationStateUpdateEvent", "environment", str(uuid4()), now, **members)
