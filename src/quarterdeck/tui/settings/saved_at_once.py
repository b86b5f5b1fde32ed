"""Data outside the record that is saved at once: custom secrets, git tokens, LLM profiles."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.enums import GitProvider, is_mask
from quarterdeck.client.models.settings import CustomSecret, Profiles, ProviderToken
from quarterdeck.client.profiles import NAME as PROFILE_NAME
from quarterdeck.client.secrets import NAME as SECRET_NAME
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Group
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Tone, cell
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.form import FormDialog, InputField, RefusedError, Typed
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.form import SettingsForm
from quarterdeck.tui.widgets.form.rows import MOST_PROFILES, FormView, Lists, Row, RowKind

LOSES_TOKENS = "Tokens are not told before settings are saved: those of other providers are lost. Save first."
RECREATED = (
    "This release cannot change a value: the secret is deleted and created anew.",
    "In between there is none, and a sandbox started then goes without.",
)
HELD, NOT_HELD = Shown("token stored; a new one replaces it"), Shown("")
HOST_RULE = "a host such as git.example.org, without https://"
HOST_RULES: Mapping[str, str] = {
    **dict.fromkeys((GitProvider.GITLAB, GitProvider.FORGEJO), "a host, or an address with http:// or https://"),
    GitProvider.AZURE_DEVOPS: "not a host: your organization, such as contoso",
    GitProvider.ENTERPRISE_SSO: "",
}
"""What a host looks like where servers put no https:// before it, or that is not known (SERVERS.md: git tokens)."""
TYPED = "{name}"
"""Placeholder in a sentence for the typed name."""
_SECRET, _PROFILE = f"{RowKind.SECRET}{TYPED}", f"{RowKind.PROFILE}{TYPED}"
NAME_RULE = "letters, digits and _; sandboxes get a variable of this name"
PROFILE_RULE = "1 to 64 letters, digits, dots, dashes and _"
Done = Callable[[str | None, Tone], None]
"""Called with the result, after which the data is read again; with None if the action was given up."""


async def read_lists(client: Client) -> Lists:
    """Read custom secrets and LLM profiles; if one cannot be read, the reason is shown in its place."""
    trouble: dict[str, str] = {}

    async def tried(group: Group, reading: Any) -> Any:
        try:
            return await reading
        except ServiceError as error:
            trouble[group] = error.words if error.kind is ErrorKind.NOT_OFFERED else f"Not read: {error.words}"
            return None

    secrets: tuple[CustomSecret, ...] | None = await tried(Group.SECRETS, client.secrets.list())
    profiles: Profiles | None = await tried(Group.PROFILES, client.profiles.list()) if client.server.nested else None
    return Lists(secrets, profiles, trouble)


