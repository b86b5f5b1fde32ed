"""What a terminal shows of what a pen wrote, against each style written out in full."""

import io
from collections.abc import Iterable

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip

from quarterdeck.tui.terminal.pen import Pen, cut_out
from tests.cli.pty_kit import seen

STYLES = st.builds(
    Style,
    color=st.sampled_from([None, "#7fbf8e", "#ef857a", "red", "color(99)"]),
    bgcolor=st.sampled_from([None, "#10151c", "blue"]),
    bold=st.sampled_from([None, True, False]),
    italic=st.sampled_from([None, True]),
    underline=st.sampled_from([None, True]),
    reverse=st.sampled_from([None, True]),
    strike=st.sampled_from([None, True]),
)
WORDS = st.sampled_from(["a", "bc ", " ", "漢", "字e\u0301", "● "])
PIECES = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.integers(0, 3),
        st.lists(st.builds(Segment, WORDS, st.none() | STYLES), max_size=4),
    ),
    max_size=3,
    unique_by=lambda piece: piece[1],
)
"""Parts of an update, which never lie over each other."""
Pieces = list[tuple[int, int, list[Segment]]]
SIZE = Size(40, 4)
COLOURS = {"truecolor": ColorSystem.TRUECOLOR, "256": ColorSystem.EIGHT_BIT, "standard": ColorSystem.STANDARD}


def shown(written: str) -> object:
    """Every cell of a terminal that took this in."""
    screen = pyte.Screen(*SIZE)
    pyte.Stream(screen).feed(written)
    cursor = screen.cursor.attrs
    return [[seen(screen.buffer[y][x]) for x in range(SIZE.width)] for y in range(SIZE.height)], cursor._replace(
        data=" "
    )


def in_full(pieces: Pieces, colours: str) -> str:
    """The same, each segment with its whole style and the terminal's own behind it."""
    written = ""
    for x, y, segments in pieces:
        written += f"\x1b[{y + 1};{x + 1}H"
        for text, style, _ in segments:
            written += (style or Style()).render(text, color_system=COLOURS[colours])
    return written


@given(st.lists(PIECES, max_size=3), st.sampled_from(sorted(COLOURS)))
def test_a_pen_shows_what_styles_in_full_show_and_gives_the_terminal_its_own(
    updates: list[Pieces], colours: str
) -> None:
    pen = pen_for(colours)
    written = "".join(pen.write(pieces, SIZE) for pieces in updates)
    assert shown(written + pen.put_down()) == shown("".join(in_full(pieces, colours) for pieces in updates))


def pen_for(colours: str | None) -> Pen:
    return Pen(Console(color_system=colours, force_terminal=True, file=io.StringIO()))  # type: ignore[arg-type]


def test_somebody_else_may_write_between_once_the_pen_is_put_down() -> None:
    pen, loud = pen_for("truecolor"), Style(color="#00ff00", bold=True)
    a, c = [(0, 0, [Segment("a", loud)])], [(2, 0, [Segment("c", loud)])]
    written = pen.write(a, SIZE) + pen.put_down() + "b" + pen.write(c, SIZE)
    assert shown(written + pen.put_down()) == shown("\x1b[1;38;2;0;255;0ma\x1b[0mb\x1b[1;38;2;0;255;0mc\x1b[0m")


def test_a_style_that_goes_on_is_not_said_again() -> None:
    green, red, loud = (
        Style(color="#00ff00", bgcolor="#000001"),
        Style(color="#ff0000", bgcolor="#000001"),
        Style(bold=True),
    )
    pen = pen_for("truecolor")
    assert pen.write(
        [
            (0, 0, [Segment("a", green), Segment("b", green), Segment("c", red), Segment("d", red + loud)]),
            (9, 0, [Segment("  ", green), Segment("e", red)]),
        ],
        SIZE,
    ) == ("\x1b[0m\x1b[1;1H\x1b[38;2;0;255;0;48;2;0;0;1mab\x1b[38;2;255;0;0mc\x1b[1md\x1b[10G  \x1b[22me")
    assert pen.write([(5, 1, [Segment("f", red)])], SIZE) == "\x1b[2;6Hf"
    assert pen.write([(5, 1, [Segment("g"), Segment("  ", Style(italic=True)), Segment("h")])], SIZE) == (
        "\x1b[2;6H\x1b[0mg  h"
    )


def test_without_colours_nothing_but_words_is_written() -> None:
    pen = pen_for(None)
    written = pen.write([(2, 1, [Segment("a", Style(color="red", bold=True))])], SIZE)
    assert written + pen.put_down() == "\x1b[2;3Ha"


