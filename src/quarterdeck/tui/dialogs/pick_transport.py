"""Which kind of MCP server is to be added."""

from collections.abc import Iterable

from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.settings.mcp_server import Transport
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown

_WORDS = {
    Transport.STDIO: "a command started inside the sandbox",
    Transport.SHTTP: "an address that speaks streamable HTTP",
    Transport.SSE: "an address that speaks server-sent events",
}


class PickTransportDialog(Dialog[Transport]):
    """Ask for the transport."""

    HINTS = (("↑ ↓", "choose"), ("enter", "take"), ("esc", "cancel"))

    def __init__(self) -> None:
        super().__init__(Shown("Add an MCP server"))

    def body(self) -> Iterable[Widget]:
        """The three transports."""
        yield OptionList(
            *(
                content(((Shown(f"{kind.value:<7}"), Tone.STRONG), (Shown(words), Tone.MUTED)))
                for kind, words in _WORDS.items()
            ),
            compact=True,
        )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the transport."""
        self.dismiss(tuple(_WORDS)[event.option_index])
