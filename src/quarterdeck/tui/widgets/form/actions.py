"""What can be done with a row of the form, in the words of its menu and key bar, and why something can't be done."""

from collections.abc import Callable, Iterable, Mapping

from quarterdeck.client.models.mcp import ShttpServer
from quarterdeck.settings.fields import Control, Group
from quarterdeck.settings.mcp import converted, duplicates
from quarterdeck.tui.commands import EVERYWHERE, Command, Place, command_at
from quarterdeck.tui.widgets.bars import Hint
from quarterdeck.tui.widgets.form.view import AT_ONCE, FormView, RowKind, kind_of, name_in

MOST_PROFILES = 10
"""A server refuses more."""
LIST_COMMANDS = frozenset(("edit", "add", "delete", "rename", "new_value"))
"""What can be done with a row of a list that is saved at once, by the names of the commands."""
_IN_BAR = {"save": "Review & save", "undo": "Undo", "filter": "Filter", "row_menu": "Menu"}
_OF_ALL = {"undo_save": "Undo save", "export": "Export", "import": "Import", "unsaved_edits": "Restore edits"}
_PASTE = {"import_servers": "Paste JSON"}
_OF_ROW: Mapping[RowKind, Mapping[str, str]] = {
    RowKind.FIELD: {
        "edit": "Edit",
        "revert": "Revert",
        "unset": "Not set",
        "copy": "Copy key name",
        "add": "Add MCP",
        **_PASTE,
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
        **_PASTE,
        "servers_file": "JSON to file",
        "copy_servers": "Copy all",
        "check_all": "Check all",
        "remove_duplicates": "Drop duplicates",
    },
    RowKind.SECRET: {"edit": "Describe", "add": "Add", "new_value": "New value", "delete": "Delete"},
    RowKind.TOKEN: {"edit": "Set", "add": "Add", "delete": "Clear all"},
    RowKind.PROFILE: {"edit": "Activate", "add": "New", "rename": "Rename", "delete": "Delete"},
}
"""Kind of row -> the commands it has a use for, by the word for them there, in the order of its menu."""


def row_menu(view: FormView, row: str) -> tuple[tuple[Command, str], ...]:
    """What can be done with a row, then with all settings, each with the word for it there."""
    labels = {**_OF_ROW[kind_of(row)], **_OF_ALL}
    entry = view.entry(row)
    if entry is not None:
        labels["disable"] = "Enable" if entry.disabled else "Disable"
        labels["convert"] = f"Convert to {'SSE' if isinstance(entry.server, ShttpServer) else 'HTTP'}"
    return tuple((command_at(Place.SETTINGS, name), label) for name, label in labels.items())


def row_hints(commands: Iterable[Command], row: str, works: Callable[[Command], bool]) -> tuple[Hint, ...]:
    """The hints for a row, in the order of the bar; what the row has no use for is left out."""
    labels = {**_OF_ROW[kind_of(row)], **_IN_BAR}
    return tuple(
        (command.key, labels.get(command.name, command.label), works(command))
        for command in sorted((command for command in commands if command.bar), key=lambda command: command.bar)
        if command in EVERYWHERE or command.name in labels
    )


def acts_at_once(name: str, row: str) -> bool:
    """Whether the command of this name would change something on the server where the cursor is."""
    return kind_of(row) in AT_ONCE and name in LIST_COMMANDS


def why_not(name: str, view: FormView, row: str) -> str | None:
    """Why the command of this name can't be done with a row, or None when it can."""
    rule = _RULES.get(name)
    return rule(view, row) if rule is not None else None


def _edit(view: FormView, row: str) -> str | None:
    kind, field = kind_of(row), view.field(row)
    if kind is RowKind.OTHER:
        return "The deck does not know this field; a save keeps it as it is."
    if kind is RowKind.PROFILE and not name_in(row):
        return _add(view, row)
    if kind is RowKind.PROFILE and _edits_llm(view):
        return "A profile takes the place of the LLM settings, and you have edits of those: save or drop them first."
    if kind is RowKind.FIELD:
        return "There is no field here." if field is None else field.absent or None
    return None


