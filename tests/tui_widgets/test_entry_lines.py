"""An entry of a conversation as lines: what happened is told apart by signs and words, never by colour alone.

Of the Markdown in it, whatever it holds, what is painted is safe, and no word is lost.
"""

import unicodedata
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.fleet.entries import Edit, Entry, EntryKind, Outcome, Task
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.conversation.entry_lines import Layout
from quarterdeck.tui.conversation.markdown import markdown_lines

AT = datetime(2026, 11, 24, 9, 14, tzinfo=UTC)
EDIT = Edit(41, (("-", "return url"), ("+", "return url, query"), (" ", "")))


def tool(title: str, outcome: Outcome, *, who: str = "terminal", **more: Any) -> Entry:
    return Entry("e", EntryKind.TOOL, AT, who, title, outcome=outcome)._replace(**more)


def drawn(entry: Entry, width: int = 60, *, waiting: bool = False, unfolded: bool = False) -> list[str]:
    lines = Layout(width, waiting, unfolded).lines(entry, entry.at)
    texts = ["".join(part for part, _ in line) for line in lines]
    assert all(cell_len(text) <= width for text in texts), texts
    return [text.rstrip() for text in texts]


def test_what_happened_is_told_in_signs_and_words() -> None:
    plan = tool("plan", Outcome.DONE, who="task_tracker", tasks=(Task("one", "done"), Task("two", "todo")))
    condensed = Entry("e", EntryKind.QUIET, AT, "", "30 events summarised", "what\nwas")
    for entry, lines in (
        (tool("sleep 20", Outcome.OPEN), ["09:14 ◔ terminal       sleep 20"]),
        (
            tool("pytest", Outcome.FAILED, exit_code=1, seconds=8.2, text="E  assert"),
            ["09:14 ✗ terminal       pytest                    exit 1 8.2s", "         E  assert"],
        ),
        (
            tool("make", Outcome.RUNS_ON, exit_code=-1, seconds=90),
            ["09:14 ◔ terminal       make                     runs on 1:30"],
        ),
        (tool("x" * 99, Outcome.DONE, seconds=0.1), [f"09:14 ✓ terminal       {'x' * 31}… 0.1s"]),
        (
            tool("a.py", Outcome.DONE, who="file_editor", edit=EDIT),
            [
                "09:14 ✓ file_editor    a.py                            +1 -1",
                "           41 - return url",
                "           41 + return url, query",
                "           42",
            ],
        ),
        (plan, ["09:14 ✓ task_tracker   plan", "         [x] one", "         [ ] two"]),
        (
            Entry("e", EntryKind.AGENT, AT, "agent", text="**Done**", thought="a b c"),
            ["09:14 agent   thought 3 words, enter", "              Done"],
        ),
        (
            Entry("e", EntryKind.ERROR, AT, "error", "LLMAuthenticationError", "bad key"),
            ["09:14 ✗ LLMAuthenticationError", "         bad key"],
        ),
        (condensed, ["09:14 · 30 events summarised, 2 lines, enter"]),
    ):
        assert drawn(entry) == lines
    assert drawn(condensed, unfolded=True) == ["09:14 · 30 events summarised", "         what", "         was"]
    asked = tool("rm -r build", Outcome.OPEN, risk="HIGH")
    assert drawn(asked, waiting=True) == ["09:14 ◆ terminal       rm -r build                      HIGH"]


def test_an_edit_shows_what_changed_and_little_around_it() -> None:
    same = [(" ", f"same {number}") for number in range(20)]
    edit = Edit(1, (*same[:10], ("-", "old"), ("+", "new"), *same[10:]))
    entry = tool("a.py", Outcome.DONE, who="file_editor", edit=edit)
    assert drawn(entry)[1:] == [
        "            …",
        "            9   same 8",
        "           10   same 9",
        "           11 - old",
        "           11 + new",
        "           12   same 10",
        "           13   same 11",
        "            …",
    ]
    assert len(drawn(entry, unfolded=True)) == len(edit.lines) + len(drawn(entry)[:1]) + 1


# Markdown

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
