"""Tokens of git providers: which provider, then its token and host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pydantic import SecretStr
from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.client.models.settings import ProviderToken
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Problem, Severity
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.dialogs.sending import SendingDialog
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput
from quarterdeck.tui.widgets.settings.member import Member

if TYPE_CHECKING:
    from quarterdeck.client.client import Client

PROVIDERS = ("github", "gitlab", "bitbucket", "bitbucket_data_center", "forgejo", "azure_devops", "enterprise_sso")
"""Those of contract section d; an older release refuses bitbucket_data_center."""
NAME_WIDTH = 24


class PickProviderDialog(Dialog[str]):
    """Ask for the provider."""

    HINTS = (("↑ ↓", "choose"), ("enter", "take"), ("esc", "cancel"))

    def __init__(self, held: Mapping[str, str | None]) -> None:
        super().__init__(Shown("Set the token of a git provider"))
        self._held = held

    def body(self) -> Iterable[Widget]:
        """The providers, and which of them have a token."""
        yield OptionList(*(content(self._provider(name)) for name in PROVIDERS), compact=True)

    def _provider(self, name: str) -> Cell:
        said = "token stored; a new one replaces it" if name in self._held else ""
        return ((Shown(f"{name:<{NAME_WIDTH}}"), Tone.STRONG), (Shown(said), Tone.MUTED))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the provider."""
        self.dismiss(PROVIDERS[event.option_index])


class TokenDialog(SendingDialog):
    """Set the token of one provider; those of the others are sent along empty, which keeps them."""

    BLAMED = "token"

    def __init__(self, client: Client, provider: str, held: Mapping[str, str | None]) -> None:
        super().__init__(text.line(f"Token of {provider}"))
        self._client = client
        self._provider = provider
        self._host = held.get(provider) or ""
        self._is_stored = provider in held

    def said(self) -> Iterable[Cell]:
        """What the server does with it."""
        yield cell(Shown("The server asks the provider whether it takes the token, then stores it."), Tone.MUTED)
        yield cell(Shown("Tokens of other providers are kept."), Tone.MUTED)

    def members(self) -> Iterable[Member]:
        """Token and host."""
        hint = "•••• kept; type to replace" if self._is_stored else "type or paste it"
        yield Member("token", "Token", LineInput(placeholder=hint, password=True))
        yield Member("host", "Host", LineInput(text.line(self._host), placeholder="the provider's usual one"))

    def problems(self) -> Iterable[Problem]:
        """A token that is none."""
        token = self.typed("token")
        if token or not self._is_stored:
            finding = checks.secret(SecretStr(token))
            if finding is not None and finding.severity is Severity.ERROR:
                yield Problem("", finding.words, member="token")

    async def send(self) -> Shown:
        """Send the whole map as it is stored now, with this token in it."""
        found = await self._client.settings.load()
        held = (found.provider_tokens_set if found is not None else None) or {}
        tokens = {name: ProviderToken(host=host) for name, host in held.items()}
        typed = self.typed("token")
        own = ProviderToken(token=SecretStr(typed) if typed else None, host=self.typed("host") or None)
        await self._client.secrets.set_tokens({**tokens, self._provider: own})
        return text.line(f"The token of {self._provider} is stored.")
