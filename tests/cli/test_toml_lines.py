"""TOML changed by lines: what was meant changes, and nothing else does, comments and order included."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.config.toml_lines import line_of, renamed_table, with_members, without_table

NAMES = ("url", "header", "key_env", "colour")
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n", exclude_categories=["Cc", "Cs"]), max_size=12)
GAPS = st.lists(st.one_of(st.just(""), WORDS.map(lambda words: f"# {words}")), max_size=3)
OTHER_VALUES = (
    "5",
    '"a # b"  # said',
    "'''\n[connections.work]\nurl = 'no'\n'''",
    '[\n  ["a"], # deep\n  ["connections"],\n]',
    "{ x = 1 }",
)


@st.composite
def tables(draw: st.DrawFn, header: str) -> list[str]:
    """The lines of a table, with comments between its members."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    lines = [draw(st.sampled_from([header, f"  {header}   # mine"]))]
    for name in names:
        value = draw(
            st.one_of(WORDS.map(lambda words: json.dumps(words, ensure_ascii=False)), st.sampled_from(OTHER_VALUES))
        )
        lines += [*draw(GAPS), *f"{name} = {value}".split("\n")]
    return lines


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A file with the table of `work` among others, and every line outside that table."""
    headers = draw(st.permutations(["[connections.work]", "[connections.play]", '[connections."a.b"]', "[other]"]))
    text, rest = draw(GAPS), list[str]()
    rest += text
    for header in headers:
        lines, after = draw(tables(header)), draw(GAPS)
        text += [*lines, *after]
        rest += after if "work" in header else [*lines, *after]
    return "\n".join([*text, ""]), rest


CHANGES = st.dictionaries(st.sampled_from(NAMES), st.one_of(st.none(), st.booleans(), WORDS), min_size=1)


def kept_in_order(lines: list[str], text: str) -> bool:
    left = iter(text.split("\n"))
    return all(line in left for line in lines)


@given(files(), CHANGES)
def test_members_change_and_everything_else_stays(
    file: tuple[str, list[str]], changes: dict[str, str | bool | None]
) -> None:
    text, _ = file
    new = with_members(text, ("connections", "work"), changes)
    wanted = tomllib.loads(text)
    entry = {**wanted["connections"]["work"], **changes}
    wanted["connections"]["work"] = {name: value for name, value in entry.items() if value is not None}
    assert tomllib.loads(new) == wanted


@given(files(), CHANGES)
def test_lines_of_other_tables_and_all_comments_stay_in_their_order(
    file: tuple[str, list[str]], changes: dict[str, str | bool | None]
) -> None:
    text, _ = file
    others = [line for line in text.split("\n") if line.startswith(("#", "[other", "[connections.p"))]
    assert kept_in_order(others, with_members(text, ("connections", "work"), changes))


@given(files())
def test_a_table_goes_and_every_other_line_stays(file: tuple[str, list[str]]) -> None:
    text, rest = file
    wanted = tomllib.loads(text)
    del wanted["connections"]["work"]
    new = without_table(text, ("connections", "work"))
    assert tomllib.loads(new) == wanted
    assert list(filter(None, new.split("\n"))) == list(filter(None, rest))


@given(files(), CHANGES)
def test_a_new_table_leaves_the_text_before_it_as_it_was(
    file: tuple[str, list[str]], members: dict[str, str | bool | None]
) -> None:
    text, _ = file
    new = with_members(text, ("connections", "new"), members)
    assert new.startswith(text)
    assert tomllib.loads(new)["connections"]["new"] == {name: v for name, v in members.items() if v is not None}


def test_an_own_comment_stays_beside_its_member() -> None:
    text = '[connections.work]  # the one\nurl = "http://a # b"   # why\nread_only = true # careful\n'
    changed = with_members(text, ("connections", "work"), {"url": "http://c", "read_only": None})
    assert changed == '[connections.work]  # the one\nurl = "http://c"   # why\n'
    assert renamed_table(changed, ("connections", "work"), ("connections", "a b")).startswith(
        '[connections."a b"]  # the one\n'
    )


def test_lines_that_end_as_on_windows_are_understood() -> None:
    text = "[connections.work]\r\nurl = 'http://a'\r\n# next\r\n[other]\r\nx = 1\r\n"
    assert tomllib.loads(with_members(text, ("connections", "work"), {"url": "http://b"})) == {
        "connections": {"work": {"url": "http://b"}},
        "other": {"x": 1},
    }
    assert without_table(text, ("connections", "work")) == "# next\r\n[other]\r\nx = 1\r\n"


@pytest.mark.parametrize("header", ["[connections.work]", "[ connections . 'work' ]", '["connections".work] # x'])
def test_a_table_is_found_however_its_header_is_written(header: str) -> None:
    text = f"# one\nx = [\n[1],\n]\n{header}\nurl = 'a'\n"
    assert line_of(text, ("connections", "work")) == 5
    assert without_table(text, ("connections", "work")) == "# one\nx = [\n[1],\n]\n"
