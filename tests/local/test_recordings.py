"""Exchanges recorded with real servers, asked of the service as that generation: what it answers has the same shape."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.client.recorded import FLAT, FOLDER, NESTED, Exchange, exchange
from tests.local.conftest import Caller, Json, Opener

ASKED = {
    "settings": (NESTED, "10 19 21 23-27 30 31 55 56 79 81 86-106 110-112 115-117 120 121 123 124 113 114"),
    "unreadable settings": (NESTED, "108 70 71 73 74"),
    "profiles": (NESTED, "30 125-127 130 131 134-140 142 143"),
    "secrets": (NESTED, "144 145 147-150 153 154 160-167 169-171 173"),
    "flat secrets": (FLAT, "83 86-102 105 106 108-111"),
}
"""Exchanges by the numbers that their files begin with, in the order in which they are asked."""
TOLD_WHOLE = {FLAT: "92 95 110 111", NESTED: "154"}
"""Answers that are the same word by word."""


def numbered(release: str, numbers: str) -> Iterator[tuple[str, Exchange]]:
    for span in numbers.split():
        first, _, last = span.partition("-")
        for number in range(int(first), int(last or first) + 1):
            (file,) = (FOLDER / release).glob(f"{number}-*.json")
            name = file.stem.partition("-")[2]
            yield name, exchange(release, name)


async def asked(caller: Caller, one: Exchange) -> httpx.Response:
    content = one.body if isinstance(one.body, str) else None if one.body is None else json.dumps(one.body)
    headers = {"Content-Type": "application/json"} if content else {}
    return await caller.http.request(one.method, one.path, params=dict(one.query), content=content, headers=headers)


def shape(body: Json, depth: int = 2) -> Json:
    """The kinds of the members of a body by name, and of their members."""
    if isinstance(body, dict):
        return {name: shape(value, depth - 1) for name, value in body.items()} if depth else "object"
    if isinstance(body, list):
        return [shape(body[0], depth)] if body and depth else "list"
    return "text" if isinstance(body, str) else "other"


def told(body: Json) -> Json:
    """The part of a body that both servers have to tell alike: member names, and where something is wrong."""
    if isinstance(body, dict) and isinstance(body.get("detail"), list):
        return [(problem["type"], problem["loc"]) for problem in body["detail"]]
    return shape(body)


@pytest.mark.parametrize(("release", "numbers"), ASKED.values(), ids=ASKED)
async def test_it_answers_in_the_shape_of_a_real_server(open_service: Opener, release: str, numbers: str) -> None:
    caller = await open_service(store="nested" if release == NESTED else "replace")
    whole = {name for name, _ in numbered(release, TOLD_WHOLE[release])}
    for name, one in numbered(release, numbers):
        answer, kind = await asked(caller, one), one.answer.headers["content-type"].split(";")[0]
        assert answer.status_code == one.answer.status, (name, answer.text)
        assert answer.headers["Content-Type"].split(";")[0] == kind, name
        if kind == "text/plain":
            assert answer.content == one.answer.body, name
        elif name in whole:
            assert answer.json() == one.answer.body, name
        else:
            assert told(answer.json()) == told(one.answer.body), name


async def test_a_loaded_record_has_the_members_and_values_of_a_recorded_one(open_service: Opener) -> None:
    caller = await open_service(store="nested")
    for store, load in [("post-empty-object", "get-after-empty-object"), ("post-full", "get-full")]:
        await asked(caller, exchange(NESTED, f"settings-{store}"))
        expected = json.loads(exchange(NESTED, f"settings-{load}").answer.content)
        record = await caller.get("/api/v1/settings")
        for block in (record, expected):
            block["agent_settings"].pop("agent_context")
        assert record["agent_settings"].pop("llm").items() <= expected["agent_settings"].pop("llm").items()
        assert record == expected
