"""One row of the form in cells: its value, and the word at its right that says how it stands."""

from quarterdeck.draft import words
from quarterdeck.draft.field import Control, Field
from quarterdeck.draft.mcp import Entry, EntryState
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.view import SERVER_ROW, FormView

NOTHING = Shown("–")
HIDDEN = Shown("••••••••")
LONGEST = 400
"""Characters of a value that are looked at for one line."""

_ENTRY_CHIPS = {
    EntryState.ADDED: (Shown("new"), Tone.EDITED),
    EntryState.EDITED: (Shown("edited"), Tone.EDITED),
    EntryState.REMOVED: (Shown("will be deleted"), Tone.WARN),
}


def brief(value: str) -> Shown:
    """The beginning of a text in one line."""
    return line(value[:LONGEST])


def value_cell(view: FormView, entry: Field) -> Cell:
    """What a field holds, and what it held before where it is edited."""
    draft = view.draft
    edited = entry.key in draft.edits
    was: Cell = ((brief(f"  was {words.former(draft, entry.key)}"), Tone.MUTED),) if edited else ()
    if was:
        was = ((Shown("  "), Tone.PLAIN), *was)
    if entry.secret:
        held = draft.edits[entry.key] is not None if edited else draft.stored(entry.key)
        return ((HIDDEN, Tone.EDITED if edited else Tone.MUTED) if held else (NOTHING, Tone.MUTED), *was)
    value = draft.value(entry.key)
    if value is None and entry.control is not Control.READ_ONLY:
        return ((line(entry.default) or NOTHING, Tone.MUTED), *was)
    text = brief(words.current(draft, entry.key))
    return ((text, Tone.STRONG if edited else Tone.PLAIN), *was)


def chip(view: FormView, entry: Field) -> Cell:
    """How a field stands, in a word or two."""
    problem = view.problem_at(entry.key)
    edited = entry.key in view.draft.edits
    if problem is not None and problem.stops:
        return cell(Shown("error"), Tone.BAD)
    if entry.key in view.contested:
        return cell(Shown("changed on server"), Tone.WARN)
    if edited:
        return _edit_chip(view, entry)
    if entry.secret:
        stored = view.draft.stored(entry.key)
        return cell(Shown(words.stored_words(view.draft, entry.key)), Tone.GOOD if stored else Tone.MUTED)
    if entry.control is Control.READ_ONLY:
        return cell(Shown("read-only"), Tone.MUTED)
    if view.draft.value(entry.key) is None:
        return cell(Shown("server default" if entry.default else "not set"), Tone.MUTED)
    return ()


def _edit_chip(view: FormView, entry: Field) -> Cell:
    if not entry.secret:
        return cell(Shown("edited"), Tone.EDITED)
    if view.draft.edits[entry.key] is None:
        return cell(Shown("will be cleared"), Tone.WARN)
    return cell(Shown("new value"), Tone.EDITED)


def server_cells(entry: Entry) -> tuple[Cell, Cell, Cell]:
    """Type, name or address, and details of an MCP server."""
    gone, details = entry.removed, brief(words.server_details(entry.server))
    return (
        cell(line(words.server_kind(entry.server)), Tone.MUTED),
        cell(brief(words.server_name(entry.server)), Tone.MUTED if gone else Tone.PLAIN),
        cell(details, Tone.MUTED) if details else (),
    )


def server_chip(view: FormView, entry: Entry) -> Cell:
    """How an MCP server stands: what a save does with it, else whether it has a key."""
    problem = view.problem_at(f"{SERVER_ROW}{entry.row}")
    if problem is not None and problem.stops:
        return cell(Shown("error"), Tone.BAD)
    if entry.state in _ENTRY_CHIPS:
        return (_ENTRY_CHIPS[entry.state],)
    return cell(Shown(words.key_words(entry.server)), Tone.MUTED)
