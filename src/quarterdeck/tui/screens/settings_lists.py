"""What stands beside the settings record: it is read in the background, and what is done to it is done at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

from textual import on, work

from quarterdeck.client.errors import Outcome, ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.profiles import RenameProfileDialog, SaveProfileDialog
from quarterdeck.tui.dialogs.secrets import DescribeSecretDialog, NewSecretDialog, SecretValueDialog
from quarterdeck.tui.dialogs.tokens import PickProviderDialog, TokenDialog
from quarterdeck.tui.screens.kept_settings import KeptSettings
from quarterdeck.tui.settings.lists import SUGGESTED, read_lists, read_suggestions
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.lists import NOTHING_READ
from quarterdeck.tui.widgets.settings.rows import RowKind, name_in

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from quarterdeck.client.client import Client
    from quarterdeck.client.options import SchemaField
    from quarterdeck.tui.dialogs.sending import SendingDialog


class SettingsLists(KeptSettings):
    """Custom secrets, git tokens, LLM profiles, and what the server says of its settings."""

    # Reading

    def load_more(self, client: Client, *, first: bool) -> None:
        """Read the schema once for a connection, and the lists again."""
        super().load_more(client, first=first)
        self._read_more(client)

    def forget(self) -> None:
        """Forget the lists and suggestions too."""
        super().forget()
        self.form.show_lists(NOTHING_READ)
        self.form.suggest({})

    @work(exclusive=True, group="settings-more")
    async def _read_more(self, client: Client) -> None:
        server = self.app.session.server if self.app.session is not None else None
        if server is None:
            return
        if server.nested and not self.schema:
            try:
                schema = await client.settings.schema()
            except ServiceError as error:
                self.say(text.line(f"The server's own settings are not shown: {error.words}"), Tone.WARN)
            else:
                self._describe(client, schema)
        lists = await read_lists(client, server)
        if client is self.app.client:
            self.form.show_lists(lists)
            self.refresh_frame()

    def _describe(self, client: Client, schema: tuple[SchemaField, ...]) -> None:
        if client is self.app.client and self.loaded and not self.saving:
            self.schema = schema
            self.put(self.form.draft, self.form.view.contested)

    @on(SettingsForm.SuggestionsWanted)
    def _suggest(self, event: SettingsForm.SuggestionsWanted) -> None:
        client = self.app.client
        if client is not None and event.key in SUGGESTED and event.key not in self.form.suggestions:
            self._read_suggestions(client, event.key)

    @work(group="settings-suggestions")
    async def _read_suggestions(self, client: Client, key: str) -> None:
        values = await read_suggestions(client, key)
        if client is self.app.client:
            self.form.suggest({**self.form.suggestions, key: values})

    # Doing

    @work(exclusive=True, group="dialog")
    async def act(self, name: str) -> None:
        """Do a command on the row under the cursor, where commands act at once."""
        client = self.app.client
        if client is None:
            return
        acts = {RowKind.SECRET: self._act_on_secret, RowKind.TOKEN: self._act_on_token}
        await acts.get(self.form.kind, self._act_on_profile)(client, name, name_in(self.form.row))

    async def _act_on_secret(self, client: Client, command: str, name: str) -> None:
        secret, secrets = self.form.view.lists.secret(name), client.secrets
        server = self.form.view.server
        if command == "add":
            await self._ask(NewSecretDialog(secrets))
        elif secret is None:
            return
        elif command == "edit":
            await self._ask(DescribeSecretDialog(secrets, secret))
        elif command == "new_value":
            in_place = server is not None and server.nested
            await self._ask(SecretValueDialog(secrets, secret, in_place=in_place))
        elif command == "delete" and await self._agrees(
            f"Delete the secret {name}?", "Its value cannot be brought back; new sandboxes go without it."
        ):
            await self._do(lambda: secrets.delete(name), f"The secret {name} is deleted.")

    async def _act_on_token(self, client: Client, command: str, name: str) -> None:
        held = self.form.view.tokens
        if command == "delete":
            said = f"All of them go: {', '.join(held)}. There is no way to clear a single one."
            if await self._agrees("Clear the tokens of all git providers?", said):
                await self._do(client.secrets.clear_tokens, "All git tokens are cleared.")
            return
        provider = name if command == "edit" and name else await self.app.push_screen_wait(PickProviderDialog(held))
        if provider is not None:
            await self._ask(TokenDialog(client, provider, held))

    async def _act_on_profile(self, client: Client, command: str, name: str) -> None:
        profiles, known = client.profiles, self.form.view.lists.profiles
        taken = tuple(profile.name for profile in known.items) if known is not None else ()
        is_active = known is not None and known.active == name
        if command == "add":
            await self._ask(SaveProfileDialog(profiles, taken))
        elif command == "rename":
            await self._ask(RenameProfileDialog(profiles, taken, name))
        elif command == "edit" and await self._agrees(
            f"Activate the profile {name}?", "It takes the place of the LLM settings now stored, key included."
        ):
            await self._do(lambda: profiles.activate(name), f"The profile {name} is active.")
        elif command == "delete":
            more = " It is the active one: the server then activates the first that is left." if is_active else ""
            if await self._agrees(f"Delete the profile {name}?", f"Its key cannot be brought back.{more}"):
                await self._do(lambda: profiles.delete(name), f"The profile {name} is deleted.")

    async def _ask(self, dialog: SendingDialog) -> None:
        done = await self.app.push_screen_wait(dialog)
        self._done(done)

    async def _agrees(self, title: str, said: str) -> bool:
        dialog = ConfirmDialog(text.line(title), [cell(text.line(said)), cell(Shown("This acts at once."), Tone.MUTED)])
        return await self.app.push_screen_wait(dialog) is True

    async def _do(self, act: Callable[[], Awaitable[None]], done: str) -> None:
        session = self.app.session
        try:
            with session.writes.under_way("a change of the settings") if session is not None else nullcontext():
                await act()
        except ServiceError as error:
            unsure = "Unknown whether it was done: " if error.outcome is Outcome.UNKNOWN else ""
            self._done(None)
            self.say(text.line(f"{unsure}{error.words} {error.advice}"), Tone.BAD)
        else:
            self._done(text.line(done))

    def _done(self, done: Shown | None) -> None:
        """Say what was done, and read again what may have changed: the record tells of tokens and of the model."""
        if done is not None:
            self.say(done, Tone.GOOD)
        if self.app.client is not None and not self.saving:
            self.load(self.app.client)
