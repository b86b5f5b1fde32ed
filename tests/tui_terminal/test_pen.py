"""What a terminal shows of what a pen wrote, against each style written out in full."""

import io
from collections.abc import Iterable

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
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
PIECES = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.integers(0, 3),
        st.lists(st.builds(Segment, st.sampled_from(["a", "bc ", " ", "漢"]), st.none() | STYLES), max_size=4),
    ),
    max_size=6,
)
Pieces = list[tuple[int, int, list[Segment]]]


def shown(written: str) -> object:
    """Every cell of a terminal that took this in."""
    screen = pyte.Screen(30, 4)
    pyte.Stream(screen).feed(written)
    cursor = screen.cursor.attrs
    return [[seen(screen.buffer[y][x]) for x in range(30)] for y in range(4)], cursor._replace(data=" ")


def in_full(pieces: Pieces, console: Console) -> str:
    """The same, each segment with its whole style and the terminal's own behind it."""
    written = ""
    for x, y, segments in pieces:
        written += f"\x1b[{y + 1};{x + 1}H"
        for text, style, _ in segments:
            written += (style or Style()).render(text, color_system=console._color_system)
    return written


@given(st.lists(PIECES, max_size=3), st.sampled_from(["truecolor", "256", "standard"]))
def test_a_pen_shows_what_styles_in_full_show_and_gives_the_terminal_its_own(
    updates: list[Pieces], colours: str
) -> None:
    console = Console(color_system=colours, force_terminal=True, file=io.StringIO())  # type: ignore[arg-type]
    pen = Pen(console)
    written = "".join(pen.write(pieces) for pieces in updates)
    assert shown(written + pen.put_down()) == shown("".join(in_full(pieces, console) for pieces in updates))


def test_somebody_else_may_write_between_once_the_pen_is_put_down() -> None:
    pen = Pen(Console(color_system="truecolor", force_terminal=True, file=io.StringIO()))
    loud = Style(color="#00ff00", bold=True)
    written = (
        pen.write([(0, 0, [Segment("a", loud)])]) + pen.put_down() + "b" + pen.write([(2, 0, [Segment("c", loud)])])
    )
    assert shown(written + pen.put_down()) == shown("\x1b[1;38;2;0;255;0ma\x1b[0mb\x1b[1;38;2;0;255;0mc\x1b[0m")


def test_a_style_that_goes_on_is_not_said_again() -> None:
    green, red, loud = (
        Style(color="#00ff00", bgcolor="#000001"),
        Style(color="#ff0000", bgcolor="#000001"),
        Style(bold=True),
    )
    pen = Pen(Console(color_system="truecolor", force_terminal=True, file=io.StringIO()))
    assert pen.write(
        [
            (0, 0, [Segment("a", green), Segment("b", green), Segment("c", red), Segment("d", red + loud)]),
            (9, 0, [Segment("  ", green), Segment("e", red)]),
        ]
    ) == ("\x1b[1;1H\x1b[38;2;0;255;0;48;2;0;0;1mab\x1b[38;2;255;0;0mc\x1b[1md\x1b[10G  \x1b[22me")
    assert pen.write([(5, 1, [Segment("f", red)])]) == "\x1b[2;6Hf"
    assert pen.write([(5, 1, [Segment("g"), Segment("  ", Style(italic=True)), Segment("h")])]) == (
        "\x1b[2;6H\x1b[0mg  h"
    )


def test_without_colours_nothing_but_words_is_written() -> None:
    pen = Pen(Console(color_system=None))
    written = pen.write([(2, 1, [Segment("a", Style(color="red", bold=True))])])
    assert written + pen.put_down() == "\x1b[2;3Ha"


WORDS = st.sampled_from(["ab", "x", "漢字", "é  ", "e\u0301"])
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
