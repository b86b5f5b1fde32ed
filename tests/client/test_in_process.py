"""What an app of this process is asked, and what is made of its answers."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from quarterdeck.client.fault import WireError
from quarterdeck.client.in_process import AppRoad
from quarterdeck.client.road import Answer, Question
from quarterdeck.client.url import read_url

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
START = {"type": "http.response.start", "status": 202, "headers": [(b"X-Part", b"a"), (b"x-part", b"b")]}


async def asked(app: Callable[..., Awaitable[None]], question: Question) -> Answer:
    return await AppRoad(read_url("http://127.0.0.1:8123"), app).ask(question, 5.0)


async def body_of(answer: Answer) -> bytes:
    return b"".join([piece async for piece in answer])


async def test_an_app_is_asked_as_a_server_would_ask_it() -> None:
    scopes, messages = [], []

    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        scopes.append(scope)
        messages.append(await receive())
        await send(START)
        await send({"type": "http.response.body", "body": b"first ", "more_body": True})
        await send({"type": "http.response.body", "body": b"second"})
        messages.append(await receive())

    answer = await asked(app, Question("POST", "/a%20b/c?x=1%2F2", {"Host": "here"}, b"{}"))
    assert (answer.status, dict(answer.headers), await body_of(answer)) == (202, {"x-part": "a, b"}, b"first second")
    [scope] = scopes
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/a b/c", b"/a%20b/c", b"x=1%2F2")
    assert (scope["method"], scope["headers"]) == ("POST", [(b"host", b"here")])
    assert (scope["scheme"], scope["server"]) == ("http", ("127.0.0.1", 8123))
    assert messages == [{"type": "http.request", "body": b"{}", "more_body": False}, {"type": "http.disconnect"}]


@pytest.mark.parametrize(("begun", "status"), [(False, 500), (True, 202)])
async def test_an_app_that_raises_has_answered_what_it_has_answered(begun: bool, status: int) -> None:
    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if begun:
            await send(START)
        raise ValueError

    answer = await asked(app, Question("GET", "/", {}))
    assert (answer.status, await body_of(answer)) == (status, b"")


async def test_a_header_that_no_server_would_take_is_not_sent() -> None:
    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        raise AssertionError

    with pytest.raises(WireError) as caught:
        await asked(app, Question("GET", "/", {"X-Key": "schlüssel"}))
    assert caught.value.__cause__ is None
