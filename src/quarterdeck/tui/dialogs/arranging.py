"""What a list shows: which columns in which order, and which statuses."""

from collections import Counter
from collections.abc import Collection, Sequence

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.pick import PickSeveralDialog
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown

NOTE = Shown("The first one is always shown; where there is little room the last ones go first.")
WORD_WIDE = 20


def pick_columns(titles: Sequence[tuple[str, str]], chosen: Sequence[str] | None) -> PickSeveralDialog:
    """Turn columns on and off and move them: names with titles, and those that are shown, None for all of them."""
    named = dict(titles)

    def line(name: str, is_on: bool) -> Cell:
        return cell(Shown(named[name]), Tone.PLAIN if is_on else Tone.MUTED)

    return PickSeveralDialog(
        Shown("Columns"),
        tuple(named),
        tuple(named) if chosen is None else chosen,
        line,
        usual=("default", tuple(named)),
        ordered=True,
        at_least_one=Shown("A list needs a column; space shows one."),
        note=NOTE,
    )


def pick_statuses(counts: Counter[str], chosen: Collection[str]) -> PickSeveralDialog:
    """Turn statuses on and off, by their counts and what the filter names; none that is on means all of them."""
    present = [word for word, count in counts.most_common() if count]
    asked = [value for value in chosen if not any(value in word.casefold() for word in present)]
    words = [*present, *dict.fromkeys(asked)]

    def line(word: str, is_on: bool) -> Cell:
        sign, tone = glyph(word)
        return (
            (Shown(f"{sign} {text.line(word):<{WORD_WIDE}}"), tone),
            (Shown(f"{counts[word]:>6,}"), Tone.MUTED),
        )

    on = [word for word in words if any(value in word.casefold() for value in chosen)]
    return PickSeveralDialog(Shown("Which statuses are shown"), words, on, line, usual=("all", ()))
