"""Whether the secrets of an MCP server that is parked are kept on this machine."""

from quarterdeck.settings import words
from quarterdeck.settings.mcp import Entry
from quarterdeck.settings.mcp_server import bare
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.choose import Choice, ChooseDialog
from quarterdeck.tui.text import Shown

PARKED = Shown("The next save takes it from the service; this machine keeps it until you unpark it.")
UNTOLD = Shown("The service does not tell its key and hidden values: they go with it, to be typed again later.")
LEAVE = Choice[bool | None](answer=None, key="n", label=Shown("Leave it"), said=Shown("it stays on the service"))
WITH = Choice[bool | None](
    answer=True, key="s", label=Shown("With secrets"), said=Shown("kept in a private file on this machine (0600)")
)
WITHOUT = Choice[bool | None](
    answer=False, key="w", label=Shown("Without them"), said=Shown("to be typed again when it is unparked")
)
PARK = Choice[bool | None](answer=True, key="p", label=Shown("Park it"), said=Shown("what is known of it is kept here"))


def park_dialog(entry: Entry, *, hidden: bool) -> ChooseDialog[bool | None] | None:
    """Ask before parking: True with the secrets, False without; no dialog where there is none to lose or to keep.

    `hidden` says that the service tells no secrets of its servers.
    """
    untold = hidden and entry.was is not None and not words.has_secret(entry.server)
    if bare(entry.server) != entry.server:
        choices, said = [LEAVE, WITH, WITHOUT], [cell(PARKED)]
    elif untold:
        choices, said = [LEAVE, PARK], [cell(PARKED), cell(UNTOLD, Tone.WARN)]
    else:
        return None
    name: Cell = cell(text.line(words.server_title(entry.server)), Tone.STRONG)
    return ChooseDialog[bool | None](Shown("Park an MCP server"), (name, *said), choices)
