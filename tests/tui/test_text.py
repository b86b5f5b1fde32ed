"""Text of a server: what is painted or lent to another program acts on no terminal and hides nothing."""

import json
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App
from wcwidth import wcswidth, wcwidth

from quarterdeck.tui import text
from quarterdeck.tui.conversation.markdown import markdown_lines
from quarterdeck.tui.external import CannotRunError, edit, view
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import clip

ANY_TEXT = st.text(st.characters(exclude_categories=()))
SIGNS = [*"👍👩❤1🇩🇪☝कनிक्षก", *"\u200d\ufe0f\u20e3\u0301\u093f\u094d\U0001f3fd", "a", " "]
CLUSTERS = st.lists(st.sampled_from(SIGNS), max_size=8).map("".join)
"""Letters and signs with what joins and modifies them."""
CONTROLS = {"Cc", "Cf", "Zl", "Zp", "Cs"}
"""Unicode categories: controls, format characters, line and paragraph separators, surrogates."""
ACTING = CONTROLS | {"Cn", "Co"}  # those and what no terminal draws alike: unassigned and private


def acting(shown: str) -> set[str]:
    return {character for character in shown if unicodedata.category(character) in ACTING}


@given(ANY_TEXT)
def test_nothing_acts_on_a_terminal_and_what_went_through_goes_through_unchanged(value: str) -> None:
    line, block = text.line(value), text.block(value)
    assert (acting(line), acting(block) - {"\n"}) == (set(), set())
    assert (text.line(line), text.block(block)) == (line, block)


@given(ANY_TEXT | CLUSTERS)
def test_nobody_doubts_how_wide_a_line_is(value: str) -> None:
    shown = text.line(value)
    assert cell_len(shown) == wcswidth(shown) == sum(map(wcwidth, shown))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_copied_holds_nothing_that_acts_and_is_the_same_as_json(value: str) -> None:
    copied = text.escaped(json.dumps(value, ensure_ascii=False))
    assert not {unicodedata.category(each) for each in copied if each not in "\u200c\u200d"} & CONTROLS
    assert json.loads(copied) == value


@given(ANY_TEXT | CLUSTERS)
def test_what_a_field_takes_is_as_it_was_but_for_what_acts(value: str) -> None:
    held = text.editable(value)
    assert not {unicodedata.category(each) for each in held if each not in "\n\t\u200c\u200d"} & CONTROLS
    assert text.editable(held) == held
    if text.escaped(value) == value:
        assert held == value


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("\x1b]0;owned\x07ok", "␛]0;owned␇ok"),
        ("two\nlines\tand  a tab", "two lines and a tab"),
        ("abc\u202edcba\u202c", "abcdcba"),
        ("in\u200bvis\u2060ible", "invisible"),
        ("\u2028next", "next"),
        ("[bold]not markup[/x]", "[bold]not markup[/x]"),
        ("\ud800", "\ufffd"),
        ("a\uffffb\ufdd0c\ue0b0d\U0001ffffe", "a\ufffdb\ufffdc\ufffdd\ufffde"),
        ("👍🏽 👩\u200d💻 ❤\ufe0f\u200d🔥 🇩🇪 1\ufe0f\u20e3", "👍 👩 ❤ DE 1"),
        ("ने\u200cनि", "नेन"),
        ("x" * (text.LONGEST + 1), "x" * (text.LONGEST - 1) + "…"),
    ],
)
def test_lines_of_note(sent: str, shown: str) -> None:
    assert text.line(sent) == shown


SCRIPTS = st.text(st.sampled_from("ab c漢字한é́ऩि🎉👨‍👩‍👧❤️🇩🇪ａﷺ")) | st.text()


@given(SCRIPTS.map(text.line), st.integers(0, 30))
def test_a_text_is_cut_at_cells_and_says_so(shown: Shown, width: int) -> None:
    cut, cells = clip(shown, width)
    assert cells == cell_len(cut) <= width
    if cell_len(shown) <= width:
        assert cut == shown
    elif width:
        assert cut[-1] == "…"
        assert shown.startswith(cut[:-1])


def test_an_accent_stays_on_its_letter_and_a_wide_character_is_not_split() -> None:
    assert (clip("cafe\u0301s", 5), clip("cafe\u0301 menu", 5)) == (("cafe\u0301s", 5), ("cafe\u0301…", 5))
    assert clip("漢字漢", 4) == ("漢…", 3)


EVIL = (
    *("&#x202E;", "&#27;[31m", "&rlm;", "&#x1b;]8;;http://x\x07", "\x1b[2J", "\u202e", "&NewLine;", "&Tab;", "&#0;"),
    *("[l](http://a&#x202E;b)", "![&#x1b;](u&#27;)", "<b>", "<a href='x'>", "[r]: http://x&#x202e;", "[r]", "`&#27;`"),
    *("# ", "- ", "1. ", "> ", "```\n", "|a|b|\n|-|-|\n|&#x202e;|", "**", "[/x]", "[@click=app.quit]q[/]", "\n", "\\"),
)


@given(st.lists(st.one_of(st.sampled_from(EVIL), st.text(max_size=8)), max_size=12).map("".join), st.integers(8, 80))
@example("*" * 999 + "a" + "*" * 999, 40)
def test_nothing_a_server_writes_acts_on_a_terminal_whatever_markdown_makes_of_it(value: str, width: int) -> None:
    for line in markdown_lines(value, width):
        for part, _ in line:
            assert not {unicodedata.category(each) for each in part} & CONTROLS, (value, part)


class Lending(App[None]):
    """An app that lends the terminal that a test has not."""

    @contextmanager
    def suspend(self) -> Iterator[None]:
        yield


def test_it_is_given_cleaned_text_in_a_private_file_that_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = ('stat -c %a "$1" > mode', 'cp "$1" seen', 'echo "$1" >> names', 'printf "new\\n" > "$1"')
    (tmp_path / "keep").write_text("\n".join(("#!/bin/sh", f"cd '{tmp_path}'", *keep)))
    (tmp_path / "keep").chmod(0o700)
    for variable in ("EDITOR", "PAGER"):
        monkeypatch.setenv(variable, str(tmp_path / "keep"))
    assert (edit(Lending(), "old \x1b[2J\u202e\n\tline"), (tmp_path / "mode").read_text()) == ("new", "600\n")
    assert (tmp_path / "seen").read_text() == "old \\u001b[2J\\u202e\n\tline"
    view(Lending(), "all \x07")
    assert (tmp_path / "seen").read_text() == "all \\u0007"
    assert [Path(each).exists() for each in (tmp_path / "names").read_text().split()] == [False, False]


def test_one_that_is_no_command_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "'")
    with pytest.raises(CannotRunError, match="read"):
        edit(Lending(), "text")
