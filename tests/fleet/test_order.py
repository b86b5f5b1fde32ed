from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.order import ordered

SIZES = st.lists(st.integers(0, 3) | st.none(), max_size=8).map(
    lambda sizes: {f"{n}": size for n, size in enumerate(sizes)}
)


@given(SIZES, st.booleans(), st.randoms())
def test_the_order_does_not_depend_on_the_order_before(
    sizes: dict[str, int | None], reverse: bool, chance: Random
) -> None:
    shuffled = list(sizes.items())
    chance.shuffle(shuffled)
    assert ordered(dict(shuffled), reverse=reverse) == ordered(sizes, reverse=reverse)


@pytest.mark.parametrize(("reverse", "ids"), [(False, "25134"), (True, "13254")])
def test_equal_keys_stand_by_id_and_unknown_ones_last_either_way(reverse: bool, ids: str) -> None:
    sizes = {"4": None, "3": 2, "1": 2, "5": 1, "2": 1}
    assert "".join(ordered(sizes, reverse=reverse)) == ids
