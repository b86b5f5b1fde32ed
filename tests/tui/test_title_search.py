"""While a long list is being read, the server is asked for titles that are not here yet."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from quarterdeck.fleet.conversations import DECK_GRAMMAR
from quarterdeck.fleet.filters import parse
from quarterdeck.tui.lists.conversation_commands import title_words
from tests.client.fakes import UNSTORED, Answer, Asked, FakeServer
from tests.tui.fake_fleet import CONVERSATIONS, PROD
from tests.tui.seat import WIDE, Seat, answering, seated

OLD = {"id": "old", "title": "Port the old parser"}


@asynccontextmanager
async def at_long_list(answer: Answer) -> AsyncIterator[tuple[Seat, FakeServer]]:
    def script(asked: Asked) -> Answer:
        if asked.path == f"{CONVERSATIONS}/count":
            return Answer(340)
        if asked.path != f"{CONVERSATIONS}/search":
            return UNSTORED
        if "title__contains" in dict(asked.query):
            return answer
        if asked.page_id is None:
            return Answer({"items": [{"id": "new", "title": "Fix login"}], "next_page_id": "2"})
        return Answer({"detail": "Too many"}, 429, {"Retry-After": "60"})

    server = FakeServer(script)
    async with seated(answering(server), PROD, size=WIDE) as seat:
        await seat.sees("1 of 340 read")
        yield seat, server


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            Answer({"items": [OLD], "next_page_id": None}),
            ("titles for the word “parser” and found 1 more.", "2 of 340 read", "Port the old parser"),
        ),
        (
            Answer({"items": [OLD], "next_page_id": "2"}),
            ("found many; the newest were read, 1 of them new here", "2 of 340 read", "Port the old parser"),
        ),
        (
            Answer({"items": [], "next_page_id": None}),
            ("and found no more.", "1 of 340 read"),
        ),
        (Answer({"detail": "It broke"}, 500), ("The server failed with 500: It broke.",)),
    ],
)
async def test_a_long_list_says_how_much_is_read_and_what_the_server_found_of_the_rest(
    answer: Answer, words: Sequence[str]
) -> None:
    async with at_long_list(answer) as (seat, server):
        await seat.press("slash", *"parser")
        await seat.until(lambda: any(("title__contains", "parser") in each.query for each in server.asked))
        await seat.sees(*words)
        assert "so far" not in seat.text, "it is said above, where it is renewed"


@pytest.mark.parametrize(
    ("typed", "asked"), [("fix parser", "parser"), ("!parser", ""), ("state:ready", ""), ("x", ""), ("unseen", "")]
)
def test_only_a_word_that_a_title_may_have_is_asked_for(typed: str, asked: str) -> None:
    assert title_words(parse(typed, DECK_GRAMMAR)) == asked
