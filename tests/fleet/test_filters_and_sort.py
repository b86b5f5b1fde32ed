from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.filters import kept, parse
from quarterdeck.fleet.sort import ordered

FIELDS = ("status", "spec")


@dataclass(frozen=True)
class Row:
    id: str
    title: str
    status: str = "Running"
    size: int | None = None


ROWS = [
    Row("1", "Fix Login bug"),
    Row("2", "Fix build", "Paused"),
    Row("3", "STRASSE", "Error"),
    Row("4", "login: new"),
]


def found(typed: str, rows: list[Row] = ROWS) -> str:
    wanted = parse(typed, FIELDS)
    fields = {"status": lambda row: row.status, "spec": lambda row: ""}
    return "".join(row.id for row in kept(rows, wanted, lambda row: row.title.casefold(), fields))


@pytest.mark.parametrize(
    ("typed", "ids"),
    [
        ("", "1234"),
        ("   ", "1234"),
        ("fix", "12"),
        ("LOGIN", "14"),
        ("fix login", "1"),
        ("login fix", "1"),
        ("!fix", "34"),
        ("!fix !login", "3"),
        ("straße", "3"),
        ("status:paused", "2"),
        ("status:PAU", "2"),
        ("status:paused,error", "23"),
        ("!status:paused,error", "14"),
        ("fix !status:paused", "1"),
        ("spec:x", ""),
        ("login:", "4"),
        ("owner:me", ""),
        ("!", "1234"),
        ("status:", "1234"),
        ("!status:", "1234"),
        ("nothing", ""),
    ],
)
def test_what_a_filter_lets_through(typed: str, ids: str) -> None:
    assert found(typed) == ids


TITLES = st.lists(st.text(max_size=8), max_size=6).map(lambda titles: [Row(str(n), t) for n, t in enumerate(titles)])
WORD = st.text(alphabet="abcß:!S ", min_size=1, max_size=4)


@given(TITLES, st.text(max_size=20))
def test_any_text_typed_gives_some_of_the_rows_in_their_order(rows: list[Row], typed: str) -> None:
    ids = iter(row.id for row in rows)
    assert all(each in ids for each in found(typed, rows))


@given(TITLES, st.text(alphabet="abcS", min_size=1, max_size=4))
def test_a_word_and_its_inverse_part_the_rows(rows: list[Row], word: str) -> None:
    assert sorted(found(word, rows) + found(f"!{word}", rows)) == [row.id for row in rows]


@given(TITLES, WORD, WORD)
def test_each_further_word_only_takes_rows_away(rows: list[Row], first: str, second: str) -> None:
    assert set(found(f"{first} {second}", rows)) <= set(found(first, rows))


SIZED = st.lists(st.integers(0, 3) | st.none(), max_size=8).map(
    lambda sizes: [Row(f"{n}", "", size=size) for n, size in enumerate(sizes)]
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
        Row("4", "", size=None),
        Row("3", "", size=2),
        Row("1", "", size=2),
        Row("5", "", size=1),
        Row("2", "", size=1),
    ]
    assert "".join(row.id for row in ordered(rows, lambda row: row.size, reverse=reverse)) == ids
