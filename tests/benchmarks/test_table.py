"""`pytest -m benchmark -s`: prints, asserts nothing about time."""

import pytest

from tests.benchmarks.table import measure


@pytest.mark.benchmark
@pytest.mark.parametrize("rows", [100, 10_000])
def test_cost_of_the_table_against_the_floor(rows: int) -> None:
    print("\n" + "\n".join(map(str, measure(rows))))
