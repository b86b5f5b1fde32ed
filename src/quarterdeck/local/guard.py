"""Before every request: who may ask, under which name, how much they may send, and that it is done whole."""

import secrets
from ipaddress import ip_address
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import HTTPException, Security
from fastapi.security import APIKeyHeader
from pydantic import SecretStr
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from quarterdeck.local.store import Changes

MAX_BODY = 8_000_000
"""Bytes of a request body."""

_header = APIKeyHeader(name="X-Session-API-Key", auto_error=False)


class KeyGuard:
    """A dependency that lets pass who has the key; missing, empty and wrong are answered alike."""

    def __init__(self, key: SecretStr) -> None:
        self._key = key

    async def __call__(self, sent: Annotated[str | None, Security(_header)]) -> None:
        """Raise 401 unless the right key was sent; the comparison takes as long for any wrong one."""
        expected = self._key.get_secret_value().encode()
        if not secrets.compare_digest((sent or "").encode(), expected):
            raise HTTPException(401, "Unauthorized")


class BodyLimit:
    """Refuses a request body as soon as it is too long."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on the request with its body counted."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message: dict[str, Any] = dict(await receive())
            received += len(message.get("body", b""))
            if received > MAX_BODY:
                raise HTTPException(413, "The request is too large")
            return message

        await self._app(scope, counted, send)


class ToTheEnd:
    """Does all that a request asks for, whoever gives up waiting for the answer."""

    def __init__(self, app: ASGIApp, changes: Changes) -> None:
        self._app = app
        self._changes = changes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request as one change; a socket lasts, and says itself what has to be whole."""
        answer = self._app(scope, receive, send)
        await (self._changes.run(answer) if scope["type"] == "http" else answer)


class LoopbackOnly:
    """Answers 421 (RFC 9110) to what is asked of another host than this machine.

    A web page can have its own name resolve to 127.0.0.1 and ask under that name; the Host header gives it away.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what names loopback."""
        if scope["type"] not in ("http", "websocket") or _is_loopback(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose(1008)(scope, receive, send)
        else:
            words = "This service answers to localhost and 127.0.0.1 only"
            await PlainTextResponse(words, 421)(scope, receive, send)


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
