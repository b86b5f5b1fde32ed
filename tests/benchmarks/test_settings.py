"""`pytest -m benchmark -s`: prints, asserts nothing about time."""

import pytest

from tests.benchmarks.settings import report


@pytest.mark.benchmark
def test_cost_of_a_key_with_a_thousand_servers() -> None:
    print("\n" + "\n".join(report(1_000)))
