"""The form as lines: headings, fields, MCP servers as a table, names in lists, and problems below their rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from textwrap import wrap
from typing import ClassVar

from quarterdeck.client.models.mcp import name_of
from quarterdeck.settings import words
from quarterdeck.settings.fields import Field, Group
from quarterdeck.settings.form_fields import NOT_HERE, FormFields
from quarterdeck.settings.mcp import Entry
from quarterdeck.settings.review import effect_word
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.text import Shown, end_of, line
from quarterdeck.tui.widgets.form.rows import AT_ONCE, CHIPS, FormView, Row, RowKind
from quarterdeck.tui.widgets.strips import cell_length

LABEL_WIDTH, LEAST_VALUE = 24, 37
"""Cells of labels and names, and of what stands beside longer ones at least."""
GUTTER = 2
"""Cells before a line: cursor and a space."""
MARGIN = 1
"""Empty cells after the chip."""
EDGES = 4
"""Cells of a line that sentences do not use: cursor, space, margin."""
LEAST_FORMER = 8
"""Cells in which a former value, behind its "was", says anything."""
SHORTEST = 20
LONGEST = 400
"""Characters of a value that are considered for one line."""
NOTHING = Shown("–")
HIDDEN, NEW = Shown("••••••••"), Shown("••••")
GAP = (Shown("  "), Tone.PLAIN)
DOT = (Shown(" · "), Tone.MUTED)
STATE, KIND, KEY = 9, 6, 9
"""Cells of the columns that always have the same few words."""
NAME_SHARE = 0.5
"""Maximum share of the name in the cells of name and details."""
LEAST_NAME = 17
LEAST_SHARED = 44
"""With fewer cells, name and details have no columns of their own."""
OF_THE_LIST = frozenset({"name", "transport"})
"""Members that some servers add to each entry; the table already shows them."""
_KEY_TONES = {"to type": Tone.WARN, "typed": Tone.GOOD, "stored": Tone.PLAIN}
_MEMBERS = {"": "entry", "url": "address", "api_key": "key", "args": "arguments", "env": "variables"}
"""The word for a member that has a problem."""


@dataclass(frozen=True, slots=True)
class FormLine:
    """One line: cells with their widths (0 takes the rest) and the chip at its right end.

    `row` is the id of the row it belongs to; a line without one is never under the cursor.
    """

    cells: tuple[tuple[Cell, int], ...] = ()
    chip: Cell = ()
    row: str = ""
    struck: ClassVar[bool] = False


@dataclass(frozen=True)
class ServerLine:
    """The line of an MCP server; its cells are made only when it is painted, for there may be a thousand."""

    row: str
    entry: Entry
    chip: Cell
    name_width: int
    """Cells of the name; 0 if it shares the column of the details."""
    room: int
    """Cells that the name can take."""
    hides_secrets: bool
    """Whether the service does not tell the keys of its servers."""

    @property
    def struck(self) -> bool:
        """Whether it is struck through."""
        return self.entry.removed

    @cached_property
    def cells(self) -> tuple[tuple[Cell, int], ...]:
        """State, type, key, name and details; the name is cut at its beginning."""
        entry = self.entry
        place = words.entry_place_word(entry)
        state = cell(place, Tone.REST if entry.was is None else Tone.GOOD) if place else cell(NOTHING, Tone.MUTED)
        key = words.entry_key_words(entry, hidden=self.hides_secrets)
        called = brief(words.server_name(entry.server))
        name = cell(end_of(called, self.room), Tone.MUTED if entry.removed or entry.disabled else Tone.PLAIN)
        unknown = sorted((entry.server.model_extra or {}).keys() - OF_THE_LIST)
        said = " · ".join(filter(None, (words.server_details(entry.server), ", ".join(unknown))))
        fits = self.name_width or len(called) < self.room - len(GAP[0])
        details = cell(brief(said), Tone.MUTED) if said and fits else EMPTY
        rest = ((name, self.name_width), (details, 0)) if self.name_width else ((_joined(GAP, name, details), 0),)
        return (
            (state, STATE),
            (cell(entry.server.kind, Tone.MUTED), KIND),
            (cell(key or NOTHING, _KEY_TONES.get(key, Tone.MUTED)), KEY),
            *rest,
        )


Line = FormLine | ServerLine
NO_MATCH = FormLine(((cell("Nothing matches; esc shows all fields.", Tone.MUTED), 0),))


def brief(value: str) -> Shown:
    """Return the beginning of a text as one line."""
    return line(value[:LONGEST])


def label_width(fields: FormFields, width: int) -> int:
    """Return the cells of labels and names in lines of this width."""
    return max(LABEL_WIDTH, min(fields.longest_label + 1, width - LEAST_VALUE))


def form_lines(view: FormView, width: int) -> Sequence[Line]:
    """Return all lines of the form; `width` is in cells. A group without matches is left out."""
    found: list[Line] = []
    for group, rows in groupby(view.rows.values(), key=lambda row: row.group):
        if found:
            found.append(FormLine())
        found.append(_heading(view, group))
        shown = list(rows)
        if group == Group.MCP and shown[0].entry is not None:
            found += _table(view, shown, width)
        else:
            for row in shown:
                found += _lines(view, row, width)
    return found or [NO_MATCH]


def _heading(view: FormView, group: str) -> FormLine:
    """Return the heading of a group, with the number of its edits and errors."""
    edits, errors = view.edits_in[group], view.errors_in[group]
    counted = [cell(f"{edits:,} edited", Tone.EDITED)] if edits else []
    counted += [cell(words.counted(errors, "error"), Tone.BAD)] if errors else []
    chip = _joined(GAP, *counted) if group not in AT_ONCE else cell("changes act at once", Tone.MUTED)
    return FormLine(((cell(group, Tone.KEY), 0),), chip)


def _joined(between: tuple[Shown, Tone], *cells: Cell) -> Cell:
    """Join the cells that are not empty with a separator."""
    spans = [(between, *each) for each in cells if each]
    return tuple(span for each in spans for span in each)[1:]


def _lines(view: FormView, row: Row, width: int) -> Iterator[FormLine]:
    """Yield the line of a row outside a table, and what is wrong with it."""
    labels = label_width(view.draft.fields, width)
    if row.field is not None:
        dim = row.field.absent or view.draft.off_for(row.name) is not None
        label = cell(brief(row.field.label), Tone.MUTED if dim else Tone.PLAIN)
        value, state = _stands(view, row.field)
        effect = effect_word(row.field, view.server)
        chip = _change_chip(view, row) or _joined(DOT, state, cell(effect, Tone.REST) if effect else EMPTY)
        if sum(len(said) for said, _ in (*value, *chip)) > width - labels - EDGES:
            chip = chip[:1] if row.name in view.draft.edits else chip[-1:]  # the value goes before one of two remarks
        room = width - labels - EDGES - cell_length(chip)
        if cell_length(value) > room and room - cell_length(value[:2]) < LEAST_FORMER:
            value = value[:1]
        yield FormLine(((label, labels), (value, 0)), chip, row.id)
        yield from _problem_lines(view, row, labels, width)
    elif row.kind is RowKind.MORE:
        said = _spans((f"{row.about} more: ", Tone.MUTED), ("/", Tone.KEY), (" finds them.", Tone.MUTED))
        yield FormLine(((said, 0),), row=row.id)
    elif not row.name:
        yield FormLine(((_why_empty(view, row), 0),), row=row.id)
    else:
        tones = (Tone.PLAIN, Tone.GOOD) if row.at_once else (Tone.MUTED, Tone.MUTED)
        named = (cell(brief(row.name), tones[0]), labels), (cell(brief(row.about), Tone.MUTED), 0)
        yield FormLine(named, cell(row.stands, tones[1]), row.id)


def _problem_lines(view: FormView, row: Row, indent: int, width: int) -> Iterator[FormLine]:
    """Yield the sentence about what is wrong with an edited row."""
    problem = view.problems.get(row.id)
    if problem is None or not view.is_edited(row):
        return
    mark, tone = ("! ", Tone.BAD) if problem.stops else ("· ", Tone.WARN)
    said = wrap(line(problem.words), max(width - indent - EDGES, SHORTEST), initial_indent=mark, subsequent_indent="  ")
    for part in said:
        yield FormLine((((), indent), (((Shown(part), tone),), 0)), row=row.id)


def _spans(*spans: tuple[str, Tone]) -> Cell:
    """Return a cell with the deck's own words."""
    return tuple((Shown(text), tone) for text, tone in spans)


