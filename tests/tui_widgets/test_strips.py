"""Lines of cells: cut at their width whatever the script, and equal where nothing differs."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import clip

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
