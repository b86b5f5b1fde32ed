"""What is sent again, as the server sees it: reads, those of the watch, and writes that cannot be read back."""

from contextlib import suppress

import httpx
import pytest

from quarterdeck.client.errors import ServiceError
from tests.client.fakes import Answer, client_of

AT_ONCE = {"Retry-After": "0"}


@pytest.mark.parametrize(
    ("fault", "reads", "watched", "starts"),
    [
        (httpx.ConnectError(""), 3, 1, 2),
        (httpx.ConnectTimeout(""), 1, 1, 2),
        (httpx.PoolTimeout(""), 1, 1, 2),
        (httpx.ReadTimeout(""), 3, 3, 1),
        (httpx.ReadError(""), 3, 3, 1),
        *((Answer({"detail": "no"}, status), 1, 1, 1) for status in (400, 401, 403, 404, 409, 410, 422, 501, 599)),
        *((Answer(b"<h1>gateway</h1>", status), 3, 3, 1) for status in (500, 502, 503, 504)),
        (Answer(status=503, headers=AT_ONCE), 3, 3, 1),
        (Answer(status=429, headers=AT_ONCE), 3, 3, 1),
        (Answer(status=429, headers={"Retry-After": "30.5"}), 1, 1, 1),
        (Answer(status=429, headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}), 1, 1, 1),
        (Answer(status=503, headers={"Retry-After": "Fri, 20 Nov 2020 15:00:10 GMT"}), 3, 3, 1),
    ],
)
async def test_only_what_the_table_allows_is_sent_again(
    fault: Answer | Exception, reads: int, watched: int, starts: int
) -> None:
    client, server = client_of(lambda _: fault)
    asked = []
    for attempt in (
        anext(aiter(client.sandboxes.pages())),
        anext(aiter(client.sandboxes.pages(background=True))),
        client.sandboxes.start(),
    ):
        server.asked.clear()
        with suppress(ServiceError):
            await attempt
        asked.append(len(server.asked))
    assert asked == [reads, watched, starts]


@pytest.mark.parametrize("header", ["Date", "Retry-After"])
async def test_a_date_that_no_clock_can_show_is_ignored(header: str) -> None:
    beyond = {header: "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"}
    client, _ = client_of(lambda _: Answer({"items": []}, headers=beyond))
    assert (await anext(aiter(client.sandboxes.pages()))).items == ()
    client, server = client_of(lambda _: Answer(status=503, headers=beyond))
    with pytest.raises(ServiceError):
        await anext(aiter(client.sandboxes.pages()))
    assert len(server.asked) == 3
