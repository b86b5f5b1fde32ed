"""Which keys the bar shows on a row of the form: what a row has no use for is left out."""

from collections.abc import Callable, Iterable, Mapping

from quarterdeck.tui.commands import Command, Place, command_at
from quarterdeck.tui.widgets.key_bar import Hint
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.rows import RowKind
from quarterdeck.tui.widgets.settings.server_keys import SERVER_LABELS, server_menu

_ANYWHERE = {"save": "Review & save", "undo": "Undo", "filter": "Filter", "row_menu": "Menu"}
_FIELD = _ANYWHERE | {"edit": "Edit", "revert": "Revert", "unset": "Not set", "copy": "Copy key name", "add": "Add MCP"}
_LABELS: Mapping[RowKind, Mapping[str, str]] = {
    RowKind.FIELD: _FIELD,
    RowKind.OTHER: _ANYWHERE | {"copy": "Copy key name"},
    RowKind.MORE: _ANYWHERE | {"edit": "Find"},
    RowKind.SERVER: {**SERVER_LABELS, **_ANYWHERE},
    RowKind.SECRET: _ANYWHERE | {"edit": "Describe", "add": "Add", "new_value": "New value", "delete": "Delete"},
    RowKind.TOKEN: _ANYWHERE | {"edit": "Set", "add": "Add", "delete": "Clear all"},
    RowKind.PROFILE: _ANYWHERE | {"edit": "Activate", "add": "New", "rename": "Rename", "delete": "Delete"},
}
"""Kind of row -> the settings' own commands it has a use for, by the word for them there."""


def row_menu(form: SettingsForm) -> tuple[tuple[Command, str], ...]:
    """What can be done with the row under the cursor, each with the word for it there."""
    labels = server_menu(form.entry) if form.entry is not None else _LABELS[form.kind]
    return tuple((command_at(Place.SETTINGS, name), label) for name, label in labels.items() if name not in _ANYWHERE)


def row_hints(commands: Iterable[Command], kind: RowKind, works: Callable[[Command], bool]) -> tuple[Hint, ...]:
    """The hints for a row, in the order of the bar."""
    labels = _LABELS[kind]
    wanted = [command for command in commands if command.bar]
    return tuple(
        (command.key, labels.get(command.name, command.label), works(command))
        for command in sorted(wanted, key=lambda command: command.bar)
        if command.place != "settings" or command.name in labels
    )
