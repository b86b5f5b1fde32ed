"""The road into an app of this process (ASGI 3.0), without any connection."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import unquote

from quarterdeck.client.fault import Fault, WireError
from quarterdeck.client.road import Answer, Question, readable
from quarterdeck.client.url import Url

App = Callable[..., Awaitable[None]]
"""An ASGI application."""
Message = MutableMapping[str, Any]
FAILED = 500
"""Status of the answer when an app raises before it has answered."""


class AppRoad:
    """The road into one app; an answer is there once the app has ended."""

    def __init__(self, url: Url, app: App) -> None:
        self._url = url
        self._app = app

    async def ask(self, question: Question, seconds: float) -> Answer:
        """Have the app answer, as `Road` says; how long that takes is for the caller to bound."""
        try:
            scope = self._scope(question)
        except UnicodeEncodeError:
            raise WireError(Fault.BAD_REQUEST) from None  # the text of the cause may hold the key
        answer = _AppAnswer(question.body)
        try:
            await self._app(scope, answer.receive, answer.send)
        except Exception:  # noqa: BLE001 - as a server does, whatever it is that an app raises
            answer.complete.set()
        return answer

    async def aclose(self) -> None:
        """There is nothing to close."""

    def _scope(self, question: Question) -> dict[str, Any]:
        path, _, query = question.target.partition("?")
        headers = question.headers.items()
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": question.method,
            "scheme": self._url.scheme,
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "root_path": "",
            "headers": [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers],
            "server": (self._url.host, self._url.port),
            "client": None,
        }


class _AppAnswer:
    """What passes between an app and who asks it."""

    def __init__(self, body: bytes) -> None:
        self.status = FAILED
        self.headers: Mapping[str, str] = {}
        self.complete = asyncio.Event()
        self._asked: bytes | None = body
        self._pieces: list[bytes] = []

    async def receive(self) -> Message:
        """The request, and after it that nobody listens any more, once all is answered."""
        if self._asked is None:
            await self.complete.wait()
            return {"type": "http.disconnect"}
        body, self._asked = self._asked, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take a piece of the answer."""
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], readable(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            self._pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                self.complete.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        """There is nothing to close."""
