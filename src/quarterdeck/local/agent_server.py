"""The agent server below ``/agent``: log, state, messages, answers, and the socket.

Each sandbox is an agent server of its own, identified by its key, with only the conversations of that sandbox.
"""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID, uuid4

from fastapi import APIRouter, Body, Depends, Header, HTTPException, WebSocket, WebSocketDisconnect

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.local.agents import EventQuery
from quarterdeck.local.conversations import Conversations
from quarterdeck.local.events import MessageBody, Policy, new_event
from quarterdeck.local.records import AGENT_PREFIX, Done, Page
from quarterdeck.local.runtime.simulated_agent import SimulatedAgent
from quarterdeck.local.sandboxes import Sandboxes
from quarterdeck.local.store import Store

VERSION = "1.34.0"
"""The agent server version of release 1.11, whose operations are offered here."""
LISTENS_EVERY = 0.1
"""Seconds between two simulation steps while somebody listens."""
OWN = "/api/conversations/{conversation_id}"


def agent_router(store: Store, sandboxes: Sandboxes, conversations: Conversations) -> APIRouter:
    """Return the router of the agent servers of all sandboxes."""
    router = APIRouter(prefix=AGENT_PREFIX, tags=["Agent server"])
    agents = sandboxes.agents

    async def let_in(conversation_id: UUID, x_session_api_key: Annotated[str, Header()] = "") -> str:
        """Return the stored form of the id, with its log created.

        Raises 401 for an unknown key, 404 for a conversation of another sandbox, 503 while the sandbox does not run.
        """
        homes = await store.select("sandboxes", "key = ?", (x_session_api_key,))
        if not homes:
            raise HTTPException(401, "Unauthorized")
        await sandboxes.catch_up()
        found = (await conversations.read([conversation_id.hex])).get(conversation_id.hex)
        if found is None or found.sandbox_id != homes[0]["id"]:
            raise HTTPException(404)
        if found.sandbox_status != SandboxStatus.RUNNING:
            raise HTTPException(503, f"The sandbox does not run: it is {found.sandbox_status}.")
        await agents.begin(conversation_id.hex)
        return conversation_id.hex

    allowed = Depends(let_in)

    @router.get("/alive")
    async def alive() -> dict[str, str]:
        """Respond that the agent server is there."""
        return {"status": "ok"}

    @router.get("/server_info")
    async def server_info() -> dict[str, Any]:
        """Return its name and version."""
        return {"title": "Quarterdeck's local service", "version": VERSION}

    @router.get(OWN)
    async def state(conversation: Annotated[str, allowed]) -> dict[str, Any]:
        """Return the state of the conversation."""
        return {"id": str(UUID(conversation)), **await agents.state(conversation)}

    @router.get(f"{OWN}/events/search")
    async def search(
        conversation: Annotated[str, allowed], asked: Annotated[EventQuery, Depends()]
    ) -> Page[dict[str, Any]]:
        """Return a page in the order of the log, or in reverse."""
        return await agents.page(conversation, asked)

    @router.post(f"{OWN}/events")
    async def send(conversation: Annotated[str, allowed], body: MessageBody) -> Done:
        """Add a message."""
        await agents.send(conversation, body)
        return Done(success=True)

    async def done(conversation: str, act: Callable[[SimulatedAgent], None]) -> Done:
        await agents.act(conversation, act)
        return Done(success=True)

    @router.post(f"{OWN}/run")
    async def run(conversation: Annotated[str, allowed]) -> Done:
        """Run the agent, which also does the pending actions. 409 if it is already running."""
        return await done(conversation, SimulatedAgent.go_on)

    @router.post(f"{OWN}/interrupt")
    async def interrupt(conversation: Annotated[str, allowed]) -> Done:
        """Stop the agent at once."""
        return await done(conversation, SimulatedAgent.interrupt)

    @router.post(f"{OWN}/events/respond_to_confirmation")
    async def respond(
        conversation: Annotated[str, allowed],
        accept: Annotated[bool, Body()],
        reason: Annotated[str, Body()] = "User rejected the action.",
    ) -> Done:
        """Accept or refuse the pending actions; succeeds even if there are none."""
        answer = SimulatedAgent.accept if accept else partial(SimulatedAgent.reject, reason=reason)
        return await done(conversation, answer)

    @router.post(f"{OWN}/confirmation_policy")
    async def set_policy(conversation: Annotated[str, allowed], policy: Annotated[Policy, Body(embed=True)]) -> Done:
        """Set when the agent asks."""
        return await done(conversation, partial(SimulatedAgent.ask, policy=policy))

    @router.websocket("/sockets/events/{conversation_id}")
    async def listen(socket: WebSocket, conversation_id: UUID) -> None:
        """Send the state and then all new events; closes at once without the key of the sandbox."""
        try:
            key = socket.headers.get("x-session-api-key", "")
            conversation = await store.changes.run(let_in(conversation_id, key))
        except HTTPException:
            await socket.close()
            return
        await socket.accept()
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_until_they_leave(socket))
                both.create_task(_tell(socket, conversation))
        except* (WebSocketDisconnect, RuntimeError):  # RuntimeError: something was sent after the client had left
            pass

    async def _tell(socket: WebSocket, conversation: str) -> None:
        with agents.listen(conversation) as happening:
            state = {"key": "full_state", "value": await agents.state(conversation)}
            now = new_event("ConversationStateUpdateEvent", "environment", str(uuid4()), datetime.now(UTC), **state)
            await socket.send_text(json.dumps(now))
            while True:
                try:
                    async with asyncio.timeout(LISTENS_EVERY):
                        event = await happening.get()
                except TimeoutError:
                    await store.changes.run(sandboxes.catch_up())
                else:
                    await socket.send_text(json.dumps(event))

    return router


async def _until_they_leave(socket: WebSocket) -> None:
    """Raise `WebSocketDisconnect` when the client leaves; what it sends until then is ignored."""
    while True:
        await socket.receive_text()


def copies_router(sandboxes: Sandboxes, conversations: Conversations) -> APIRouter:
    """Return the router for the app server's own copy of the events, which can be read without the sandbox."""
    router = APIRouter(prefix="/conversation/{conversation_id}/events", tags=["Conversations"])

    @router.get("/search")
    async def search(conversation_id: UUID, asked: Annotated[EventQuery, Depends()]) -> Page[dict[str, Any]]:
        """Return a page of the copy, like one of the log; 404 if there is no such conversation."""
        if conversation_id.hex not in await conversations.read([conversation_id.hex]):
            raise HTTPException(404)
        await sandboxes.agents.begin(conversation_id.hex)
        return await sandboxes.agents.page(conversation_id.hex, asked)

    return router