@dataclass(frozen=True)
class AtOnceActions:
    """The commands on rows of the form that are saved at once; `done` is called with each result."""

    app: Deck
    form: SettingsForm
    done: Done

    async def act(self, command: str, view: FormView, row: Row) -> None:
        """Run a command on a row; its dialog is open when this returns."""
        client, name = self.app.client, row.name
        if client is None:
            return
        secrets, profiles = client.secrets, client.profiles
        match row.kind, command if name else "add":
            case RowKind.SECRET, "add":
                await self._add_secret(client)
            case RowKind.SECRET, "edit":
                await self._describe_secret(client, row)
            case RowKind.SECRET, "new_value":
                await self._give_new_value(client, row, in_place=view.hides_secrets)
            case RowKind.SECRET, "delete":
                said = "Its value cannot be brought back; new sandboxes go without it."
                deleted = f"The secret {name} is deleted."
                await self._confirm(f"Delete the secret {name}?", said, lambda: secrets.delete(name), deleted)
            case RowKind.TOKEN, "add":
                await self._pick_provider(client, view)
            case RowKind.TOKEN, "edit":
                await self._set_token(client, name, view)
            case RowKind.TOKEN, "delete":
                said = f"All of them go: {', '.join(view.draft.tokens)}. There is no way to clear a single one."
                title = "Clear the tokens of all git providers?"
                await self._confirm(title, said, secrets.clear_tokens, "All git tokens are cleared.")
            case RowKind.PROFILE, "add":
                await self._add_profile(client, view)
            case RowKind.PROFILE, "rename":
                title, renamed = f"Rename the profile {name}", f"The profile is called {TYPED}."
                fields = (_profile_name(view, name),)
                rename = partial(profiles.rename, name)
                await self._ask(title, fields, lambda typed: rename(typed["name"]), renamed, row=_PROFILE)
            case RowKind.PROFILE, "edit":
                said = "It takes the place of the LLM settings now stored, and of their key."
                active = f"The profile {name} is active."
                await self._confirm(f"Activate the profile {name}?", said, lambda: profiles.activate(name), active)
            case RowKind.PROFILE, "delete":
                said = "It cannot be brought back."
                if row.stands:
                    last = len(view.lists.profile_names) == 1
                    then = "none is active then" if last else "the server then activates the first that is left"
                    said += f" It is the active one: {then}."
                deleted = f"The profile {name} is deleted."
                await self._confirm(f"Delete the profile {name}?", said, lambda: profiles.delete(name), deleted)

    # Secrets

    async def _add_secret(self, client: Client) -> None:
        def create(typed: Typed) -> Awaitable[object]:
            return client.secrets.create(typed["name"], SecretStr(typed["value"]), typed["description"] or None)

        about = InputField("description", "Description", None, "what it is for")
        fields = (_secret_name(), _value_field("Value"), about)
        await self._ask("New secret", fields, create, f"The secret {TYPED} is stored.", row=_SECRET)

    async def _describe_secret(self, client: Client, secret: Row) -> None:
        def describe(typed: Typed) -> Awaitable[object]:
            return client.secrets.update(secret.name, new_name=typed["name"], description=typed["description"])

        fields = (InputField("description", "Description", secret.about), _secret_name(secret.name))
        said = ["Its value stays as it is; f2 in the list gives it a new one."]
        await self._ask(f"Secret {secret.name}", fields, describe, f"The secret {TYPED} is changed.", said, row=_SECRET)

    async def _give_new_value(self, client: Client, secret: Row, *, in_place: bool) -> None:
        """Replace the value in place, or delete the secret once and create it, as often as that is tried."""
        if not in_place and SECRET_NAME.fullmatch(secret.name) is None:
            self.done("Its name is not valid for a variable, so it can't be created again: rename it first.", Tone.WARN)
            return
        deleted = False

        async def give(typed: Typed) -> None:
            nonlocal deleted
            value = SecretStr(typed["value"])
            if in_place:
                await client.secrets.replace_value(secret.name, value)
                return
            if not deleted:
                try:
                    await client.secrets.delete(secret.name)
                except ServiceError as error:
                    if error.kind is not ErrorKind.MISSING:  # an earlier try has deleted it, and its answer was lost
                        raise
                deleted = True
            try:
                await client.secrets.create(secret.name, value, secret.about or None)
            except ServiceError as error:
                self.done(None, Tone.PLAIN)  # the list behind the form then lacks it
                words = f"The old one is deleted: enter tries again to create it. {error.sentences}"
                raise RefusedError(words) from error

        title, done = f"New value of {secret.name}", f"The secret {secret.name} has a new value."
        said = () if in_place else RECREATED
        await self._ask(title, (_value_field("New value"),), give, done, said, blamed="value", tone=Tone.WARN)

    # Git tokens

    async def _pick_provider(self, client: Client, view: FormView) -> None:
        held = view.draft.tokens
        items = [
            Item(((Shown(f"{name:<24}"), Tone.STRONG), (HELD if name in held else NOT_HELD, Tone.MUTED)), name)
            for name in GitProvider
        ]
        dialog = PickDialog("Set the token of a git provider", items)
        await ask(self.app, dialog, lambda provider: self._set_token(client, provider, view))

    async def _set_token(self, client: Client, provider: str, view: FormView) -> None:
        is_stored = provider in view.draft.tokens

        def check(token: str) -> str | None:
            problem = checks.secret(SecretStr(token)) if token or not is_stored else None
            return problem.words if problem is not None else None

        async def store(typed: Typed) -> None:
            found = await client.settings.load()
            held = (found.provider_tokens_set if found is not None else None) or {}
            tokens = {name: ProviderToken(host=host) for name, host in held.items()}
            own = ProviderToken(token=SecretStr(typed["token"]) if typed["token"] else None, host=typed["host"] or None)
            await client.secrets.set_tokens({**tokens, provider: own})

        rule = HOST_RULES.get(provider, HOST_RULE)

        def check_host(host: str) -> str | None:
            return "Leave it out: the server puts https:// before it." if rule == HOST_RULE and "://" in host else None

        hint, host = "•••• kept; type to replace" if is_stored else "type or paste it", view.draft.tokens.get(provider)
        fields = (
            InputField("token", "Token", None, hint, check, secret=True),
            InputField("host", "Host", host, "the provider's usual one", check_host, hint=rule),
        )
        said = (
            "The local service stores it and asks no provider."
            if view.server is not None and view.server.local
            else "The server asks the provider whether it accepts the token, then stores it.",
            LOSES_TOKENS if view.draft.base is None else "Tokens of other providers are kept.",
        )
        done = f"The token of {provider} is stored."
        tone = Tone.WARN if view.draft.base is None else Tone.MUTED
        row = f"{RowKind.TOKEN}{provider}"
        await self._ask(f"Token of {provider}", fields, store, done, said, row=row, blamed="token", tone=tone)

    # LLM profiles

    async def _add_profile(self, client: Client, view: FormView) -> None:
        room = MOST_PROFILES - len(view.lists.profile_names)
        said = (
            "The stored LLM settings, with their key if there is one.",
            f"A server keeps {MOST_PROFILES} profiles; there is room for {room}.",
        )
        title, done = "Save the LLM settings as a profile", f"The profile {TYPED} is saved."
        fields = (_profile_name(view),)
        await self._ask(title, fields, lambda typed: client.profiles.save(typed["name"]), done, said, row=_PROFILE)

    # Dialogs and requests

    async def _ask(
        self,
        title: str,
        fields: Sequence[InputField],
        send: Callable[[Typed], Awaitable[object]],
        done: str,
        said: Sequence[str] = (),
        *,
        row: str = "",
        blamed: str = "name",
        tone: Tone = Tone.MUTED,
    ) -> None:
        async def sends(typed: Typed) -> str:
            try:
                with self._under_way():
                    await send(typed)
            except ServiceError as error:
                if error.outcome is Outcome.UNKNOWN:
                    self.done(None, Tone.PLAIN)  # the list behind the form then tells
                raise
            name = typed.get("name", "")
            self.form.awaited = row.replace(TYPED, name)
            return done.replace(TYPED, name)

        above = [cell(words, tone) for words in said]
        dialog = FormDialog(title, fields, sends, said=above, verb="do it at once", blamed=blamed)
        await self.app.push_screen(dialog, lambda done: self.done(done, Tone.GOOD))

    async def _confirm(self, title: str, said: str, act: Callable[[], Awaitable[None]], done: str) -> None:
        async def do() -> None:
            try:
                with self._under_way():
                    await act()
            except ServiceError as error:
                self.done(error.sentences, Tone.BAD)
            else:
                self.done(done, Tone.GOOD)

        dialog = ConfirmDialog(title, (cell(said), cell("This acts at once.", Tone.MUTED)))
        await ask(self.app, dialog, lambda _: self.app.screen.run_worker(do(), group="settings-act"))

    def _under_way(self) -> AbstractContextManager[None]:
        session = self.app.session
        return session.writes.under_way("a change of the settings") if session is not None else nullcontext()


def _value_field(label: str) -> InputField:
    def check(value: str) -> str | None:
        if not value:
            return "Nothing is typed."
        return "This is a mask, not a value; type the value itself." if is_mask(value) else None

    return InputField("value", label, None, "type or paste it", check, secret=True)


def _secret_name(held: str = "") -> InputField:
    """Return the field for the name of a secret; the name it has may stay, valid or not."""

    def check(typed: str) -> str | None:
        if SECRET_NAME.fullmatch(typed) or (typed and typed == held):
            return None
        return "A name has letters, digits and _ only, and begins with no digit."

    return InputField("name", "Name", held, "API_TOKEN", check, hint=NAME_RULE)


def _profile_name(view: FormView, held: str = "") -> InputField:
    """Return the field for the name of a profile; the name it has may stay."""

    def check(typed: str) -> str | None:
        if PROFILE_NAME.fullmatch(typed) is None:
            return f"A name has {PROFILE_RULE}."
        return "Another profile has this name." if typed in view.lists.profile_names - {held} else None

    return InputField("name", "Name", held, "fast-and-cheap", check, hint=PROFILE_RULE)
