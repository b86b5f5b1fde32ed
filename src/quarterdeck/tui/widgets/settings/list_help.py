"""What is said about rows that are no fields: secrets, tokens, profiles, and where more fields are."""

from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.cells import brief
from quarterdeck.tui.widgets.settings.rows import RowKind, kind_of, name_in
from quarterdeck.tui.widgets.settings.view import FormView

_HELP = {
    RowKind.SECRET: Shown("Sandboxes get it as a variable. Values are written, never read; changes act at once."),
    RowKind.TOKEN: Shown(
        "What the server signs in to a git provider with. It is written, never read; changes act at once."
    ),
    RowKind.PROFILE: Shown(
        "A stored copy of the LLM settings, key included. enter puts it in use at once, in place of those now stored."
    ),
    RowKind.MORE: Shown("Seldom used; those that are set or edited are shown without a search."),
}
_TITLES = {
    RowKind.SECRET: Shown("Secrets"),
    RowKind.TOKEN: Shown("Git tokens"),
    RowKind.PROFILE: Shown("LLM profiles"),
    RowKind.MORE: Shown("More fields"),
}


def list_help(view: FormView, row: str) -> tuple[Shown, Shown]:
    """Title and help of a row that is no field and no MCP server."""
    kind = kind_of(row)
    is_listed = kind is not RowKind.MORE and bool(name_in(row))
    return brief(name_in(row)) if is_listed else _TITLES[kind], _HELP[kind]
