"""The store against plain dict semantics."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.store import Changes, Store

from .fakes import Item

ITEMS = st.builds(Item, st.sampled_from("abcdef"), st.integers(0, 2))
PAGES = st.lists(st.lists(ITEMS, max_size=3).map(tuple), min_size=1, max_size=4)
BATCHES = st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(0, 2), max_size=4)
READINGS = st.lists(st.tuples(PAGES, st.lists(st.none() | BATCHES, min_size=4, max_size=4), st.booleans()), max_size=6)


@dataclass
class Model:
    """What a dict would hold, and what the changes told so far add up to."""

    store: Store[Item] = field(default_factory=Store)
    expected: dict[str, Item] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    def check(self, before: dict[str, Item], changes: Changes[Item]) -> None:
        held = dict(self.store.by_id)
        assert held == self.expected
        assert changes.added == held.keys() - before.keys()
        assert changes.gone == before.keys() - held.keys()
        assert changes.changed >= {i for i in held.keys() & before.keys() if held[i] != before[i]}
        self.told = (self.told | changes.added) - changes.gone
        assert self.told == held.keys()

    def read_page(self, items: tuple[Item, ...]) -> None:
        before = dict(self.expected)
        self.expected.update({item.id: item for item in items})
        changes = self.store.take(items)
        assert changes.read == items
        self.check(before, changes)

    def read_batch(self, answers: dict[str, int | None]) -> None:
        before = dict(self.expected)
        records = [None if version is None else Item(item_id, version) for item_id, version in answers.items()]
        for item_id, record in zip(answers, records, strict=True):
            if record is None:
                self.expected.pop(item_id, None)
            else:
                self.expected[item_id] = record
        self.check(before, self.store.take_batch(list(answers), records))

    def complete(self, listed: list[str]) -> None:
        before = dict(self.expected)
        self.expected = {i: self.expected[i] for i in dict.fromkeys(listed) if i in self.expected}
        changes = self.store.keep_only(listed)
        self.check(before, changes)
        assert list(self.store.by_id) == list(self.expected)
        assert changes.reordered == ([i for i in before if i in self.expected] != list(self.expected))


@given(READINGS)
def test_any_readings_leave_what_a_dict_would_hold(
    readings: list[tuple[list[tuple[Item, ...]], list[dict[str, int | None] | None], bool]],
) -> None:
    model = Model()
    for pages, batches, completed in readings:
        for items, batch in zip(pages, batches, strict=False):
            model.read_page(items)
            if batch is not None:
                model.read_batch(batch)
        if completed:
            model.complete([item.id for items in pages for item in items])


def test_an_equal_record_does_not_take_the_place_of_the_one_held() -> None:
    store: Store[Item] = Store()
    held = Item("a")
    store.take([held])
    assert not store.take([Item("a")])
    assert store.by_id["a"] is held
