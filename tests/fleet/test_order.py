from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.order import HOLD, Order, Rank, held

RANKS, ID = st.builds(Rank, st.integers(0, 3) | st.none(), st.just(0), st.booleans()), st.sampled_from("abcdefgh")
IDS = st.lists(st.sampled_from("abcdefghijkl"), unique=True)


def filled(ranks: dict[str, Rank], *, reverse: bool = False) -> Order:
    order = Order()
    order.fill(ranks.items(), reverse=reverse)
    return order


def shown(order: Order) -> str:
    return "".join(order.ids)


def test_equal_ranks_stand_by_id_and_unknown_ones_last_either_way() -> None:
    ranks = {"4": Rank(None), "3": Rank(2), "1": Rank(2), "5": Rank(1), "2": Rank(1)}
    assert (shown(filled(ranks)), shown(filled(ranks, reverse=True))) == ("25134", "13254")


@given(st.lists(st.tuples(st.dictionaries(ID, RANKS, max_size=4), st.sets(ID, max_size=3)), max_size=6), st.booleans())
def test_single_changes_give_what_all_give(steps: list[tuple[dict[str, Rank], set[str]]], reverse: bool) -> None:
    order, ranks = filled({}, reverse=reverse), dict[str, Rank]()
    for moment, (changed, gone) in enumerate(steps):
        order.moved(moment)
        order.take(changed, gone - changed.keys(), moment)
        ranks = {row_id: rank for row_id, rank in {**ranks, **changed}.items() if row_id not in gone - changed.keys()}
        assert sorted(order.ids) == sorted(ranks)
    order.settle(len(steps) + HOLD)
    assert order.ids == filled(ranks, reverse=reverse).ids


def test_a_row_moves_when_its_rank_changed_and_never_by_age() -> None:
    order = filled({"a": Rank(1, -30), "b": Rank(1, -20), "c": Rank(2, -10)})
    assert not order.take({"b": Rank(1, -99)}, (), 100.0)
    assert shown(order) == "abc"
    assert order.take({"a": Rank(3, -30)}, (), 101.0)
    assert shown(order) == "bca"


def test_nothing_moves_for_a_while_after_the_cursor_but_what_is_urgent() -> None:
    order = filled({"a": Rank(1), "b": Rank(1), "c": Rank(1)})
    order.moved(100.0)
    assert order.take({"a": Rank(2), "d": Rank(1)}, (), 101.0)
    assert shown(order) == "abcd"
    assert order.take({"c": Rank(0, urgent=True)}, (), 102.0)
    assert shown(order) == "cabd"
    assert not order.settle(100.0 + HOLD - 0.1)
    assert order.settle(100.0 + HOLD)
    assert shown(order) == "cbda"
    assert not order.settle(200.0)
    order.moved(300.0)
    assert not order.settle(302.9)
    assert order.settle(303.0), "the row that the cursor left was kept on its line"
    assert not order.settle(304.0)


def test_a_list_that_is_scrolled_stays_with_most_of_its_rows() -> None:
    for ids, top in (("xyabcdef", 4), ("cadefb", 1)):
        assert held(list(ids), list("abcdef"), cursor=3, top=2, page=3) == (list(ids), top)


@given(IDS, IDS, st.integers(0, 12), st.integers(0, 12), st.integers(0, 6))
def test_the_cursor_holds_its_line(before: list[str], after: list[str], cursor: int, top: int, page: int) -> None:
    top, cursor = max(0, min(top, len(before) - page)), max(0, min(cursor, len(before) - 1))
    ids, now = held(after, before, cursor, top, page)
    assert 0 <= now <= max(0, len(after) - page)
    assert top or not now, "who saw the top of the list still does"
    row = before[cursor] if before and top <= cursor < top + page else None
    assert [each for each in ids if each != row] == [each for each in after if each != row]
    if row in after:
        assert ids.index(row) == min(now + cursor - top, len(ids) - 1)
