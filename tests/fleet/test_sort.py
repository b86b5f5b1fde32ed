from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.sort import ordered


@dataclass(frozen=True)
class Row:
    id: str
    size: int | None = None


SIZED = st.lists(st.integers(0, 3) | st.none(), max_size=8).map(
    lambda sizes: [Row(f"{n}", size) for n, size in enumerate(sizes)]
)


@given(SIZED, st.booleans(), st.randoms())
def test_the_order_does_not_depend_on_the_order_before(rows: list[Row], reverse: bool, chance: Random) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    expected = ordered(rows, lambda row: row.size, reverse=reverse)
    assert ordered(shuffled, lambda row: row.size, reverse=reverse) == expected


@pytest.mark.parametrize(("reverse", "ids"), [(False, "25134"), (True, "13254")])
def test_equal_keys_stand_by_id_and_unknown_ones_last_either_way(reverse: bool, ids: str) -> None:
    rows = [
        Row("4", None),
        Row("3", 2),
        Row("1", 2),
        Row("5", 1),
        Row("2", 1),
    ]
    assert "".join(row.id for row in ordered(rows, lambda row: row.size, reverse=reverse)) == ids
