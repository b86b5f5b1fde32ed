"""What can be done with the row of an MCP server: the words of its menu, and why something can't be done now."""

from collections.abc import Callable, Mapping

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.settings.mcp import Entry, converted, duplicates
from quarterdeck.tui.widgets.settings.form import SettingsForm

SERVER_LABELS: Mapping[str, str] = {
    "edit": "Edit",
    "disable": "Disable",
    "check": "Check",
    "import_servers": "Paste JSON",
    "copy": "Copy JSON",
    "copy_server": "Duplicate",
    "convert": "Other type",
    "delete": "Delete",
    "revert": "Revert",
    "add": "Add MCP",
    "servers_file": "JSON to file",
    "copy_servers": "Copy all",
    "check_all": "Check all",
    "remove_duplicates": "Remove duplicates",
}
"""Command -> the word for it on the row of an MCP server, in the order of its menu."""


def server_menu(entry: Entry) -> Mapping[str, str]:
    """Command -> the word for it on the row of this server, in the order of a menu."""
    kind = "SSE" if not isinstance(entry.server, StdioServer) and _is_http(entry) else "HTTP"
    return {**SERVER_LABELS, "disable": "Enable" if entry.disabled else "Disable", "convert": f"Make {kind}"}


def why_not_server(name: str, form: SettingsForm) -> str | None:
    """Why a command for MCP servers can't be done, or None when it can or is no such command."""
    rule = _RULES.get(name)
    return rule(form) if rule is not None else None


def _is_http(entry: Entry) -> bool:
    return "timeout" in type(entry.server).model_fields


def _at_server(form: SettingsForm) -> str | None:
    return None if form.entry is not None else "Move to an MCP server first."


def _why_not_park(form: SettingsForm) -> str | None:
    if form.entry is not None and form.entry.removed:
        return "It will be deleted at the next save; u takes that back."
    return _at_server(form)


def _why_not_convert(form: SettingsForm) -> str | None:
    if form.entry is not None and converted(form.entry.server) is None:
        return "A command has no other type; only SSE and HTTP can change places."
    return _why_not_park(form)


def _any_server(form: SettingsForm) -> str | None:
    return None if form.draft.servers.entries else "There is no MCP server."


_RULES: Mapping[str, Callable[[SettingsForm], str | None]] = {
    "disable": _why_not_park,
    "check": _at_server,
    "convert": _why_not_convert,
    "check_all": _any_server,
    "copy_servers": _any_server,
    "servers_file": _any_server,
    "remove_duplicates": lambda form: None if duplicates(form.draft.servers) else "No MCP server is in the list twice.",
}
