"""What holds for any settings, checked with made-up ones."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.settings import load_response, masked_secrets, merge

SECRETS = ("llm_api_key", "search_api_key", "sandbox_api_key")
plain_text = st.text(st.characters(codec="utf-8"), max_size=20)
secret = plain_text.filter(lambda text: text.strip() and not set(text.strip()) <= set("*•●∗⁎＊"))
servers = st.fixed_dictionaries(
    {"url": st.just("https://a.example")},
    optional={"api_key": secret, "headers": st.dictionaries(plain_text, plain_text)},
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(SECRETS, st.none() | secret),
        "language": st.none() | plain_text,
        "max_iterations": st.none() | st.integers(),
        "max_budget_per_task": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "enable_sound_notifications": st.booleans(),
        "llm_model": st.none() | plain_text,
        "mcp_config": st.none() | st.fixed_dictionaries({}, optional={"sse_servers": st.lists(servers, max_size=3)}),
        "unheard_of": st.dictionaries(plain_text, st.integers() | plain_text),
    },
)


def sent(body: dict[str, Any]) -> dict[str, Any]:
    return SettingsBody.model_validate(body).sent()


@given(bodies, bodies)
def test_merging_changes_only_what_was_sent(first: dict[str, Any], second: dict[str, Any]) -> None:
    before = merge(None, sent(first))
    after = merge(before, sent(second))
    assert {name: after[name] for name in before if name not in second} == {
        name: before[name] for name in before if name not in second
    }


@given(bodies, bodies)
def test_merging_twice_is_merging_once(first: dict[str, Any], second: dict[str, Any]) -> None:
    once = merge(merge(None, sent(first)), sent(second))
    assert merge(once, sent(second)) == once


@given(bodies)
def test_a_loaded_record_sent_back_changes_nothing(body: dict[str, Any]) -> None:
    record = merge(None, sent(body))
    assert merge(record, sent(load_response(record))) == record


@given(bodies, bodies)
def test_a_secret_is_lost_only_by_clearing_it(first: dict[str, Any], second: dict[str, Any]) -> None:
    before = merge(None, sent(first))
    after = merge(before, sent(second))
    for name in SECRETS:
        assert after[name] == (second.get(name) or before[name])


@given(bodies)
def test_a_load_tells_no_secret_but_whether_it_is_set(body: dict[str, Any]) -> None:
    loaded = load_response(merge(None, sent(body)))
    assert [loaded[name] for name in SECRETS] == [None] * 3
    assert loaded["llm_api_key_set"] == bool(body.get("llm_api_key"))
    assert loaded["search_api_key_set"] == bool(body.get("search_api_key"))


@given(st.text("*•●＊", min_size=1, max_size=12), st.sampled_from(SECRETS))
def test_every_mask_is_seen(mask: str, name: str) -> None:
    assert [*masked_secrets(SettingsBody.model_validate({name: mask}))] == [(name,)]


@given(bodies)
def test_no_secret_is_taken_for_a_mask(body: dict[str, Any]) -> None:
    assert not [*masked_secrets(SettingsBody.model_validate(body))]