_ADDS = {
    RowKind.SECRET: " adds one; sandboxes get it as a variable.",
    RowKind.TOKEN: " sets one.",
    RowKind.PROFILE: " saves the LLM settings as one.",
    RowKind.SERVER: " adds one; the menu on ",
}
"""What the add key does, for an empty list."""


def _why_empty(view: FormView, row: Row) -> Cell:
    none = view.why_untold(row) or "None yet."
    if row.group in view.lists.trouble:
        return cell(none, Tone.WARN)
    if row.stands or view.read_only:
        return cell(none, Tone.MUTED)
    said = _spans((f"{none} ", Tone.MUTED), ("a", Tone.KEY), (_ADDS[row.kind], Tone.MUTED))
    if row.kind is RowKind.SERVER:
        said += _spans(("f2", Tone.KEY), (" takes pasted JSON.", Tone.MUTED))
    return said


# Fields


def _stands(view: FormView, entry: Field) -> tuple[Cell, Cell]:
    """Return the value of a field, with its former one if it is edited, and its state in one or two words."""
    draft, key, off = view.draft, entry.key, view.draft.off_for(entry.key)
    former = brief(words.former(draft, key))
    unset = (line(entry.default) or NOTHING, Tone.MUTED)
    if key in draft.edits:
        value, state = (brief(words.after_save(draft, key)), Tone.STRONG), cell("edited", Tone.EDITED)
        if draft.edits[key] is None:
            value, state = unset, cell("will be cleared", Tone.WARN) if entry.secret else state
        elif entry.secret:
            value, state = (NEW, Tone.EDITED), cell("new value", Tone.EDITED)
        untold = entry.secret and draft.stored(key) is None
        return (value, *(() if untold else (GAP, (brief(f"was {former}"), Tone.MUTED)))), state
    if entry.absent:
        here = "not on this server" if entry.absent == NOT_HERE else "not for this agent"
        return cell(NOTHING, Tone.MUTED), cell(here, Tone.MUTED)
    value, state = (former, Tone.MUTED if off else Tone.PLAIN), EMPTY
    if entry.secret:
        held = draft.stored(key)
        value, state = (HIDDEN if held else NOTHING, Tone.MUTED), cell(former, Tone.GOOD if held else Tone.MUTED)
    elif draft.was(key) is None:
        value, state = unset, cell("server default" if entry.default else "not set", Tone.MUTED)
    elif draft.base is None:
        state = cell("server default", Tone.MUTED)
    return (value,), cell(brief(f"needs {off.label}"), Tone.MUTED) if off else state


