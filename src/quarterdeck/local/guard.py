"""Who may ask, and how much they may send."""

import secrets
from typing import Annotated, Any

from fastapi import HTTPException, Security
from fastapi.security import APIKeyHeader
from pydantic import SecretStr
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
