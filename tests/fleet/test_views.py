import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.views import View

NAMES = st.sampled_from(["status", "cost", "spec", "age"])


@given(
    st.builds(
        View,
        st.none() | st.lists(NAMES, unique=True, min_size=1).map(tuple),
        st.none() | NAMES,
        st.booleans(),
        st.text(max_size=9),
    )
)
def test_a_view_is_the_same_in_the_next_run(view: View) -> None:
    assert View.from_note(json.loads(json.dumps(view.to_note()))) == view


def test_the_default_view_needs_no_note() -> None:
    assert View().to_note() is None


@pytest.mark.parametrize(
    "note", [None, 4, [], "x", {"columns": 4, "sort": 4, "reverse": 1, "filter": None}, {"columns": []}]
)
def test_what_makes_no_sense_in_a_note_is_as_by_default(note: object) -> None:
    assert View.from_note(note) == View()


def test_columns_that_are_no_more_are_left_out() -> None:
    assert View(("a", "gone"), "gone").among(["a", "b"]) == View(("a",))
    assert View(("gone",), "b", reverse=True).among(["a", "b"]) == View(None, "b", reverse=True)