def _change_chip(view: FormView, row: Row) -> Cell:
    """Return the chip with the highest priority: an error, or a change by somebody else."""
    problem = view.problems.get(row.id)
    if problem is not None and problem.stops:
        return cell("error", Tone.BAD)
    return cell("changed on server", Tone.WARN) if view.is_news(row) else EMPTY


# MCP servers: the same columns for all three transports; the width decides which are shown


def _table(view: FormView, rows: Sequence[Row], width: int) -> Iterator[Line]:
    """Yield the banner about duplicate servers, the table header, and the servers."""
    entries = [row.entry for row in rows if row.entry is not None]
    groups = view.draft.servers.duplicates
    more = sum(len(group) - 1 for group in groups)
    if more:
        local = view.server is not None and view.server.local  # it has no config.toml
        stored = {entry.row for entry in entries if entry.was is not None and not local}
        likely = ", likely from config.toml" if any(len(stored.intersection(group)) > 1 for group in groups) else ""
        said = f" here removes {words.counted(more, 'duplicate')}{likely}"
        yield FormLine(((_spans(("f2", Tone.KEY), (said, Tone.WARN)), 0),))
    shared = width - GUTTER - MARGIN - STATE - KIND - KEY
    longest = max(len(name_of(entry.server)) for entry in entries) + 2
    name_width = 0 if shared < LEAST_SHARED else min(max(longest, LEAST_NAME), int(shared * NAME_SHARE))
    titles = [("state", STATE), ("type", KIND), ("key", KEY), ("name or address", name_width)]
    titles += [("details", 0)] if name_width else []
    yield FormLine(tuple((cell(title, Tone.MUTED), cells) for title, cells in titles))
    twice = frozenset(row for group in groups for row in group)
    for row, entry in zip(rows, entries, strict=True):
        chip = _server_chip(view, row, entry, is_twice=entry.row in twice)
        if len(name_of(entry.server)) + cell_length(chip) > shared:
            chip = chip[-1:] if entry.edited else chip[:1]  # the name goes before one of two remarks
        room = (name_width or shared - cell_length(chip)) - 1
        yield ServerLine(row.id, entry, chip, name_width, room, view.hides_secrets)
        if not entry.removed:
            yield from _problem_lines(view, row, STATE, width)


def _server_chip(view: FormView, row: Row, entry: Entry, *, is_twice: bool) -> Cell:
    """Return the result of a check, and what is wrong with a server or what a save does with it."""
    tried, problem = view.check_of(entry), view.problems.get(row.id)
    stands = _change_chip(view, row)
    if not stands and entry.state in CHIPS:
        stands = (CHIPS[entry.state],)
    elif not stands and entry.disabled:
        stands = cell("kept here", Tone.REST)
    elif not stands and problem is not None:
        stands = cell("twice" if is_twice else f"{_MEMBERS.get(problem.member, problem.member)}?", Tone.WARN)
    return _joined(DOT, EMPTY if tried is None else cell(tried.brief, tried.tone), stands)
