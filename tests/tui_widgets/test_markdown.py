"""Markdown of a server: whatever it holds, what is painted is safe, and no word of it is lost."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.tui.cells import Cell
from quarterdeck.tui.conversation.markdown import markdown_lines

EVIL = (
    *("&#x202E;", "&#27;[31m", "&rlm;", "&#x1b;]8;;http://x\x07", "\x1b[2J", "\u202e", "&NewLine;", "&Tab;", "&#0;"),
    *("[l](http://a&#x202E;b)", "![&#x1b;](u&#27;)", "<b>", "<a href='x'>", "[r]: http://x&#x202e;", "[r]", "`&#27;`"),
    *("# ", "- ", "1. ", "> ", "```\n", "|a|b|\n|-|-|\n|&#x202e;|", "**", "[/x]", "[@click=app.quit]q[/]", "\n", "\\"),
)
TEXTS = st.lists(st.one_of(st.sampled_from(EVIL), st.text(max_size=8)), max_size=12).map("".join)


def words(lines: list[Cell]) -> str:
    return "\n".join("".join(part for part, _ in line) for line in lines)


@given(TEXTS, st.integers(8, 80))
def test_nothing_a_server_writes_acts_on_a_terminal_whatever_markdown_makes_of_it(value: str, width: int) -> None:
    for line in markdown_lines(value, width):
        for part, _ in line:
            acting = [c for c in part if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
            assert not acting, (value, part)


def test_it_looks_like_what_it_means() -> None:
    said = words(
        markdown_lines(
            "# Why\n\nThe *redirect* drops `query`, see [the docs](http://docs).\n\n- one\n- two\n  1. deep\n\n"
            "```py\nprint(1)\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| 1, 2 | 日本 |\n\n![a plot](http://plot)",
            60,
        )
    )
    assert said.splitlines() == [
        "Why",
        "",
        "The redirect drops query, see the docs (http://docs).",
        "",
        "• one",
        "• two",
        "  1. deep",
        "",
        "│ print(1)",
        "",
        "▏ quoted",
        "",
        "│ a    │ b    │ ",
        "│ 1, 2 │ 日本 │ ",
        "",
        "(a picture: a plot, http://plot)",
    ]
