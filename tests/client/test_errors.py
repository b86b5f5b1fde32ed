import logging
from collections.abc import Awaitable
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, FieldProblem, Outcome, ServiceError
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.client.redact import scrub
from tests.client.fakes import KEY, NO_ROUTE, Answer, Asked, client_of, error_of, first_page

PATH = "/api/v1/sandboxes/search"
SEARCH, STORE = f"GET {PATH}", "POST /api/settings"


async def failing(answer: Answer | Exception, changes: dict[str, Any] | None = None) -> ServiceError:
    client, _ = client_of({STORE: [answer]})
    return await error_of(client.settings.store(None, changes or {"language": "fr"}))


async def failing_read(answer: Answer | Exception) -> ServiceError:
    return await error_of(first_page(client_of({SEARCH: [answer]})[0]))


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        (ErrorKind.INVALID, (400, 402, 408, 413, 418, 422)),
        (ErrorKind.AUTH, (401,)),
        (ErrorKind.DENIED, (403,)),
        (ErrorKind.WRONG_API, (404, 405, 410)),
        (ErrorKind.CONFLICT, (409, 412)),
        (ErrorKind.REDIRECTED, (300, 304)),
        (ErrorKind.SERVER, (500, 503, 599)),
    ],
)
async def test_every_status_has_a_kind_words_and_advice(kind: ErrorKind, statuses: tuple[int, ...]) -> None:
    for status in statuses:
        error = await failing_read(Answer({"detail": "Not Found"}, status))
        assert (error.kind, error.status) == (kind, status)
        for each in (error, await failing(Answer({"detail": "No"}, status))):
            assert str(status) in each.words
            assert each.words[-1] == each.advice[-1] == "."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "one", "error": "two"}, "one"),
        ({"detail": [{"loc": ["body", "a", 0], "msg": "Value error, bad"}, {"loc": [], "msg": "x"}]}, "a.0: bad; x"),
        ({"error": "two", "message": "three"}, "two"),
        ({"message": "three"}, "three"),
        ("four", "four"),
        (b"five\nsix", "five"),
        ({"detail": {"a": 1}}, ""),
        (b"<html><body>gateway</body></html>", ""),
        ("<html><body>gateway</body></html>".encode("utf-8-sig"), ""),
        ("six\nseven".encode("utf-16"), "six"),
        (b"x" * 5_000, "x" * 200),
    ],
)
async def test_the_servers_own_words_are_found_and_kept_short(body: Any, said: str) -> None:
    told = f": {said}." if said else "."
    assert (await failing(Answer(body, 400))).words == f"The server refuses this (status 400){told}"


async def test_reads_and_writes_that_are_refused_or_answered_by_a_page_have_words_of_their_own() -> None:
    answer = Answer({"detail": "No."}, 418)
    read, write = await failing_read(answer), await failing(answer)
    assert ("does not answer this (status 418): No." in read.words, "Read again" in read.advice) == (True, True)
    assert ("refuses this (status 418): No." in write.words, "Correct it" in write.advice) == (True, True)
    assert "too large (status 413): No." in (await failing_read(Answer({"detail": "No."}, 413))).words
    error = await failing(Answer(b"<!doctype html><title>Sign in</title>", 200, {"Content-Type": "text/html"}))
    assert (error.kind, "<" in error.words) == (ErrorKind.WRONG_API, False)


async def test_complaints_about_fields_are_told_by_place_and_what_was_sent_is_not_repeated() -> None:
    at = ("mcp_config", "sse_servers", 0, "url")
    bad = {"loc": ["body", *at], "msg": "Value error, bad", "input": {"api_key": "sentinel"}}
    large = {"loc": ["query", "limit"], "msg": "too large", "input": "101"}
    error = await failing(Answer({"detail": [bad, large, {"loc": 5, "msg": 6}, "nonsense"]}, 422))
    assert error.problems == (FieldProblem(at, "bad"), FieldProblem(("query", "limit"), "too large"))
    assert "sentinel" not in repr(error) + error.words


