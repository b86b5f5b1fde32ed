from collections.abc import Awaitable
from typing import Any

import httpx
import pytest

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.conversation import NewConversation
from tests.client.fakes import NO_ROUTE, Answer, Asked, client_of, error_of, first_page

AT_ONCE = {"Retry-After": "0"}
BEYOND_CLOCKS = "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"
DONE = Answer({"success": True})
Lost = Answer | Exception
LOST: list[Lost] = [
    httpx.ReadTimeout(""),
    httpx.ReadError(""),
    httpx.RemoteProtocolError("Server disconnected without sending a response."),
    Answer({"detail": "no"}, 500),
    Answer(b"<h1>gateway</h1>", 504),
]
NOT_SENT, NOT_APPLIED, UNKNOWN = Outcome.NOT_SENT, Outcome.NOT_APPLIED, Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("fault", "reads", "watched", "starts", "outcome"),
    [
        (httpx.ConnectError(""), 3, 1, 2, NOT_SENT),
        *((each, 1, 1, 2, NOT_SENT) for each in (httpx.ConnectTimeout(""), httpx.PoolTimeout(""))),
        *((each, 3, 3, 1, UNKNOWN) for each in (httpx.ReadTimeout(""), httpx.ReadError(""))),
        *((Answer({"detail": "no"}, each), 1, 1, 1, NOT_APPLIED) for each in (400, 401, 403, 404, 409, 410, 422)),
        *((Answer({"detail": "no"}, each), 1, 1, 1, UNKNOWN) for each in (501, 599)),
        *((Answer(b"<h1>gateway</h1>", each), 3, 3, 1, UNKNOWN) for each in (500, 502, 503, 504)),
        (Answer(status=503, headers=AT_ONCE), 3, 3, 1, UNKNOWN),
        (Answer(status=429, headers=AT_ONCE), 3, 3, 1, NOT_APPLIED),
        (Answer(status=429, headers={"Retry-After": "30.5"}), 1, 1, 1, NOT_APPLIED),
        (Answer(status=429, headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}), 1, 1, 1, NOT_APPLIED),
        (Answer(status=503, headers={"Retry-After": "Fri, 20 Nov 2020 15:00:10 GMT"}), 3, 3, 1, UNKNOWN),
        (Answer(status=503, headers=dict.fromkeys(("Date", "Retry-After"), BEYOND_CLOCKS)), 3, 3, 1, UNKNOWN),
    ],
)
async def test_only_what_the_table_allows_is_sent_again(
    fault: Lost, reads: int, watched: int, starts: int, outcome: Outcome
) -> None:
    client, server = client_of(lambda _: fault)

    async def asked(attempt: Awaitable[Any]) -> tuple[int, Outcome]:
        server.asked.clear()
        error = await error_of(attempt)
        assert (error.kind is ErrorKind.UNKNOWN_OUTCOME) is (error.outcome is UNKNOWN)
        return len(server.asked), error.outcome

    assert (await asked(first_page(client)))[0] == reads
    assert (await asked(anext(aiter(client.sandboxes.pages(background=True)))))[0] == watched
    assert await asked(client.sandboxes.start()) == (starts, outcome)
    assert await asked(client.conversations.create(NewConversation(message="hello"))) == (starts, outcome)
    assert await asked(client.settings.store(None, {"language": "fr"})) == (starts, outcome)


@pytest.mark.parametrize("body", [{"success": True}, {}, [], b"", b"null", b'"ok"'])
@pytest.mark.parametrize("status", [200, 201, 202, 204])
async def test_any_answer_of_success_is_one(body: Any, status: int) -> None:
    client, server = client_of(lambda _: Answer(body, status))
    await client.sandboxes.pause("s1")
    await client.sandboxes.resume("s1")
    await client.settings.store(None, {"language": "fr"})
    assert [asked.path.rsplit("/", 1)[1] for asked in server.asked] == ["pause", "resume", "settings"]


