"""The live tests leave no field out."""

import pytest

from quarterdeck.settings.catalogue import BY_KEY, CATALOGUE
from tests.live.values import VALUES


def test_every_field_of_the_catalogue_is_tried_on_real_servers() -> None:
    assert {entry.key for entry in CATALOGUE} - VALUES.keys() == {"mcp_config", "secrets_store"}


@pytest.mark.parametrize("name", sorted(VALUES.keys() & BY_KEY.keys()))
def test_the_deck_lets_each_tried_value_be_saved(name: str) -> None:
    problems = [check(value) for value in VALUES[name] for check in BY_KEY[name].checks]
    assert [problem for problem in problems if problem and problem.stops] == []
