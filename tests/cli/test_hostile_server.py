"""A server that answers nonsense: what can be shown is shown, and nothing of it acts on a terminal."""

import json
import tomllib
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.serving import at_an_address
from tests.client.fakes import NO_ROUTE, Answer

CONVERSATIONS = "/api/v1/app-conversations/search"
SANDBOXES = "/api/v1/sandboxes/search"
GOOD: dict[str, Any] = {"id": "g" * 32, "title": "good one", "sandbox_id": "s", "updated_at": "2026-03-14T10:00:00Z"}
DATES: list[Any] = ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+14:00", "2026-06-30T23:59:60Z", 1e300, -1, True]
DATES += ["2026-03-14T10:00:00", "2026-03-14T10:00:00+05:45", "yesterday", "١٢٣", None, {"a": 1}]
NUMBERS: list[Any] = [-5, 10**400, 1.5, "12", "lots", None, [], True]
TITLES: list[Any] = [
    "two\nlines\tand a tab",
    "x" * 10_000,
    "",
    "   ",
    "\x1b[2J\x9b5n\u202eabc\u2028",
    "\ud83d",
    None,
    7,
]


def answering(path: str, answer: Any) -> AbstractContextManager[str]:
    """A server that has one path, a list or something else; gives its address."""
    known = {"items": answer, "next_page_id": None} if isinstance(answer, list) else answer
    return at_an_address(lambda asked: Answer(known) if asked.path == path else NO_ROUTE)


ODD = [{**GOOD, "created_at": date, "updated_at": date} for date in DATES]
ODD += [{**GOOD, "metrics": {"accumulated_cost": number, "accumulated_token_usage": number}} for number in NUMBERS]
ODD += [{**GOOD, "title": title, "selected_repository": title} for title in TITLES]


def test_conversations_with_odd_members_keep_no_other_from_being_listed(run: Run) -> None:
    records = [{**odd, "id": f"{number:032}"} for number, odd in enumerate(ODD)]
    with answering(CONVERSATIONS, [*records, GOOD]) as url:
        listed = run("--url", url, "conversations", "list", status=1)
        told = run("--url", url, "conversations", "list", "--json", status=1).json
    unread = len(records) + 1 - len(told)
    assert 0 < unread < 10
    assert listed.err == f"quarterdeck: {unread} of {len(records) + 1} records could not be read.\n"
    assert GOOD["id"] in {record["id"] for record in told}
    assert "good one" in listed.out
    assert len(listed.out.splitlines()) == 1 + len(told)
    assert all(line.isprintable() for line in listed.out.splitlines())


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_export_acts_on_no_terminal_and_says_what_is_stored(run: Run, more: tuple[str, ...]) -> None:
    name = "J\u00fcrgen \u202e001\u202c \x9b5n \x1b[2J\x7f\U000e0041"
    with answering("/api/settings", {"llm_model": "a-model", "git_user_name": name}) as url:
        ended = run("--url", url, "settings", "export", *more)
    assert all(line.isprintable() for line in ended.out.splitlines())
    read = json.loads(ended.out) if more else tomllib.loads(ended.out)
    assert read["settings"]["git_user_name"] == name


def test_members_that_are_missing_or_null_leave_a_row(run: Run) -> None:
    bare = {"id": "b1", "status": "PAUSED"}
    null: dict[str, Any] = {"id": "b2", "status": "PAUSED"}
    null |= dict.fromkeys(("created_at", "sandbox_spec_id", "exposed_urls", "session_api_key", "created_by_user_id"))
    with answering(SANDBOXES, [bare, null, {"id": "b3"}, {}]) as url:
        listed = run("--url", url, "sandboxes", "list", status=1)
    assert [line.split()[0] for line in listed.out.splitlines()] == ["ID", "b1", "b2"]
    assert "could not be read" in listed.err
