"""The form as lines: headings, fields, the lists beside them, and under each row the sentence on what is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from quarterdeck.settings import words
from quarterdeck.settings.fields import Field
from quarterdeck.settings.form_fields import NOT_HERE
from quarterdeck.settings.review import effect_word
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.form.view import AT_ONCE, LISTS, FormView, RowKind

LABEL_WIDTH = 24
GUTTER = 2
"""Cells before a line: cursor and a blank."""
MARGIN = 1
"""Blank cells after the chip."""
EDGES = 4
"""Cells of a line that sentences leave free: cursor, blank, margin."""
SHORTEST = 20
LONGEST = 400
"""Characters of a value that are looked at for one line."""
NOTHING = Shown("–")
HIDDEN = Shown("••••••••")
GAP = (Shown("  "), Tone.PLAIN)
DOT = (Shown(" · "), Tone.MUTED)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: cells with their widths (0 takes the rest) and the chip at its right end.

    `row` is the id of the row it belongs to; a line without one is never under the cursor.
    """

    cells: tuple[tuple[Cell, int], ...] = ()
    chip: Cell = ()
    row: str = ""
    heading: str | None = None
    struck: bool = False


def brief(value: str) -> Shown:
    """The beginning of a text in one line."""
    return line(value[:LONGEST])


def group_lines(view: FormView, group: str, width: int) -> Iterator[Line]:
    """The rows of a group, but for MCP servers; `width` is in cells."""
    for entry in view.fields(group):
        yield from _field_lines(view, entry, width)
    hidden = view.hidden(group)
    if hidden:
        said = ((Shown(f"{hidden} more: "), Tone.MUTED), (Shown("/"), Tone.KEY), (Shown(" finds them."), Tone.MUTED))
        yield Line(((said, 0),), row=f"{RowKind.MORE}{group}")
    if group in LISTS:
        yield from _list_lines(view, LISTS[group])


def heading(view: FormView, group: str) -> Line:
    """The name of a group, and how much of it is edited."""
    if group in AT_ONCE.values():
        chip = cell(Shown("changes act at once"), Tone.MUTED)
    else:
        counts = view.counts(group)
        edits: Cell = cell(Shown(f"{counts.edits} edited"), Tone.EDITED) if counts.edits else ()
        errors: Cell = cell(Shown(words.counted(counts.errors, "error")), Tone.BAD) if counts.errors else ()
        chip = (*edits, GAP, *errors) if edits and errors else edits + errors
    return Line(((cell(line(group), Tone.KEY), 0),), chip, heading=group)


def problem_lines(view: FormView, row: str, indent: int, width: int) -> Iterator[Line]:
    """The sentence on what is wrong with a row."""
    problem = view.problems.get(row)
    if problem is None:
        return
    mark, tone = ("! ", Tone.BAD) if problem.stops else ("· ", Tone.WARN)
    said = wrap(line(problem.words), max(width - indent - EDGES, SHORTEST), initial_indent=mark, subsequent_indent="  ")
    for part in said:
        yield Line((((), indent), (cell(Shown(part), tone), 0)), row=row)


# Fields


def _field_lines(view: FormView, entry: Field, width: int) -> Iterator[Line]:
    dim = entry.absent or view.draft.off_for(entry.key) is not None
    label = cell(brief(entry.label), Tone.MUTED if dim else Tone.PLAIN)
    yield Line(((label, LABEL_WIDTH), (_value(view, entry), 0)), _chip(view, entry), entry.key)
    if view.is_edited(entry.key):
        yield from problem_lines(view, entry.key, LABEL_WIDTH, width)


def _value(view: FormView, entry: Field) -> Cell:
    """What a field holds, and what it held before where it is edited."""
    draft, edited = view.draft, entry.key in view.draft.edits
    if entry.absent and not edited:
        return cell(NOTHING, Tone.MUTED)
    was: Cell = (GAP, (brief(f"was {words.former(draft, entry.key)}"), Tone.MUTED)) if edited else ()
    if entry.secret:
        held = draft.edits[entry.key] is not None if edited else draft.stored(entry.key)
        return ((HIDDEN, Tone.EDITED if edited else Tone.MUTED) if held else (NOTHING, Tone.MUTED), *was)
    if draft.value(entry.key) is None:
        return ((line(entry.default) or NOTHING, Tone.MUTED), *was)
    rests = draft.off_for(entry.key) is not None
    tone = Tone.STRONG if edited else Tone.MUTED if rests else Tone.PLAIN
    return ((brief(words.current(draft, entry.key)), tone), *was)


def _chip(view: FormView, entry: Field) -> Cell:
    """How a field stands, in a word or two, and whether this server's conversations go by it."""
    problem = view.problems.get(entry.key)
    if problem is not None and problem.stops:
        return cell(Shown("error"), Tone.BAD)
    if view.is_news(entry.key):
        return cell(Shown("changed on server"), Tone.WARN)
    state = _edit_chip(view, entry) if entry.key in view.draft.edits else _rest_chip(view, entry)
    effect = effect_word(entry, view.server)
    if not effect:
        return state
    return (*state, *((DOT,) if state else ()), (Shown(effect), Tone.REST))


def _edit_chip(view: FormView, entry: Field) -> Cell:
    if entry.secret and view.draft.edits[entry.key] is None:
        return cell(Shown("will be cleared"), Tone.WARN)
    return cell(Shown("new value" if entry.secret else "edited"), Tone.EDITED)


def _rest_chip(view: FormView, entry: Field) -> Cell:
    off = view.draft.off_for(entry.key)
    if entry.absent:
        return cell(Shown("not on this server" if entry.absent == NOT_HERE else "not for this agent"), Tone.MUTED)
    if off is not None:
        return cell(brief(f"needs {off.label}"), Tone.MUTED)
    if entry.secret:
        stored = view.draft.stored(entry.key)
        return cell(Shown(words.stored_words(view.draft, entry.key)), Tone.GOOD if stored else Tone.MUTED)
    if view.draft.value(entry.key) is None:
        return cell(Shown("server default" if entry.default else "not set"), Tone.MUTED)
    return ()


# Lists of names


def _list_lines(view: FormView, kind: RowKind) -> Iterator[Line]:
    """A row for each name, or one that says why there is none."""
    rows = view.listed(kind)
    trouble = view.lists.trouble.get(AT_ONCE[kind]) if kind in AT_ONCE else None
    if not view.query and (trouble or not rows):
        said: Cell = cell(line(trouble), Tone.WARN) if trouble else cell(Shown("Reading…"), Tone.MUTED)
        if rows is not None and not trouble:
            said = ((Shown("None yet. "), Tone.MUTED), (Shown("a"), Tone.KEY), (_ADDS[kind], Tone.MUTED))
        yield Line(((said, 0),), row=kind)
    tones = (Tone.PLAIN, Tone.GOOD) if kind in AT_ONCE else (Tone.MUTED, Tone.MUTED)
    for name, about, stands in rows or ():
        named = (cell(brief(name), tones[0]), LABEL_WIDTH), (cell(brief(about), Tone.MUTED), 0)
        yield Line(named, cell(Shown(stands), tones[1]), f"{kind}{name}")


_ADDS = {
    RowKind.SECRET: Shown(" adds one; sandboxes get it as a variable."),
    RowKind.TOKEN: Shown(" sets one."),
    RowKind.PROFILE: Shown(" saves the LLM settings as one."),
}
"""What the key for adding does where a list is empty."""
