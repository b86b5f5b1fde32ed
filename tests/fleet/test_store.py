"""The store against plain dict semantics."""

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.watch import Changes, Store

from .fakes import Item

IDS = st.sampled_from("abcdef")
VERSIONS = st.integers(0, 2)
PAGE = st.lists(st.builds(Item, IDS, VERSIONS), max_size=3)
BATCH = st.dictionaries(IDS, st.none() | VERSIONS, max_size=4)
LISTED = st.lists(IDS, max_size=6).map(tuple)


@given(st.lists(PAGE | BATCH | LISTED, max_size=8))
def test_any_readings_leave_what_a_dict_would_hold(
    readings: list[list[Item] | dict[str, int | None] | tuple[str]],
) -> None:
    store: Store[Item] = Store()
    expected: dict[str, Item] = {}
    for reading in readings:
        before = dict(expected)
        if isinstance(reading, list):
            expected |= {item.id: item for item in reading}
            changes = store.take(reading)
            assert changes.read == tuple(reading)
        elif isinstance(reading, dict):
            records = {each: Item(each, version) for each, version in reading.items() if version is not None}
            expected = {
                each: item for each, item in {**expected, **records}.items() if reading.get(each, 0) is not None
            }
            changes = store.take(records.values(), reading.keys() - records.keys())
        else:
            expected = {each: expected[each] for each in reading if each in expected}
            changes = Changes(gone=store.keep_only(reading))
            assert list(store.by_id) == list(expected)
        assert dict(store.by_id) == expected
        assert changes.added == expected.keys() - before.keys()
        assert changes.gone == before.keys() - expected.keys()
        assert changes.changed >= {each for each in expected.keys() & before.keys() if expected[each] != before[each]}


def test_an_equal_record_does_not_take_the_place_of_the_one_held() -> None:
    store: Store[Item] = Store()
    held = Item("a")
    store.take([held])
    assert not store.take([Item("a")])
    assert store.by_id["a"] is held
