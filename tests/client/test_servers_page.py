"""What real servers do (client/SERVERS.md): the tests that hold against it."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.limits import Limits
from quarterdeck.client.models.base import moment
from tests.client.fakes import Answer, client_of
from tests.client.recorded import exchange, replaying

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "src" / "quarterdeck" / "client" / "SERVERS.md"
ROWS = TESTS / "servers.md"
TOLD_ONLY = frozenset({"An address of a sandbox", "Filters"})
"""Headings that say only where something is found."""


def test_each_heading_of_the_page_has_its_tests() -> None:
    headings = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.M)
    rows = re.findall(r"^\| (.*?) \| tests/", ROWS.read_text(encoding="utf-8"), re.M)
    assert [heading for heading in headings if heading not in TOLD_ONLY] == rows


async def test_a_list_that_answers_without_a_key_proves_nothing_about_the_key() -> None:
    absent, unauthorized = Answer({"detail": "Not Found"}, 404), Answer({"detail": "Unauthorized"}, 401)
    client, _ = client_of(
        {
            "GET /api/v1/settings": [absent],
            "GET /api/settings": [unauthorized],
            "GET /api/v1/sandboxes/search": [Answer({"items": []})],
        }
    )
    assert [page.items async for page in client.sandboxes.pages()] == [()]
    assert (await client.describe()).key == "refused"


@pytest.mark.parametrize(
    "text", ["2026-11-20T15:00:00", "2026-11-20T15:00:00Z", "2026-11-20T15:00:00+00:00", "2026-11-20T16:00:00+01:00"]
)
def test_a_time_without_a_zone_means_utc(text: str) -> None:
    assert moment(text) == datetime(2026, 11, 20, 15, tzinfo=UTC)


async def test_deleting_a_conversation_leaves_its_sandbox_alone() -> None:
    for name in ("conv-delete", "conv-delete-shared-sandbox"):
        one = exchange("1.11.0", name)
        client, server = replaying(one)
        await client.conversations.delete(one.part(1))
        assert [(asked.method, asked.path) for asked in server.asked] == [("DELETE", one.path)]


def test_a_call_that_takes_a_server_long_has_the_time_for_it() -> None:
    limits = Limits()
    assert limits.slow >= 60 > limits.total >= 30


async def test_not_found_on_a_pause_does_not_say_that_it_is_gone() -> None:
    client, _ = client_of({})
    with pytest.raises(ServiceError) as caught:
        await client.sandboxes.pause("s1")
    assert (caught.value.kind, caught.value.outcome) == (ErrorKind.MISSING, Outcome.NOT_APPLIED)
    assert "could not do it" in caught.value.words
    assert "Read the list again" in caught.value.advice
