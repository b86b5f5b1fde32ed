"""The form as lines: headings, fields, the lists beside them, and under each row the sentence on what is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from quarterdeck.settings import words
from quarterdeck.settings.fields import Field, Group
from quarterdeck.settings.form_fields import NOT_HERE
from quarterdeck.settings.review import effect_word
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.form.view import AT_ONCE, FormView, RowKind

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

    def drawn(self) -> "Line":
        """The line with its cells; a subclass may make them only now."""
        return self


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
    match group:
        case Group.PROFILES:
            yield from _profile_lines(view)
        case Group.TOKENS:
            yield from _token_lines(view)
        case Group.SECRETS:
            yield from _secret_lines(view)
        case Group.OTHER:
            for name, value in view.others():
                yield _row(RowKind.OTHER, name, value, cell(Shown("kept as it is"), Tone.MUTED), tone=Tone.MUTED)


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


# Lists that act at once


def _secret_lines(view: FormView) -> Iterator[Line]:
    """The custom secrets; a value is never told."""
    yield from _unread(view, RowKind.SECRET, known=view.lists.secrets is not None)
    for secret in view.secrets():
        yield _row(RowKind.SECRET, secret.name, secret.description or "", cell(Shown("value stored"), Tone.GOOD))
    if view.lists.secrets == () and not view.query:
        yield _empty(RowKind.SECRET, " adds one; sandboxes get it as a variable.")


def _token_lines(view: FormView) -> Iterator[Line]:
    """The git providers that a token is stored for."""
    for provider, host in view.tokens.items():
        if view.matches(provider, host or "", Group.TOKENS):
            yield _row(RowKind.TOKEN, provider, host or "its usual host", cell(Shown("token stored"), Tone.GOOD))
    if not view.tokens and not view.query:
        yield _empty(RowKind.TOKEN, " sets one.")


def _profile_lines(view: FormView) -> Iterator[Line]:
    """The LLM profiles."""
    profiles = view.lists.profiles
    yield from _unread(view, RowKind.PROFILE, known=profiles is not None)
    for profile in view.profiles():
        is_active = profiles is not None and profile.name == profiles.active
        chip = cell(Shown("active"), Tone.GOOD) if is_active else ()
        tone = Tone.STRONG if is_active else Tone.PLAIN
        yield _row(RowKind.PROFILE, profile.name, profile.model or "", chip, tone=tone)
    if profiles is not None and not profiles.items and not view.query:
        yield _empty(RowKind.PROFILE, " saves the LLM settings as one.")


def _row(kind: RowKind, name: str, said: str, chip: Cell, *, tone: Tone = Tone.PLAIN) -> Line:
    """A named row, and what is said of it."""
    return Line(((cell(brief(name), tone), LABEL_WIDTH), (cell(brief(said), Tone.MUTED), 0)), chip, f"{kind}{name}")


def _unread(view: FormView, kind: RowKind, *, known: bool) -> Iterator[Line]:
    trouble = view.lists.trouble.get(AT_ONCE[kind])
    if (trouble is not None or not known) and not view.query:
        said = cell(line(trouble), Tone.WARN) if trouble is not None else cell(Shown("Reading…"), Tone.MUTED)
        yield Line(((said, 0),), row=kind)


def _empty(kind: RowKind, hint: str) -> Line:
    said: Cell = ((Shown("None yet. "), Tone.MUTED), (Shown("a"), Tone.KEY), (Shown(hint), Tone.MUTED))
    return Line(((said, 0),), row=kind)
