"""One row of the form in cells: its value, and the word at its right that says how it stands."""

from quarterdeck.settings import words
from quarterdeck.settings.fields import Field
from quarterdeck.settings.form_fields import NOT_HERE
from quarterdeck.settings.review import effect_word
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.settings.view import FormView

NOTHING = Shown("–")
HIDDEN = Shown("••••••••")
LONGEST = 400
"""Characters of a value that are looked at for one line."""


def brief(value: str) -> Shown:
    """The beginning of a text in one line."""
    return line(value[:LONGEST])


def value_cell(view: FormView, entry: Field) -> Cell:
    """What a field holds, and what it held before where it is edited."""
    draft = view.draft
    edited = entry.key in draft.edits
    if entry.absent and not edited:
        return cell(NOTHING, Tone.MUTED)
    was: Cell = ((brief(f"  was {words.former(draft, entry.key)}"), Tone.MUTED),) if edited else ()
    if was:
        was = ((Shown("  "), Tone.PLAIN), *was)
    if entry.secret:
        held = draft.edits[entry.key] is not None if edited else draft.stored(entry.key)
        return ((HIDDEN, Tone.EDITED if edited else Tone.MUTED) if held else (NOTHING, Tone.MUTED), *was)
    value = draft.value(entry.key)
    if value is None:
        return ((line(entry.default) or NOTHING, Tone.MUTED), *was)
    text = brief(words.current(draft, entry.key))
    rests = draft.off_for(entry.key) is not None
    return ((text, Tone.STRONG if edited else Tone.MUTED if rests else Tone.PLAIN), *was)


def chip(view: FormView, entry: Field) -> Cell:
    """How a field stands, in a word or two, and whether this server's conversations go by it."""
    problem = view.problem_at(entry.key)
    if problem is not None and problem.stops:
        return cell(Shown("error"), Tone.BAD)
    if view.is_news(entry.key):
        return cell(Shown("changed on server"), Tone.WARN)
    state = _edit_chip(view, entry) if entry.key in view.draft.edits else _rest_chip(view, entry)
    effect = effect_word(entry, view.server)
    if not effect:
        return state
    gap: Cell = cell(Shown(" · "), Tone.MUTED) if state else ()
    return (*state, *gap, (Shown(effect), Tone.REST))


def _rest_chip(view: FormView, entry: Field) -> Cell:
    if entry.absent:
        return cell(Shown("not on this server" if entry.absent == NOT_HERE else "not for this agent"), Tone.MUTED)
    off = view.draft.off_for(entry.key)
    if off is not None:
        return cell(brief(f"needs {off.label}"), Tone.MUTED)
    if entry.secret:
        stored = view.draft.stored(entry.key)
        return cell(Shown(words.stored_words(view.draft, entry.key)), Tone.GOOD if stored else Tone.MUTED)
    if view.draft.value(entry.key) is None:
        return cell(Shown("server default" if entry.default else "not set"), Tone.MUTED)
    return ()


def _edit_chip(view: FormView, entry: Field) -> Cell:
    if not entry.secret:
        return cell(Shown("edited"), Tone.EDITED)
    if view.draft.edits[entry.key] is None:
        return cell(Shown("will be cleared"), Tone.WARN)
    return cell(Shown("new value"), Tone.EDITED)
