"""Reading a list again: records whose text is what it was are the same objects, and nothing else is different."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.listing import ListReader, Reading
from quarterdeck.client.models.sandbox import Sandbox, read_sandbox
from quarterdeck.client.pieces import decode, visit_list

READER: ListReader[Sandbox] = ListReader(read_sandbox)
MEMBERS = st.one_of(
    st.builds(
        lambda number, status: {"id": f"s{number}", "status": status},
        st.integers(0, 6),
        st.sampled_from(["RUNNING", "PAUSED", "\ud800", 'a"],[{"']),
    ),
    st.sampled_from([None, 7, 75, "x", {"id": 5}, [], {"id": "s1", "status": "RUNNING", "other": {"items": [1, {}]}}]),
)
LISTS = st.lists(MEMBERS, max_size=8)
SHAPES = st.sampled_from([("", ""), ('{"total": [1], "items": ', ', "next_page_id": "2"}'), (' {"items" :\n', "\t} ")])


def body_of(members: list[Any], shape: tuple[str, str], *, indent: int | None = None) -> bytes:
    before, after = shape
    return f"{before}{json.dumps(members, indent=indent)}{after}".encode()


@given(LISTS, LISTS, SHAPES, st.sampled_from([None, 1]))
def test_a_list_read_after_another_one_is_what_it_is_by_itself(
    old: list[Any], new: list[Any], shape: tuple[str, str], indent: int | None
) -> None:
    body = body_of(new, shape, indent=indent)
    after = READER.read(body, before=READER.read(body_of(old, shape, indent=indent)))
    alone = READER.read(body)
    assert (after.page, after.records) == (alone.page, alone.records)


def sandboxes(*ids: str, **changed: str) -> bytes:
    return body_of([{"id": each, "status": changed.get(each, "RUNNING")} for each in ids], ('{"items":', "}"))


def kept(before: Reading[Sandbox], body: bytes) -> list[str]:
    """Ids of the records that are the same objects as before."""
    known = {id(record) for record in before.records}
    return [record.id for record in READER.read(body, before=before).page.items if id(record) in known]


@pytest.mark.parametrize(
    ("after", "same"),
    [
        (sandboxes("a", "b", "c", "d"), "abcd"),
        (sandboxes("a", "b", "c", "d", b="PAUSED"), "acd"),
        (sandboxes("new", "a", "b", "c"), "abc"),
        (sandboxes("a", "c", "d"), "ad"),
        (sandboxes("a", "new", "other", "b", "c", "d"), "abcd"),
        (sandboxes("c", "d", "a", "b"), "db"),
        (sandboxes(), ""),
    ],
)
def test_records_are_kept_across_what_came_went_and_changed_around_them(after: bytes, same: str) -> None:
    assert kept(READER.read(sandboxes("a", "b", "c", "d")), after) == list(same)


@pytest.mark.parametrize(
    "text",
    ["", "[", "[1", "[1,", "[1 2]", "[,]", "[1]x", "{}", '{"items": 5}', '{"items": []', '{"items": [],}', "{1: []}"],
)
def test_what_is_no_list_is_not_walked_through(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        visit_list(text, lambda whole, at: decode(whole, at)[1])
