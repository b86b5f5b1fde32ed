"""What is typed after `quarterdeck`: what is refused, and that no value is repeated that may be a key."""

import pytest

from tests.cli.conftest import Run

SENTINEL = "sentinel-key-5c"


@pytest.mark.parametrize(
    "words",
    [
        ("--key", SENTINEL),
        (f"--key={SENTINEL}",),
        ("settings", "show", "--api-key", SENTINEL),
        ("settings", "show", f"--token={SENTINEL}"),
        ("--auth", SENTINEL),
        ("settings", "--auth", SENTINEL, "show"),
        ("doctor", "--auth", SENTINEL),
        ("sandboxes", "pause", "a", "--auth", SENTINEL),
        ("settings", "show", "-k", SENTINEL),
        ("settings", "show", SENTINEL),
    ],
)
def test_what_may_be_a_key_is_refused_and_not_repeated(run: Run, words: tuple[str, ...]) -> None:
    ended = run(*words, status=2)
    assert SENTINEL not in ended.out + ended.err


def test_who_types_a_key_is_told_where_keys_belong(run: Run) -> None:
    assert "never an argument" in run("--key", SENTINEL, "doctor", status=2).err


def test_an_id_may_begin_with_a_dash(run: Run) -> None:
    assert "-dash: " in run("sandboxes", "pause", "one", "-dash", status=1).err
    run("sandboxes", "list", "-dash", status=2)