@pytest.mark.parametrize("status", [400, 409, 422, 500])
async def test_secrets_a_server_repeats_are_taken_out_of_its_words(status: int) -> None:
    said = f"cannot take sentinel-secret with {KEY} at https://a/?t=sentinel-url"
    for body in (
        {"detail": said},
        {"detail": [{"loc": ["body", "x"], "msg": said}]},
        {"error": said},
        *map(said.encode, ("utf-8", "utf-16")),
    ):
        changes = {"llm_api_key": SecretStr("sentinel-secret"), "llm_base_url": "https://a/?t=sentinel-url"}
        error = await failing(Answer(body, status), changes)
        assert "sentinel" not in f"{error!r} {error.words} {error.problems}"
        assert "cannot take" in error.words


@pytest.mark.parametrize(("header", "wait"), [("2", 2.0), ("soon", None), ("-1", None), ("inf", None)])
async def test_too_many_requests_say_how_long_to_wait(header: str, wait: float | None) -> None:
    error = await failing(Answer({"message": "Too many requests"}, 429, {"Retry-After": header}))
    assert (error.kind, error.retry_after) == (ErrorKind.RATE, wait)
    assert error.advice == ("Try again in 2 s." if wait else "Try again in a moment.")


def test_of_secrets_the_longest_goes_first_and_what_is_too_short_to_tell_stays() -> None:
    assert scrub("key abcdef-1 and abcdef in a key", ("a", "key", "abcdef", "abcdef-1")) == "key … and … in a key"


async def test_a_read_only_connection_reads_and_sends_nothing_else_and_a_closed_one_nothing() -> None:
    client, server = client_of({SEARCH: [Answer({"items": []})]}, read_only=True)
    for write in (
        client.settings.store(None, {"language": "fr"}),
        client.conversations.create(NewConversation()),
        client.conversations.delete("c1"),
        client.sandboxes.start("img"),
        client.sandboxes.pause("s1"),
        client.sandboxes.resume("s1"),
        client.sandboxes.delete("s1"),
    ):
        error = await error_of(write)
        assert (error.kind, error.outcome) == (ErrorKind.READ_ONLY, Outcome.NOT_SENT)
    assert server.asked == []
    assert await first_page(client) == ()
    assert client.settings.preview(None, {"language": "fr"}).request.method == "POST"
    await client.aclose()
    error = await error_of(first_page(client))
    assert (error.outcome, error.words, len(server.asked)) == (Outcome.NOT_SENT, "This connection was closed.", 1)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "trailing\n", " leading", "schlüssel", "tab\t", "nul\0"])
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ServiceError) as caught:
        Client("http://server.test", SecretStr(key))
    assert caught.value.kind is ErrorKind.LOCAL
    assert key.strip() not in f"{caught.value!r} {caught.value.words} {caught.value.advice}"


async def test_no_secret_is_in_any_log_or_error_and_the_log_names_requests(caplog: pytest.LogCaptureFixture) -> None:
    secret, told = "sentinel-secret", ""
    with caplog.at_level(logging.DEBUG):
        for answer in (httpx.ReadError(KEY), httpx.LocalProtocolError(KEY), Answer({"detail": KEY + secret}, 500)):
            client, _ = client_of({STORE: [answer], SEARCH: [Answer({"items": []})]})
            await first_page(client)
            await client.probe("https://sentinel-user:word@tools.test/mcp?token=sentinel-token")
            error = await error_of(client.settings.store(None, {"llm_api_key": SecretStr(secret)}))
            told += f"{error!r} {error.words} {error.advice} {list(client.log)}"
            told += repr(vars(client)) + repr(vars(client.settings))
    assert "sentinel" not in caplog.text + told
    read, *_, wrote = client.log
    assert (read.method, read.path, read.status, read.error) == ("GET", PATH, 200, None)
    assert (wrote.method, wrote.path, wrote.status, wrote.error) == ("POST", "/api/settings", 500, ErrorKind.SERVER)


AT_ONCE, BEYOND_CLOCKS = {"Retry-After": "0"}, "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"
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
async def test_resends_follow_the_table(fault: Lost, reads: int, watched: int, starts: int, outcome: Outcome) -> None:
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
        self.status, self.failures = status, list(failures)
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
