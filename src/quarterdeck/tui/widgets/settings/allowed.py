"""Why a command of the form can't be done now, in one sentence."""

from collections.abc import Callable, Mapping

from quarterdeck.settings.fields import Control, Group
from quarterdeck.settings.mcp import EntryState
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.key_hints import row_menu
from quarterdeck.tui.widgets.settings.lists import MOST_PROFILES
from quarterdeck.tui.widgets.settings.rows import AT_ONCE, RowKind, name_in


def why_not(name: str, form: SettingsForm) -> str | None:
    """Why the command of this name can't be done, or None when it can."""
    rule = _RULES.get(name)
    return rule(form) if rule is not None else None


def acts_at_once(name: str, form: SettingsForm) -> bool:
    """Whether the command of this name would change something on the server where the cursor is."""
    return form.kind in AT_ONCE and name in ("edit", "add", "delete", "rename", "new_value")


def _why_not_edit(form: SettingsForm) -> str | None:
    match form.kind:
        case RowKind.OTHER:
            return "The deck does not know this field; a save keeps it as it is."
        case RowKind.PROFILE:
            return _why_not_activate(form) if name_in(form.row) else _why_not_add(form)
        case RowKind.FIELD:
            field = form.draft.fields.by_key.get(form.row)
            return "There is no field here." if field is None else field.absent or None
        case _:
            return None


def _why_not_activate(form: SettingsForm) -> str | None:
    if _edits_llm(form):
        return "A profile takes the place of the LLM settings, and you have edits of those: save or drop them first."
    return None


def _why_not_add(form: SettingsForm) -> str | None:
    if form.kind is not RowKind.PROFILE:
        return None
    if form.view.lists.is_full:
        return f"There are {MOST_PROFILES} profiles, and a server keeps no more: delete one first."
    if form.draft.base is None:
        return "Nothing is stored yet that a profile could be made of."
    if _edits_llm(form):
        return "A profile is made of the stored LLM settings, and yours are not saved: save or drop them first."
    return None


def _edits_llm(form: SettingsForm) -> bool:
    return any(form.draft.field_at(key).group == Group.LLM for key in form.draft.edits)


def _why_not_revert(form: SettingsForm) -> str | None:
    if form.kind in AT_ONCE:
        return "What is done here acts at once, so there is nothing to drop."
    entry = form.entry
    edited = entry.state is not EntryState.KEPT if entry is not None else form.row in form.draft.edits
    return None if edited else "Nothing is edited here."


def _why_not_unset(form: SettingsForm) -> str | None:
    if form.kind is RowKind.SERVER or form.kind in AT_ONCE:
        return "What stands in a list is deleted with d."
    if form.kind is RowKind.MORE:
        return "There is no field here; enter finds those that are not shown."
    field = form.draft.fields.by_key.get(form.row)
    if field is None or field.absent:
        return _why_not_edit(form)
    if not field.can_unset:
        is_switch = field.control in (Control.SWITCH, Control.THREE_WAY)
        return f"{field.label} is always on or off." if is_switch else f"{field.label} needs a value."
    if field.secret and form.row not in form.draft.edits and form.draft.stored(form.row) is False:
        return f"{field.label}: nothing is stored."
    return None


def _why_not_delete(form: SettingsForm) -> str | None:
    if form.entry is not None or (form.kind in AT_ONCE and name_in(form.row)):
        return None
    return "There is nothing to delete here." if form.kind in AT_ONCE else "Move to an MCP server first."


def _why_not_copy(form: SettingsForm) -> str | None:
    has_key = form.kind in (RowKind.FIELD, RowKind.OTHER) and form.row
    return None if has_key or form.entry is not None else "Move to a field first."


def _only_at(kind: RowKind, sentence: str) -> Callable[[SettingsForm], str | None]:
    return lambda form: None if form.kind is kind and name_in(form.row) else sentence


_RULES: Mapping[str, Callable[[SettingsForm], str | None]] = {
    "save": lambda form: None if form.draft.edited else "Nothing is edited, so there is nothing to save.",
    "edit": _why_not_edit,
    "revert": _why_not_revert,
    "unset": _why_not_unset,
    "undo": lambda form: None if form.draft.past else "There is nothing to undo.",
    "redo": lambda form: None if form.draft.future else "There is nothing to redo.",
    "add": _why_not_add,
    "delete": _why_not_delete,
    "undo_save": lambda form: (
        "Save or drop your edits first: a save is taken back from what is stored." if form.draft.edited else None
    ),
    "row_menu": lambda form: None if row_menu(form) else "There is nothing to do here.",
    "copy": _why_not_copy,
    "rename": _only_at(RowKind.PROFILE, "Move to an LLM profile first."),
    "new_value": _only_at(RowKind.SECRET, "Move to a secret first."),
}