def line(*words: str) -> Pieces:
    return [(0, 0, [Segment(word) for word in words])]


def test_what_stands_there_already_is_not_written_again() -> None:
    pen = pen_for(None)
    pen.write(line("Running  20   Paused  7"), SIZE)
    assert pen.write(line("Running", "  20   ", "Paused  7"), SIZE) == ""
    assert pen.write(line("Running  21   Paused  6"), SIZE) == "\x1b[1;11H1\x1b[23G6"


def test_what_is_between_two_changes_is_written_where_going_there_takes_more() -> None:
    pen = pen_for(None)
    pen.write(line("12 m"), SIZE)
    assert pen.write(line("13 s"), SIZE) == "\x1b[1;2H3 s"


def test_what_is_of_one_colour_is_written_together_where_that_takes_less() -> None:
    red, green = Style(color="#ff0000"), Style(color="#00ff00")
    both = [(0, y, [Segment("bad ", red), Segment("good", green)]) for y in (0, 1)]
    assert pen_for("truecolor").write(both, SIZE) == (
        "\x1b[0m\x1b[1;1H\x1b[38;2;255;0;0mbad \x1b[2;1Hbad \x1b[1;5H\x1b[38;2;0;255;0mgood\x1b[2;5Hgood"
    )
    assert pen_for("standard").write(both, SIZE) == (
        "\x1b[0m\x1b[1;1H\x1b[31mbad \x1b[32mgood\x1b[2;1H\x1b[31mbad \x1b[32mgood"
    )


def test_what_is_between_two_changes_is_passed_over_where_it_is_of_another_colour() -> None:
    pen, red, green = pen_for("standard"), Style(color="red"), Style(color="green")

    def words(first: str, last: str) -> Pieces:
        return [(0, 0, [Segment(first, red), Segment("||", green), Segment(last, red)])]

    pen.write(words("a", "b"), SIZE)
    assert pen.write(words("c", "d"), SIZE) == "\x1b[1;1Hc\x1b[4Gd"


def test_a_blank_is_told_from_another_by_its_ground_only() -> None:
    pen = pen_for("truecolor")
    pen.write([(0, 0, [Segment("ab"), Segment("  ", Style(color="red", bold=True))])], SIZE)
    assert pen.write([(0, 0, [Segment("ab  ")])], SIZE) == ""
    assert pen.write([(0, 0, [Segment("ab"), Segment("  ", Style(bgcolor="#000001"))])], SIZE) == (
        "\x1b[1;3H\x1b[48;2;0;0;1m  "
    )


def test_letters_of_two_cells_are_written_where_they_change() -> None:
    pen = pen_for(None)
    assert pen.write(line("漢字 a"), SIZE) == "\x1b[1;1H漢字 a"
    assert pen.write(line("漢字 a"), SIZE) == ""
    assert pen.write(line("漢学 b"), SIZE) == "\x1b[1;3H学 b"


def test_half_of_a_letter_that_is_written_over_is_not_taken_to_be_there() -> None:
    pen = pen_for(None)
    pen.write(line("a漢b"), SIZE)
    pen.write([(2, 0, [Segment("x")])], SIZE)
    assert pen.write([(1, 0, [Segment("漢")])], SIZE) == "\x1b[1;2H漢"
    pen.write([(1, 0, [Segment("y")])], SIZE)
    assert pen.write(line("ay b"), SIZE) == "\x1b[1;3H "


def test_nothing_is_taken_to_be_there_once_somebody_else_wrote_or_the_terminal_has_another_size() -> None:
    pen = pen_for(None)
    whole = pen.write(line("ab"), SIZE)
    pen.put_down()
    assert pen.write(line("ab"), SIZE) == whole
    assert pen.write(line("ab"), Size(20, 4)) == whole


LINE = st.lists(st.builds(Segment, WORDS, st.none() | STYLES, st.none()), max_size=6)


@given(LINE, st.integers(0, 14), st.integers(0, 14))
def test_a_part_of_a_line_shows_what_it_showed_in_the_line(line: list[Segment], start: int, end: int) -> None:
    whole = Strip(line)
    start, end = sorted((min(start, whole.cell_length), min(end, whole.cell_length)))
    part = list(cut_out(line, start, end))
    assert letters(part) == letters(whole.crop(start, end))
    assert Strip(part).cell_length == end - start


def letters(line: Iterable[Segment]) -> list[tuple[str, Style | None]]:
    return [(letter, style) for text, style, _ in line for letter in text]
