from quarterdeck.fleet.views import KeptViews, View


def test_a_view_is_the_same_in_the_next_run_and_leaves_that_of_the_other_list_alone() -> None:
    one, other = View(("status", "cost"), "cost", reverse=True, filter='quiet>30m "ä b"'), View(filter="x")
    kept = KeptViews.with_view(KeptViews.with_view(None, "sandboxes", one), "conversations", other)
    assert kept is not None
    assert KeptViews.model_validate_json(kept.model_dump_json()).views == {"sandboxes": one, "conversations": other}
    rest = KeptViews.with_view(kept, "sandboxes", View())
    assert rest is not None
    assert rest.views == {"conversations": other}
    assert KeptViews.with_view(rest, "conversations", View()) is None, "default views need no file"


def test_columns_that_are_no_more_are_left_out() -> None:
    assert View(("a", "gone"), "gone").among(["a", "b"]) == View(("a",))
    assert View(("gone",), "b", reverse=True).among(["a", "b"]) == View(None, "b", reverse=True)
