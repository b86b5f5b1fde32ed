"""What may be secret in a value is masked where it is shown, and no more than that."""

import pytest

from quarterdeck.settings import masks

M = masks.MASK


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["--token", "abc"], ["--token", M]),
        (["--token", "--verbose"], ["--token", "--verbose"]),
        (["--token", "-v"], ["--token", "-v"]),
        (["-H", "abc"], ["-H", M]),
        (["read the token", "notes.txt"], ["read the token", "notes.txt"]),
        (["--api-key=abc"], [f"--api-key={M}"]),
        (["--api-key="], ["--api-key="]),
        (["run x=1 token: abc"], [f"run x=1 token: {M}"]),
        (["X-Team: abc"], [f"X-Team: {M}"]),
        (["-p", "8080"], ["-p", "8080"]),
        (["--max-tokens", "8080"], ["--max-tokens", M]),
        (["https://me:abc@a.example/p"], [f"https://{M}@a.example/p"]),
    ],
)
def test_of_arguments(given: list[str], shown: list[str]) -> None:
    assert masks.arguments(given) == shown


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("headers", ["Authorization: abc"], [M]),
        ("headers", {"X-Any": "abc", "count": 3}, {"X-Any": M, "count": 3}),
        ("api_key", "https://a.example/?for=abc", M),
        ("auth", {"strategy": "basic", "username": "me"}, {"strategy": "basic", "username": M}),
        ("max_output_tokens", 4096, 4096),
        ("language", "en", "en"),
    ],
)
def test_of_a_value_by_its_name(name: str, given: object, shown: object) -> None:
    assert masks.document({name: given}, "") == {name: shown}
