"""Why a command of the form can't be done now, in one sentence."""

from collections.abc import Callable, Mapping

from quarterdeck.draft.catalogue import BY_KEY
from quarterdeck.draft.field import Control
from quarterdeck.draft.mcp import EntryState
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.view import OTHER_ROW, SERVER_ROW


def why_not(name: str, form: SettingsForm) -> str | None:
    """Why the command of this name can't be done, or None when it can."""
    rule = _RULES.get(name)
    return rule(form) if rule is not None else None


def _why_not_edit(form: SettingsForm) -> str | None:
    if form.row.startswith(OTHER_ROW):
        return "The deck does not know this field; it is sent back as it is."
    if form.row in BY_KEY and BY_KEY[form.row].control is Control.READ_ONLY:
        return "Provider tokens are managed on the service's own integrations page."
    return None if form.row else "There is no field here."


def _why_not_revert(form: SettingsForm) -> str | None:
    entry = form.entry
    edited = entry.state is not EntryState.KEPT if entry is not None else form.row in form.draft.edits
    return None if edited else "Nothing is edited here."


def _why_not_unset(form: SettingsForm) -> str | None:
    if form.row.startswith(SERVER_ROW):
        return "An MCP server is deleted with d."
    field = BY_KEY.get(form.row)
    if field is None or field.control is Control.READ_ONLY:
        return _why_not_edit(form)
    if not field.nullable:
        return (
            f"{field.label} is always on or off."
            if field.control is Control.SWITCH
            else f"{field.label} needs a value."
        )
    if field.secret and form.row not in form.draft.edits and form.draft.stored(form.row) is False:
        return f"{field.label}: nothing is stored."
    return None


def _why_not_server(form: SettingsForm) -> str | None:
    return None if form.entry is not None else "Move to an MCP server first."


_RULES: Mapping[str, Callable[[SettingsForm], str | None]] = {
    "save": lambda form: None if form.draft.edited else "Nothing is edited, so there is nothing to save.",
    "edit": _why_not_edit,
    "revert": _why_not_revert,
    "unset": _why_not_unset,
    "undo": lambda form: None if form.draft.past else "There is nothing to undo.",
    "redo": lambda form: None if form.draft.future else "There is nothing to redo.",
    "delete_server": _why_not_server,
}
