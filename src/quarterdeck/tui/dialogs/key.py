"""A key, typed without being shown, and proven before it is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from pydantic import SecretStr
from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static

from quarterdeck.client.models.server import KeyState
from quarterdeck.config.connections import Connection
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.checking import Verdict
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.toggle import Toggle


@dataclass(frozen=True)
class Given:
    """A key that the server took, or could not be asked about."""

    key: SecretStr
    proven: bool
    to_keep: bool
    kept: bool
    """Whether it is in the keyring by now."""


class KeyDialog(Dialog[Given]):
    """Ask for the key of a connection; a refused one is asked for again."""

    CSS_PATH = ["dialog.tcss", "connections.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Check", show=False, priority=True)]
    HINTS = (("enter", "check and use"), ("tab", "next field"), ("esc", "cancel"))

    def __init__(
        self,
        endpoint: Connection,
        *,
        prove: Callable[[SecretStr], Awaitable[Verdict]],
        keep: Callable[[SecretStr], Awaitable[bool]] | None,
    ) -> None:
        super().__init__(text.line(f"Key of {endpoint.name}"))
        self._address = endpoint.url or ""
        self._prove = prove
        self._keep = keep
        self._asking = False

    def body(self) -> Iterable[Widget]:
        """Where the key goes, the key, and whether it is kept."""
        yield Static(plain(text.line(f"It is sent to {self._address} and nowhere else."), Tone.MUTED), classes="value")
        yield Input(password=True, placeholder="paste or type the key", id="key")
        if self._keep is not None:
            yield Toggle(Shown("Keep it for the next time, in the system keyring"), on=True)
        yield Static(id="asking")

    def on_input_submitted(self) -> None:
        """Enter checks the key."""
        self.action_accept()

    def action_accept(self) -> None:
        """Have the key proven, if it can be one."""
        typed = SecretStr(self.query_one("#key", Input).value.strip())
        if self._asking:
            return
        if not typed.get_secret_value():
            self.complain(Shown("There is no key yet: type or paste it."))
        elif not all("!" <= letter <= "~" for letter in typed.get_secret_value()):
            self.complain(Shown("A key has no blanks and only plain letters, digits and signs: copy it again."))
        else:
            self.complain(None)
            self._ask(typed)

    @work(exclusive=True, group="prove")
    async def _ask(self, key: SecretStr) -> None:
        self._say(Shown("Asking the server whether it takes this key…"))
        verdict = await self._prove(key)
        if verdict.key is KeyState.REFUSED:
            self._say(Shown(""))
            self.query_one("#key", Input).clear()
            self.complain(Shown("The server refused this key. It was not kept: try another one."))
            return
        proven = verdict.key is KeyState.ACCEPTED
        to_keep = self._keep is not None and self.query_one(Toggle).on
        kept = False
        if proven and to_keep and self._keep is not None:
            self._say(Shown("Keeping it in the system keyring…"))
            kept = await self._keep(key)
        self.dismiss(Given(key, proven, to_keep, kept))

    def _say(self, words: Shown) -> None:
        self._asking = bool(words)
        line = self.query_one("#asking", Static)
        line.update(plain(words, Tone.BUSY))
        line.display = self._asking
