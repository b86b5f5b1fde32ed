from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.fleet.views import KeptViews, View

NAMES = st.sampled_from(["status", "cost", "spec", "age"])
VIEWS = st.builds(
    View,
    st.none() | st.lists(NAMES, unique=True, min_size=1).map(tuple),
    st.none() | NAMES,
    st.booleans(),
    st.text(max_size=9),
)


@given(VIEWS, VIEWS)
def test_a_view_is_the_same_in_the_next_run_and_leaves_that_of_the_other_list_alone(one: View, other: View) -> None:
    kept = KeptViews.with_view(KeptViews.with_view(None, "sandboxes", one), "conversations", other)
    again = KeptViews.model_validate_json(kept.model_dump_json()) if kept is not None else KeptViews()
    assert again.views.get("sandboxes", View()) == one
    assert again.views.get("conversations", View()) == other


def test_default_views_need_no_file() -> None:
    assert KeptViews.with_view(None, "sandboxes", View()) is None


def test_columns_that_are_no_more_are_left_out() -> None:
    assert View(("a", "gone"), "gone").among(["a", "b"]) == View(("a",))
    assert View(("gone",), "b", reverse=True).among(["a", "b"]) == View(None, "b", reverse=True)
