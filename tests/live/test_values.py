"""The live tests leave no field out, and read their servers from the environment."""

import pytest

from quarterdeck.settings.catalogue import BY_KEY, CATALOGUE
from quarterdeck.settings.fields import Severity
from tests.live.targets import Target, targets_in
from tests.live.values import VALUES


def test_every_field_of_the_catalogue_is_tried_on_real_servers() -> None:
    assert {entry.key for entry in CATALOGUE} - VALUES.keys() == {"mcp_config", "secrets_store"}


@pytest.mark.parametrize("name", sorted(VALUES.keys() & BY_KEY.keys()))
def test_the_deck_lets_each_tried_value_be_saved(name: str) -> None:
    findings = [check(value) for value in VALUES[name] for check in BY_KEY[name].checks]
    assert [finding for finding in findings if finding and finding.severity is Severity.ERROR] == []


def named(servers: tuple[Target, ...]) -> list[tuple[str, str | None]]:
    return [(server.url, server.key.get_secret_value() if server.key else None) for server in servers]


@pytest.mark.parametrize(
    "pairs", ["http://a:1 k1\nhttps://b:2\n", " http://a:1  k1 , https://b:2", "http://a:1 k1,https://b:2"]
)
def test_several_servers_stand_in_lines_or_between_commas(pairs: str) -> None:
    found = targets_in({"QUARTERDECK_LIVE_URLS": pairs, "QUARTERDECK_LIVE_URL": "http://c:3"})
    assert named(found) == [("http://a:1", "k1"), ("https://b:2", None)]


def test_one_server_has_its_key_beside_it() -> None:
    found = targets_in({"QUARTERDECK_LIVE_URL": "http://a:1", "QUARTERDECK_LIVE_KEY": "k1"})
    assert named(found) == [("http://a:1", "k1")]


def test_no_server_is_no_server() -> None:
    assert targets_in({"QUARTERDECK_LIVE_KEY": "k1"}) == ()


@pytest.mark.parametrize("pairs", ["a:1 k1", "http://a:1 k1 http://b:2", "k1 http://a:1"])
def test_a_pair_that_makes_no_sense_is_refused_without_repeating_the_key(pairs: str) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        targets_in({"QUARTERDECK_LIVE_URLS": pairs})
    assert "k1" not in str(caught.value)