async def test_a_start_is_done_by_the_second_try_or_with_an_answer_nobody_can_read() -> None:
    started = Answer({"id": "s1", "status": "STARTING"})
    client, _ = client_of({"POST /api/v1/sandboxes": [httpx.ConnectError(""), started, DONE]})
    assert (await client.sandboxes.start()).id == "s1"
    error = await error_of(client.sandboxes.start())
    assert (error.kind, error.outcome) == (ErrorKind.SHAPE, Outcome.APPLIED)


class Machine:
    """A server with one sandbox; `failures` are lost answers, before or after the request was obeyed."""

    def __init__(self, status: str, *failures: tuple[bool, Answer | Exception], batch: bool = True) -> None:
        self.status = status
        self.failures = list(failures)
        self.batch = batch

    def __call__(self, asked: Asked) -> Answer | Exception:
        if asked.method == "GET":
            record = {"id": "s1", "status": self.status}
            if asked.path.endswith("/search"):
                return Answer({"items": [record]})
            return Answer([record]) if self.batch else NO_ROUTE
        obeys, answer = self.failures.pop(0) if self.failures else (True, DONE)
        if obeys:
            self.status = "PAUSED" if asked.path.endswith("pause") else "STARTING"
        return answer


async def ordered(client: Client, verb: str) -> Outcome | None:
    try:
        await (client.sandboxes.pause if verb == "pause" else client.sandboxes.resume)("s1")
    except ServiceError as error:
        return error.outcome
    return None


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize(("verb", "status"), [("pause", "RUNNING"), ("resume", "PAUSED")])
async def test_an_order_done_without_an_answer_is_a_success(lost: Lost, batch: bool, verb: str, status: str) -> None:
    client, server = client_of(Machine(status, (True, lost), batch=batch))
    assert (await ordered(client, verb), len(server.sent("POST"))) == (None, 1)


@pytest.mark.parametrize("lost", LOST)
async def test_a_pause_that_was_not_done_is_sent_once_more(lost: Answer | Exception) -> None:
    machine = Machine("STARTING", (False, lost))
    client, server = client_of(machine)
    assert (await ordered(client, "pause"), machine.status, len(server.sent("POST"))) == (None, "PAUSED", 2)
    client, server = client_of(Machine("RUNNING", *[(False, lost)] * 5))
    answered = isinstance(lost, Answer) and lost.status == 500
    assert await ordered(client, "pause") is (NOT_APPLIED if answered else UNKNOWN)
    assert len(server.sent("POST")) == 2


@pytest.mark.parametrize("status", ["ERROR", "MISSING", "SLEEPING"])
@pytest.mark.parametrize("verb", ["pause", "resume"])
async def test_a_reading_that_settles_nothing_leaves_it_unknown(status: str, verb: str) -> None:
    client, server = client_of(Machine(status, (False, LOST[0])))
    assert (await ordered(client, verb), len(server.sent("POST"))) == (UNKNOWN, 1)


async def test_not_found_on_a_pause_does_not_say_that_it_is_gone() -> None:
    client, _ = client_of({})
    error = await error_of(client.sandboxes.pause("s1"))
    assert (error.kind, error.outcome, "Read the list again" in error.advice) == (ErrorKind.MISSING, NOT_APPLIED, True)
    assert "could not do it" in error.words


async def test_a_call_that_takes_a_server_long_has_the_time_for_it() -> None:
    limits = Limits()
    client, server = client_of(lambda _: Answer({"id": "s1", "status": "STARTING"}))
    talks, boxes = client.conversations, client.sandboxes
    for call in (boxes.start(), boxes.delete("s1"), talks.create(NewConversation()), talks.delete("c1")):
        await call
    assert [asked.seconds for asked in server.asked] == [limits.slow] * 4
    assert limits.slow >= 60 > limits.total >= 30
    assert limits.per_second <= 5 > limits.kept
    assert limits.pages * limits.page >= 100_000