def _add(view: FormView, row: str) -> str | None:
    profiles = view.lists.profiles
    if kind_of(row) is not RowKind.PROFILE:
        return None
    if profiles is not None and len(profiles.items) >= MOST_PROFILES:
        return f"There are {MOST_PROFILES} profiles, and a server keeps no more: delete one first."
    if view.draft.base is None:
        return "Nothing is stored yet that a profile could be made of."
    if _edits_llm(view):
        return "A profile is made of the stored LLM settings, and yours are not saved: save or drop them first."
    return None


def _edits_llm(view: FormView) -> bool:
    return any(view.draft.field_at(key).group == Group.LLM for key in view.draft.edits)


def _revert(view: FormView, row: str) -> str | None:
    if kind_of(row) in AT_ONCE:
        return "What is done here acts at once, so there is nothing to drop."
    return None if view.is_edited(row) else "Nothing is edited here."


def _unset(view: FormView, row: str) -> str | None:
    kind, field = kind_of(row), view.field(row)
    if kind is RowKind.SERVER or kind in AT_ONCE:
        return "What stands in a list is deleted with D."
    if kind is RowKind.MORE:
        return "There is no field here; enter finds those that are not shown."
    if field is None or field.absent:
        return _edit(view, row)
    if not field.can_unset:
        is_switch = field.control is Control.SWITCH
        return f"{field.label} is always on or off." if is_switch else f"{field.label} needs a value."
    if field.secret and row not in view.draft.edits and view.draft.stored(row) is False:
        return f"{field.label}: nothing is stored."
    return None


def _delete(view: FormView, row: str) -> str | None:
    at_once = kind_of(row) in AT_ONCE
    if view.entry(row) is not None or (at_once and name_in(row)):
        return None
    return "There is nothing to delete here." if at_once else "Move to an MCP server first."


def _copy(view: FormView, row: str) -> str | None:
    has_key = kind_of(row) in (RowKind.FIELD, RowKind.OTHER) and row
    return None if has_key or view.entry(row) is not None else "Move to a field first."


def _at_server(view: FormView, row: str) -> str | None:
    return None if view.entry(row) is not None else "Move to an MCP server first."


def _any_server(view: FormView, row: str) -> str | None:
    return None if view.draft.servers.entries else "There is no MCP server."


def _disable(view: FormView, row: str) -> str | None:
    entry = view.entry(row)
    if entry is not None and entry.removed:
        return "It will be deleted at the next save; u takes that back."
    return _at_server(view, row)


def _convert(view: FormView, row: str) -> str | None:
    entry = view.entry(row)
    if entry is not None and converted(entry.server) is None:
        return "A command has no other type; only SSE and HTTP can change places."
    return _disable(view, row)


def _only_at(kind: RowKind, sentence: str) -> Callable[[FormView, str], str | None]:
    return lambda view, row: None if kind_of(row) is kind and name_in(row) else sentence


_RULES: Mapping[str, Callable[[FormView, str], str | None]] = {
    "save": lambda view, row: None if view.draft.edited else "Nothing is edited, so there is nothing to save.",
    "edit": _edit,
    "revert": _revert,
    "unset": _unset,
    "undo": lambda view, row: None if view.draft.past else "There is nothing to undo.",
    "redo": lambda view, row: None if view.draft.future else "There is nothing to redo.",
    "add": _add,
    "delete": _delete,
    "copy": _copy,
    "undo_save": lambda view, row: (
        "Save or drop your edits first: a save is taken back from what is stored." if view.draft.edited else None
    ),
    "rename": _only_at(RowKind.PROFILE, "Move to an LLM profile first."),
    "new_value": _only_at(RowKind.SECRET, "Move to a secret first."),
    "copy_server": _at_server,
    "check": _at_server,
    "disable": _disable,
    "convert": _convert,
    "check_all": _any_server,
    "copy_servers": _any_server,
    "servers_file": _any_server,
    "remove_duplicates": lambda view, row: (
        None if duplicates(view.draft.servers) else "No MCP server is in the list twice."
    ),
}
