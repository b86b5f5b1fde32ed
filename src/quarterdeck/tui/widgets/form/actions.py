"""The commands for a row of the form, their labels in its menu and key bar, and why some cannot be done."""

from collections.abc import Callable, Mapping

from quarterdeck.client.models.mcp import ShttpServer, StdioServer
from quarterdeck.settings.fields import Control
from quarterdeck.settings.mcp import Entry, converted
from quarterdeck.tui.commands import EVERYWHERE, Command, Place, command_at, most_needed_first
from quarterdeck.tui.widgets.bars import Hint
from quarterdeck.tui.widgets.form.rows import MOST_PROFILES, NOWHERE, FormView, Row, RowKind

LIST_COMMANDS = frozenset(("edit", "add", "delete", "rename", "new_value"))
"""Commands for a row of a list that is saved at once, by name."""
_OF_FORM = frozenset({"save", "undo", "filter"})
"""Commands that the key bar always has."""


def _command(name: str, label: str = "", says: str = "") -> Command:
    """Return a command with its label and help for a kind of row, where they differ from the usual ones."""
    usual = command_at(Place.SETTINGS, name)
    return usual._replace(label=label or usual.label, help=says or usual.help)


_PASTE = _command("import_servers")
_ADD_SERVER = _command("add", "Add MCP", "Add an MCP server")
_COPY_NAME = _command("copy", says="Copy the name of the field, not its value")
_OF_ROW: Mapping[RowKind, tuple[Command, ...]] = {
    RowKind.FIELD: (
        _command("edit", says="Edit the field; escape keeps the edit"),
        _command("revert", says="Drop the edit of the field"),
        _command("unset"),
        _COPY_NAME,
        _ADD_SERVER,
        _PASTE,
    ),
    RowKind.OTHER: (_COPY_NAME,),
    RowKind.NONE: (),
    RowKind.MORE: (_command("edit", "Find", "Find fields that are not shown")._replace(changes=False),),
    RowKind.SERVER: (
        _command("edit", says="Edit the MCP server"),
        _command("disable", says="Keep the MCP server on this machine only"),
        _command("delete", says="Delete the MCP server"),
        _command("revert", says="Drop the edit of the MCP server"),
        _ADD_SERVER,
        _command("copy_server"),
        _command("check"),
        _command("convert"),
        _command("copy", "Copy JSON", "Copy the MCP server as JSON, without secrets"),
        _PASTE,
        _command("servers_file", "JSON to file", "Write it to a file as JSON, without secrets"),
        _command("copy_servers", "Copy all"),
        _command("check_all", "Check all"),
        _command("remove_duplicates"),
    ),
    RowKind.SECRET: (
        _command("edit", "Describe", "Change its name or description; its value stays"),
        _command("add", says="Add a secret, at once"),
        _command("new_value"),
        _command("delete", says="Delete the secret, at once"),
    ),
    RowKind.TOKEN: (
        _command("edit", "Set", "Set its token or host, at once"),
        _command("add", says="Set the token of a git provider, at once"),
        _command("delete", "Clear all", "Clear the tokens of all git providers, at once"),
    ),
    RowKind.PROFILE: (
        _command("edit", "Activate", "Put it in use, in place of the LLM settings now stored"),
        _command("add", "New", "Save the LLM settings as a profile, at once"),
        _command("rename"),
        _command("delete", says="Delete the profile, at once"),
    ),
}
"""The commands of each kind of row, in the order of its menu."""
_OF_ALL = tuple(map(_command, ("detail", "undo_save", "export", "import", "unsaved_edits")))
"""Commands for every row and for all settings, at the end of each menu."""
_BY_NAME = {kind: {command.name: command for command in commands} for kind, commands in _OF_ROW.items()}
_ANYWHERE = frozenset({"import_servers", "servers_file", "copy_servers", "check_all", "remove_duplicates"})
"""Commands among them that need no row."""
_OF_A_ROW = frozenset().union(*_BY_NAME.values()) - _ANYWHERE
_OF_A_NAME = _OF_A_ROW - {"add", "edit"}
"""Commands that a list without rows does not have."""
LLM_EDITED = "You have edits of the LLM settings: save or drop them first."
NONE_YET = "There is none yet."
NO_ROW = "Nothing matches the filter; esc shows all fields."
NOT_HERE = "Not for this row; f2 shows what can be done here."


def row_commands(row: Row) -> tuple[Command, ...]:
    """Return the commands for a row, then those for all settings."""
    commands = (*(on_row(command, row) for command in _OF_ROW[row.kind]), *_OF_ALL)
    return commands if row.entry is None else tuple(_on_server(command, row.entry) for command in commands)


def _on_server(command: Command, entry: Entry) -> Command:
    """Return a command as the menu of this MCP server has it."""
    match command.name:
        case "disable" if entry.disabled:
            return command._replace(label="Enable", help="Put it back on the service")
        case "delete" if entry.before is not None:
            return command._replace(help="Delete the MCP server at the next save")
        case "convert" if not isinstance(entry.server, StdioServer):
            other = "SSE" if isinstance(entry.server, ShttpServer) else "HTTP"
            return command._replace(label=f"Convert to {other}", help=f"Reach it over {other} from the next save on")
    return command


def row_hints(row: Row, works: Callable[[Command], bool]) -> tuple[Hint, ...]:
    """Return the key hints for a row, in the order of the bar, without commands that the row does not support."""
    return tuple(
        (command.key, on_row(command, row).label, works(command))
        for command in most_needed_first(Place.SETTINGS)
        if command.bar and (command in EVERYWHERE or command.name in _OF_FORM or command.name in _BY_NAME[row.kind])
        if row.name or command.name not in (*_OF_A_NAME, "edit")  # in an empty list, enter adds to it, as a does
    )


def on_row(command: Command, row: Row) -> Command:
    """Return a command as the menu of a row has it; in an empty list, enter adds to it."""
    own = _BY_NAME[row.kind]
    if command.name == "edit" and "add" in own and not row.name:
        return command._replace(label=own["add"].label, help=own["add"].help)
    return own.get(command.name, command)


def acts_at_once(name: str, row: Row) -> bool:
    """Whether a command would change something on the server at once, on the row under the cursor."""
    return row.at_once and name in LIST_COMMANDS


def why_not(name: str, view: FormView, row: Row) -> str | None:
    """Return why a command cannot be applied to a row, None if it can."""
    if name in _OF_A_ROW and name not in _BY_NAME[row.kind]:
        return NO_ROW if row is NOWHERE else NOT_HERE
    if name in _OF_A_NAME and not row.name:
        return view.why_untold(row) or NONE_YET
    draft, field, entry = view.draft, row.field, row.entry
    match name:
        case "detail" if row is NOWHERE:
            return NO_ROW
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
        case "remove_duplicates" if not draft.servers.duplicates:
            return "No two MCP servers are alike in everything."
        case "revert" if not view.is_edited(row):
            return "Nothing is edited here."
        case "disable" | "convert" | "delete" if entry is not None and entry.removed:
            return "It will be deleted at the next save; u takes that back."
        case "convert" if entry is not None and converted(entry.server) is None:
            return "A command has no other type; only SSE and HTTP can change places."
        case "edit" | "unset" if field is not None and field.absent:
            return field.absent
        case "unset" if field is not None and not field.can_unset:
            is_switch = field.control is Control.SWITCH
            return f"{field.label} is always on or off." if is_switch else f"{field.label} needs a value."
        case "unset" if field is not None and not field.secret and draft.value(row.name) == field.unset_to:
            return f"{field.label} is not set."
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
