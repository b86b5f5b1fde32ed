"""Records against plain dict semantics, with pages that are the same object whenever their content is."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.client.models.page import Page
from quarterdeck.fleet.records import Changes, FullPass, Records

from .fakes import Item

ITEMS = st.builds(Item, st.sampled_from("abcdef"), st.integers(0, 2))
PAGES = st.lists(st.lists(ITEMS, max_size=3).map(tuple), min_size=1, max_size=4)
BATCHES = st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(0, 2), max_size=4)
READINGS = st.lists(st.tuples(PAGES, st.lists(st.none() | BATCHES, min_size=4, max_size=4), st.booleans()), max_size=6)


@dataclass
class Model:
    """What a dict would hold, and what the changes told so far add up to."""

    records: Records[Item] = field(default_factory=Records)
    expected: dict[str, Item] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    pages: dict[tuple[Item, ...], Page[Item]] = field(default_factory=dict)

    def page(self, items: tuple[Item, ...]) -> Page[Item]:
        return self.pages.setdefault(items, Page(items))

    def check(self, before: dict[str, Item], changes: Changes[Item]) -> None:
        held = dict(self.records.by_id)
        assert held == self.expected
        assert changes.added == held.keys() - before.keys()
        assert changes.gone == before.keys() - held.keys()
        assert changes.changed >= {i for i in held.keys() & before.keys() if held[i] != before[i]}
        self.told = (self.told | changes.added) - changes.gone
        assert self.told == held.keys()

    def read_page(self, reading: FullPass[Item], items: tuple[Item, ...]) -> None:
        before = dict(self.expected)
        self.expected.update({item.id: item for item in items})
        self.check(before, reading.add(self.page(items)))

    def read_batch(self, answers: dict[str, int | None]) -> None:
        before = dict(self.expected)
        records = [None if version is None else Item(item_id, version) for item_id, version in answers.items()]
        for item_id, record in zip(answers, records, strict=True):
            if record is None:
                self.expected.pop(item_id, None)
            else:
                self.expected[item_id] = record
        self.check(before, self.records.apply_batch(list(answers), records))

    def complete(self, reading: FullPass[Item], listed: list[str]) -> None:
        before = dict(self.expected)
        self.expected = {i: self.expected[i] for i in dict.fromkeys(listed) if i in self.expected}
        changes = reading.complete()
        self.check(before, changes)
        assert list(self.records.by_id) == list(self.expected)
        assert changes.reordered == ([i for i in before if i in self.expected] != list(self.expected))


@given(READINGS)
def test_any_readings_leave_what_a_dict_would_hold(
    readings: list[tuple[list[tuple[Item, ...]], list[dict[str, int | None] | None], bool]],
) -> None:
    model = Model()
    for pages, batches, completed in readings:
        reading = FullPass(model.records)
        for items, batch in zip(pages, batches, strict=False):
            model.read_page(reading, items)
            if batch is not None:
                model.read_batch(batch)
        if completed:
            model.complete(reading, [item.id for items in pages for item in items])


class Watched(Item):
    """An item that notes when it is looked at."""

    looked_at: list[str] = []

    def __getattribute__(self, name: str) -> object:
        if name == "id":
            Watched.looked_at.append(name)
        return super().__getattribute__(name)


def read(records: Records[Item], *pages: Page[Item]) -> list[Changes[Item]]:
    reading = FullPass(records)
    return [*(reading.add(page) for page in pages), reading.complete()]


def test_pages_that_are_the_same_objects_are_not_looked_into() -> None:
    records: Records[Item] = Records()
    pages = [Page[Item]((Watched("a"), Watched("b"))), Page[Item]((Watched("c"),))]
    read(records, *pages)
    Watched.looked_at.clear()
    assert not any(read(records, *pages))
    assert not Watched.looked_at


def test_a_page_that_is_the_same_object_takes_back_what_a_batch_had_changed() -> None:
    records: Records[Item] = Records()
    page = Page((Item("a", 1), Item("b", 1)))
    read(records, page)
    records.apply_batch(["a"], [Item("a", 2)])
    changes, _ = read(records, page)
    assert changes.changed == {"a"}
    assert records.by_id["a"].version == 1


def test_a_page_that_is_the_same_object_brings_back_what_a_batch_did_not_know() -> None:
    records: Records[Item] = Records()
    page = Page((Item("a"), Item("b")))
    read(records, page)
    records.apply_batch(["a"], [None])
    changes, _ = read(records, page)
    assert changes.added == {"a"}
    assert list(records.by_id) == ["a", "b"]


def test_a_pass_left_half_way_does_not_hide_a_later_change_back() -> None:
    records: Records[Item] = Records()
    first, last = Page((Item("a", 1),)), Page((Item("b", 1),))
    read(records, first, last)
    FullPass(records).add(Page((Item("a", 2),)))
    read(records, first, last)
    assert records.by_id["a"].version == 1


def test_an_equal_record_does_not_take_the_place_of_the_one_held() -> None:
    records: Records[Item] = Records()
    held = Item("a")
    read(records, Page((held,)))
    read(records, Page((Item("a"),)))
    assert records.by_id["a"] is held


def test_every_record_read_is_told_changed_or_not() -> None:
    records: Records[Item] = Records()
    page = Page((Item("a"), Item("b")))
    read(records, page)
    assert FullPass(records).add(page).read == page.items
    assert records.apply_batch(["x", "a"], [None, Item("a")]).read == (Item("a"),)


def test_an_unknown_id_that_a_batch_does_not_know_either_is_no_change() -> None:
    records: Records[Item] = Records()
    assert not records.apply_batch(["x"], [None])


def test_an_id_on_two_pages_is_one_record_the_later_one() -> None:
    records: Records[Item] = Records()
    read(records, Page((Item("a", 1), Item("b", 1))), Page((Item("b", 2), Item("c", 1))))
    assert list(records.by_id.values()) == [Item("a", 1), Item("b", 2), Item("c", 1)]
