"""Command lines that are read without a parser mean what they mean to the parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.arguments import parse
from quarterdeck.cli.command_line import CommandLine, plain

WORDS = ("--url", "--connection", "--read-only", "--quiet", "http://a.example", "work", "", "-", "--json", "--url=b")


def parsed(words: list[str]) -> CommandLine | None:
    """What the parser makes of it, None for wrong usage."""
    try:
        return parse(words)
    except SystemExit:
        return None


@given(st.lists(st.sampled_from(WORDS), max_size=5))
def test_what_is_read_without_the_parser_is_what_the_parser_reads(words: list[str]) -> None:
    line, meant = plain(words), parsed(words)
    if line is not None:
        assert meant is not None
        assert vars(line) == vars(meant)


@pytest.mark.parametrize(
    "words",
    [[], ["--url", "http://a.example"], ["--read-only", "--connection", "work"], ["--quiet", "--url", "http://b"]],
)
def test_the_lines_that_open_a_deck_take_no_parser(words: list[str]) -> None:
    assert plain(words) is not None


@pytest.mark.parametrize("words", [["--url"], ["--url", "--quiet"], ["--help"], ["settings", "show"], ["--url", "-"]])
def test_all_others_do(words: list[str]) -> None:
    assert plain(words) is None
