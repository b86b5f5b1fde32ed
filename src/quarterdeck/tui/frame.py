"""The frame: what is seen until the screens are loaded, which is the first of them without its rows."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from quarterdeck.config.connections import Connection
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.commands import Place, key_bar_hints
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.header import Header, HeaderState
from quarterdeck.tui.widgets.key_bar import KeyBar


class Frame(Screen[None]):
    """Header, an empty list and the key bar."""

    def __init__(self, endpoint: Connection) -> None:
        super().__init__()
        self._endpoint = endpoint

    def compose(self) -> ComposeResult:
        """As the screen of conversations looks while it has read nothing."""
        header, key_bar = Header(Place.CONVERSATIONS), KeyBar()
        header.state = HeaderState(
            connection=text.line(self._endpoint.name),
            colour=self._endpoint.colour,
            read_only=self._endpoint.read_only,
            health=Shown("connecting…"),
            health_tone=Tone.BUSY,
        )
        key_bar.hints = key_bar_hints(Place.CONVERSATIONS, lambda command: not command.changes_server)
        yield header
        yield Static(id="list")
        yield key_bar
