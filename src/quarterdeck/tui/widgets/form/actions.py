"""The commands for a row of the form, their labels in its menu and key bar, and why some cannot be done."""

from collections.abc import Callable, Mapping

from quarterdeck.client.models.mcp import ShttpServer
from quarterdeck.settings.fields import Control
from quarterdeck.settings.mcp import converted, duplicates
from quarterdeck.tui.commands import EVERYWHERE, Command, Place, bar_commands, command_at
from quarterdeck.tui.widgets.bars import Hint
from quarterdeck.tui.widgets.form.rows import MOST_PROFILES, FormView, Row, RowKind

LIST_COMMANDS = frozenset(("edit", "add", "delete", "rename", "new_value"))
"""Commands for a row of a list that is saved at once, by name."""
_OF_FORM = frozenset({"save", "undo", "filter"})
"""Commands that the key bar always has."""
_OF_ALL = ("undo_save", "export", "import", "unsaved_edits")
"""Commands for all settings, at the end of each menu."""
_OF_ROW: Mapping[RowKind, Mapping[str, str]] = {
    RowKind.FIELD: {
        "edit": "Edit",
        "revert": "Revert",
        "unset": "Not set",
        "copy": "Copy key name",
        "add": "Add MCP",
        "import_servers": "Paste JSON",
    },
    RowKind.OTHER: {"copy": "Copy key name"},
    RowKind.MORE: {"edit": "Find"},
    RowKind.SERVER: {
        "edit": "Edit",
        "disable": "Disable",
        "delete": "Delete",
        "revert": "Revert",
        "add": "Add MCP",
        "copy_server": "Copy as new",
        "check": "Check",
        "convert": "Convert",
        "copy": "Copy JSON",
        "import_servers": "Paste JSON",
        "servers_file": "JSON to file",
        "copy_servers": "Copy all",
        "check_all": "Check all",
        "remove_duplicates": "Drop duplicates",
    },
    RowKind.SECRET: {"edit": "Describe", "add": "Add", "new_value": "New value", "delete": "Delete"},
    RowKind.TOKEN: {"edit": "Set", "add": "Add", "delete": "Clear all"},
    RowKind.PROFILE: {"edit": "Activate", "add": "New", "rename": "Rename", "delete": "Delete"},
}
"""The commands of each kind of row with their labels, in the order of its menu."""
_ANYWHERE = frozenset({"add", "import_servers", "servers_file", "copy_servers", "check_all", "remove_duplicates"})
"""Commands among them that need no row."""
_OF_A_ROW = frozenset(name for labels in _OF_ROW.values() for name in labels) - _ANYWHERE
LLM_EDITED = "You have edits of the LLM settings: save or drop them first."
NONE_YET = "There is none yet; a adds one."
NOT_HERE = "Not for this row; f2 shows what can be done here."


def row_menu(row: Row) -> tuple[tuple[Command, str], ...]:
    """Return the commands for a row, then those for all settings, each with its label there."""
    labels = dict(_OF_ROW[row.kind])
    if row.entry is not None:
        labels["disable"] = "Enable" if row.entry.disabled else "Disable"
        labels["convert"] = f"Convert to {'SSE' if isinstance(row.entry.server, ShttpServer) else 'HTTP'}"
    commands = [command_at(Place.SETTINGS, name) for name in (*labels, *_OF_ALL)]
    return tuple((command, labels.get(command.name, command.label)) for command in commands)


def row_hints(row: Row, works: Callable[[Command], bool]) -> tuple[Hint, ...]:
    """Return the key hints for a row, in the order of the bar, without commands that the row does not support."""
    labels = _OF_ROW[row.kind]
    return tuple(
        (command.key, labels.get(command.name, command.label), works(command))
        for command in bar_commands(Place.SETTINGS)
        if command in EVERYWHERE or command.name in _OF_FORM or command.name in labels
    )


def acts_at_once(name: str, row: Row) -> bool:
    """Whether a command would change something on the server at once, on the row under the cursor."""
    return row.at_once and name in LIST_COMMANDS


def why_not(name: str, view: FormView, row: Row) -> str | None:
    """Return why a command cannot be applied to a row, None if it can."""
    has_use = name in _OF_ROW[row.kind] and bool(row.name or (name == "edit" and row.group))
    if name in _OF_A_ROW and not has_use:
        return NONE_YET if name in _OF_ROW[row.kind] and not row.name else NOT_HERE
    draft, field, entry = view.draft, row.field, row.entry
    match name:
        case "save" if not draft.edited:
            return "Nothing is edited, so there is nothing to save."
        case "undo" if not draft.past:
            return "There is nothing to undo."
        case "redo" if not draft.future:
            return "There is nothing to redo."
        case "undo_save" if draft.edited:
            return "Save or drop your edits first: a save is taken back from what is stored."
        case "check_all" | "copy_servers" | "servers_file" if not draft.servers.entries:
            return "There is no MCP server."
        case "remove_duplicates" if not duplicates(draft.servers):
            return "No MCP server is in the list twice."
        case "revert" if not view.is_edited(row):
            return "Nothing is edited here."
        case "disable" | "convert" if entry is not None and entry.removed:
            return "It will be deleted at the next save; u takes that back."
        case "convert" if entry is not None and converted(entry.server) is None:
            return "A command has no other type; only SSE and HTTP can change places."
        case "edit" | "unset" if field is not None and field.absent:
            return field.absent
        case "unset" if field is not None and not field.can_unset:
            is_switch = field.control is Control.SWITCH
            return f"{field.label} is always on or off." if is_switch else f"{field.label} needs a value."
        case "unset" if field is not None and field.secret and view.draft.known(row.name) is False:
            return None if row.name in draft.edits else f"{field.label}: nothing is stored."
        case "edit" if row.kind is RowKind.PROFILE and row.name:
            return LLM_EDITED if view.edits_llm else None
        case "edit" | "add" if row.kind is RowKind.PROFILE:
            return _add_profile(view)
    return None


def _add_profile(view: FormView) -> str | None:
    if len(view.lists.profile_names) >= MOST_PROFILES:
        return f"There are {MOST_PROFILES} profiles, and a server keeps no more: delete one first."
    if view.draft.base is None:
        return "Nothing is stored yet that a profile could be made of."
    return LLM_EDITED if view.edits_llm else None
