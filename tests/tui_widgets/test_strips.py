"""Lines of cells: cut at their width whatever the script, and equal where nothing differs."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import clip, fit_cell

SCRIPTS = st.text(st.sampled_from("ab c漢字한é́ऩि🎉👨‍👩‍👧❤️🇩🇪ａﷺ")) | st.text()
TONED = st.lists(st.tuples(SCRIPTS.map(text.line), st.sampled_from(Tone)), max_size=5).map(tuple)


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
    assert clip("cafe\u0301s", 5) == ("cafe\u0301s", 5)
    assert clip("cafe\u0301 menu", 5) == ("cafe\u0301…", 5)
    assert clip("漢字漢", 4) == ("漢…", 3)


@given(TONED, st.integers(0, 30))
def test_spans_are_cut_together_and_keep_their_tones(cell: Cell, width: int) -> None:
    pieces, cells = fit_cell(cell, width)
    assert "".join(piece for piece, _ in pieces) == clip("".join(span for span, _ in cell), width)[0]
    assert [tone for _, tone in pieces] == [tone for _, tone in cell]
    assert cells == sum(cell_len(piece) for piece, _ in pieces)
