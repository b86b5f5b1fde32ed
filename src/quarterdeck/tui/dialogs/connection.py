"""Which server to speak to, and with which key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from quarterdeck.service.address import checked_address
from quarterdeck.service.endpoint import Endpoint
from quarterdeck.service.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.toggle import Toggle

if TYPE_CHECKING:
    from pydantic import SecretStr


@dataclass(frozen=True)
class Chosen:
    """An endpoint to open; no key means the one its configuration names."""

    endpoint: Endpoint
    key: SecretStr | None = None


class ConnectionDialog(Dialog[Chosen]):
    """Ask for address and key; the key is kept for this run only and goes to this address only."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Connect", show=False, priority=True)]
    HINTS = (("enter", "connect"), ("tab", "next field"), ("esc", "cancel"))

    def __init__(self, endpoint: Endpoint, trouble: str = "") -> None:
        super().__init__(Shown("Connection"))
        self._endpoint = endpoint
        self._trouble = trouble

    def body(self) -> Iterable[Widget]:
        """Trouble, if any, then address, key and read-only."""
        if self._trouble:
            yield Static(plain(text.block(self._trouble), Tone.WARN), classes="value")
        yield Label("Address (empty: the local service inside this deck)", markup=False)
        yield Input(self._endpoint.url or "", placeholder="http://127.0.0.1:3000", id="address")
        yield Label("Key (empty: the one the connection names)", markup=False)
        yield Input(password=True, id="key")
        yield Toggle(Shown("Read-only: change nothing on the server"), on=self._endpoint.read_only)

    def on_input_submitted(self) -> None:
        """Enter in a field connects."""
        self.action_accept()

    def action_accept(self) -> None:
        """Answer with what was typed, if it is an address."""
        from pydantic import SecretStr

        try:
            address = self._address()
        except ServiceError as error:
            self.complain(text.line(f"{error.words} {error.advice}"))
            return
        key = self.query_one("#key", Input).value.strip()
        read_only = self.query_one(Toggle).on
        name = urlsplit(address).netloc if address else "local service"
        if address and address == self._endpoint.url:
            name = self._endpoint.name
        endpoint = Endpoint(name, address or None, self._endpoint.header, read_only)
        self.dismiss(Chosen(endpoint, SecretStr(key) if key else None))

    def _address(self) -> str:
        typed = self.query_one("#address", Input).value.strip()
        return checked_address(typed) if typed else ""
