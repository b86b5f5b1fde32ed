import logging
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, FieldProblem, Outcome, ServiceError
from quarterdeck.client.models.conversation import NewConversation
from quarterdeck.client.redact import scrub
from tests.client.fakes import KEY, Answer, client_of, error_of, first_page

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
        assert (error.kind, error.status, error.request) == (kind, status, SEARCH)
        for each in (error, await failing(Answer({"detail": "No"}, status))):
            assert str(status) in each.words
            assert each.words[-1] == each.advice[-1] == "."


AT_ONE_PLACE = {"loc": ["body", "a", 0], "msg": "Value error, bad"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "one", "error": "two"}, "one"),
        ({"detail": [AT_ONE_PLACE, {"loc": [], "msg": "worse"}]}, "a.0: bad; worse"),
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


async def test_reads_and_writes_that_are_refused_have_words_of_their_own() -> None:
    answer = Answer({"detail": "No."}, 418)
    read, write = await failing_read(answer), await failing(answer)
    assert ("does not answer this (status 418): No." in read.words, "Read again" in read.advice) == (True, True)
    assert ("refuses this (status 418): No." in write.words, "Correct it" in write.advice) == (True, True)
    assert "too large (status 413): No." in (await failing_read(Answer({"detail": "No."}, 413))).words


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


async def test_a_web_page_is_not_taken_for_an_answer_to_a_write() -> None:
    error = await failing(Answer(b"<!doctype html><title>Sign in</title>", 200, {"Content-Type": "text/html"}))
    assert (error.kind, "<" in error.words) == (ErrorKind.WRONG_API, False)


@pytest.mark.parametrize(("header", "wait"), [("2", 2.0), ("soon", None), ("-1", None), ("inf", None)])
async def test_too_many_requests_say_how_long_to_wait(header: str, wait: float | None) -> None:
    error = await failing(Answer({"message": "Too many requests"}, 429, {"Retry-After": header}))
    assert (error.kind, error.retry_after) == (ErrorKind.RATE, wait)
    assert error.advice == ("Try again in 2 s." if wait else "Try again in a moment.")


def test_of_secrets_the_longest_goes_first_and_what_is_too_short_to_tell_stays() -> None:
    assert scrub("key abcdef-1 and abcdef in a key", ("a", "key", "abcdef", "abcdef-1")) == "key … and … in a key"


async def test_a_read_only_connection_reads_and_sends_nothing_else() -> None:
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


async def test_a_request_after_the_client_was_closed_is_an_error_like_others() -> None:
    client, server = client_of({})
    await client.aclose()
    error = await error_of(first_page(client))
    assert (error.outcome, error.words, server.asked) == (Outcome.NOT_SENT, "This connection was closed.", [])


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
            told += f"{error!r} {error.words} {error.advice} {error.request} {list(client.log)}"
            told += repr(vars(client)) + repr(vars(client.settings))
    assert "sentinel" not in caplog.text + told
    read, *_, wrote = client.log
    assert (read.method, read.path, read.status, read.error) == ("GET", PATH, 200, None)
    assert (wrote.method, wrote.path, wrote.status, wrote.error) == ("POST", "/api/settings", 500, ErrorKind.SERVER)
