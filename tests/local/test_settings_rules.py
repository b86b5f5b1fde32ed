"""What holds for any settings, checked with made-up ones."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.enums import is_mask
from quarterdeck.local.bodies import SettingsBody
from quarterdeck.local.settings import load_response, merge

SECRETS = ("llm_api_key", "search_api_key", "sandbox_api_key")
plain_text = st.text(st.characters(codec="utf-8"), max_size=20)
secret = plain_text.filter(lambda text: text.strip() and not is_mask(text))
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
def test_merging_changes_only_what_was_sent_and_loses_a_secret_only_by_clearing_it(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    before = merge(None, sent(first))
    after = merge(before, sent(second))
    for name, value in before.items():
        if name in SECRETS:
            assert after[name] == (second.get(name) or value)
        elif name not in second:
            assert after[name] == value
    assert merge(after, sent(second)) == after


@given(bodies)
def test_a_load_tells_no_secret_and_changes_nothing_when_it_is_sent_back(body: dict[str, Any]) -> None:
    record = merge(None, sent(body))
    loaded = load_response(record)
    assert [loaded[name] for name in SECRETS] == [None] * 3
    assert loaded["llm_api_key_set"] == bool(body.get("llm_api_key"))
    assert loaded["search_api_key_set"] == bool(body.get("search_api_key"))
    assert merge(record, sent(loaded)) == record
