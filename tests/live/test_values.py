"""The live tests leave no field out, and read their servers from the environment."""

import pytest

from quarterdeck.settings.catalogue import BY_KEY, CATALOGUE
from tests.live.targets import targets_in
from tests.live.values import VALUES


def test_every_field_of_the_catalogue_is_tried_on_real_servers() -> None:
    assert {entry.key for entry in CATALOGUE} - VALUES.keys() == {"mcp_config", "secrets_store"}


@pytest.mark.parametrize("name", sorted(VALUES.keys() & BY_KEY.keys()))
def test_the_deck_lets_each_tried_value_be_saved(name: str) -> None:
    problems = [check(value) for value in VALUES[name] for check in BY_KEY[name].checks]
    assert [problem for problem in problems if problem and problem.stops] == []


def test_servers_and_their_keys_are_read_from_the_environment() -> None:
    for environment, servers in (
        ({"QUARTERDECK_LIVE_URLS": "http://a:1 k1\nhttps://b:2\n"}, [("http://a:1", "k1"), ("https://b:2", None)]),
        (
            {"QUARTERDECK_LIVE_URLS": " http://a:1  k1 , https://b:2", "QUARTERDECK_LIVE_URL": "http://c:3"},
            [("http://a:1", "k1"), ("https://b:2", None)],
        ),
        ({"QUARTERDECK_LIVE_URL": "http://a:1", "QUARTERDECK_LIVE_KEY": "k1"}, [("http://a:1", "k1")]),
        ({"QUARTERDECK_LIVE_KEY": "k1"}, []),
    ):
        found = targets_in(environment)
        assert [(each.url, each.key.get_secret_value() if each.key else None) for each in found] == servers


@pytest.mark.parametrize("pairs", ["a:1 k1", "http://a:1 k1 http://b:2", "k1 http://a:1"])
def test_a_pair_that_makes_no_sense_is_refused_without_repeating_the_key(pairs: str) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        targets_in({"QUARTERDECK_LIVE_URLS": pairs})
    assert "k1" not in str(caught.value)
