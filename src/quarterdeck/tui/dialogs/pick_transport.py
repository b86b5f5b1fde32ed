"""Which kind of MCP server is to be added."""

from quarterdeck.settings.mcp_server import Transport
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.text import Shown

_WORDS = {
    Transport.STDIO: "a command started inside the sandbox",
    Transport.SHTTP: "an address that speaks streamable HTTP",
    Transport.SSE: "an address that speaks server-sent events",
}


def pick_transport() -> PickDialog[Transport]:
    """Pick a transport."""
    items = [
        Item(((Shown(f"{kind.value:<7}"), Tone.STRONG), (Shown(words), Tone.MUTED)), kind)
        for kind, words in _WORDS.items()
    ]
    return PickDialog(Shown("Add an MCP server"), items)
