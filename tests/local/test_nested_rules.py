"""What holds for any nested settings, checked with made-up ones."""

from collections.abc import Iterator
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from quarterdeck.local.secrets import is_mask, unless_blank
from tests.servers.nested.record import NestedRecord, load_response, merge, patched

Record = dict[str, Any]
text = st.text(st.characters(codec="utf-8"), max_size=12).filter(lambda one: one.strip() and not is_mask(one))
json = st.none() | st.booleans() | st.integers() | text
trees = st.recursive(json, lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3), max_leaves=8)
objects = st.dictionaries(st.sampled_from("abcd"), trees, max_size=4)

llm = st.fixed_dictionaries(
    {},
    optional={
        "model": text,
        "api_key": st.none() | text,
        "aws_secret_access_key": st.none() | text,
        "temperature": st.none() | st.floats(0, 2),
        "num_retries": st.none() | st.integers(0, 9),
        "extra_headers": st.none() | st.dictionaries(st.sampled_from("XY"), text),
        "reasoning_effort": st.none() | st.sampled_from(["low", "high", "none"]),
    },
)
servers = st.fixed_dictionaries(
    {}, optional={"url": text, "command": text, "env": st.dictionaries(text, text, max_size=2), "auth": text}
)
agents = st.fixed_dictionaries(
    {},
    optional={
        "agent": st.none() | text,
        "llm": st.none() | llm,
        "condenser": st.fixed_dictionaries({}, optional={"enabled": st.booleans(), "max_size": st.integers(20)}),
        "mcp_config": st.none() | st.dictionaries(st.sampled_from(["one", "two"]), servers, max_size=2),
    },
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "language": st.none() | text,
        "enable_sound_notifications": st.booleans(),
        "max_budget_per_task": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "search_api_key": st.none() | text,
        "agent_settings_diff": agents,
        "conversation_settings_diff": st.fixed_dictionaries({}, optional={"max_iterations": st.integers(1)}),
    },
)


def leaves(record: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What a record holds below its objects, by place; an empty object is a leaf."""
    if isinstance(record, dict) and record:
        for name, value in record.items():
            yield from leaves(value, (*place, name))
    else:
        yield place, record


def touched(place: tuple[str, ...], diff: Any) -> bool:
    """Whether a difference says anything of a place."""
    for member in place:
        if not isinstance(diff, dict):
            return True
        if member not in diff:
            return False
        diff = diff[member]
    return True


@given(objects, objects)
def test_a_merge_has_every_leaf_of_the_difference(stored: Record, diff: Record) -> None:
    merged = dict(leaves(merge(stored, diff)))
    for place, value in leaves(diff):
        if value != {}:
            assert merged[place] == value


@given(objects, objects)
def test_a_merge_changes_no_leaf_that_the_difference_does_not_name(stored: Record, diff: Record) -> None:
    merged = dict(leaves(merge(stored, diff)))
    for place, value in leaves(stored):
        if not touched(place, diff):
            assert merged[place] == value


@given(objects, objects)
def test_merging_twice_is_merging_once(stored: Record, diff: Record) -> None:
    once = merge(stored, diff)
    assert merge(once, diff) == once


@given(bodies, bodies)
def test_a_store_changes_no_leaf_that_the_body_does_not_name(first: Record, second: Record) -> None:
    before = patched(None, first)
    after = dict(leaves(patched(before, second)))
    diff = {name.removesuffix("_diff"): value for name, value in second.items()}
    for place, value in leaves(before):
        if not touched(place, diff) and place[:2] != ("agent_settings", "mcp_config"):
            assert after[place] == value, place


@given(bodies, bodies)
def test_storing_twice_is_storing_once(first: Record, second: Record) -> None:
    once = patched(patched(None, first), second)
    assert patched(once, second) == once


@given(bodies)
@example({"search_api_key": "\r"})
def test_what_was_stored_is_read_as_it_was_stored_but_a_blank_key_as_none(body: Record) -> None:
    stored = patched(None, body)
    assert NestedRecord.model_validate(stored).stored() == stored | {
        "search_api_key": unless_blank(stored["search_api_key"])
    }


@given(bodies)
@example({"search_api_key": "\r"})
@example({"agent_settings_diff": {"llm": {"api_key": "\r"}}})
def test_a_load_tells_no_secret_but_whether_it_is_set(body: Record) -> None:
    stored = patched(None, body)
    loaded = load_response(NestedRecord.model_validate(stored), None)
    sent = (body.get("agent_settings_diff", {}).get("llm") or {}).get("api_key")
    assert loaded["llm_api_key_set"] == bool((sent or "").strip())
    assert loaded["search_api_key_set"] == bool((body.get("search_api_key") or "").strip())
    llm_told = loaded["agent_settings"]["llm"]
    assert [llm_told["api_key"], llm_told["aws_secret_access_key"], loaded["search_api_key"]] == [None] * 3
    for server in loaded["agent_settings"]["mcp_config"].values():
        assert server.keys() <= {"url", "command", "auth"}
        assert server.get("auth", {"strategy": "bearer"}) == {"strategy": "bearer"}
