"""What is saved at once beside the record: custom secrets, git tokens, LLM profiles; and what a server suggests."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, Outcome, ServiceError
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import CustomSecret, Profiles, ProviderToken
from quarterdeck.client.profiles import NAME as PROFILE_NAME
from quarterdeck.client.redact import is_mask
from quarterdeck.client.secrets import NAME as SECRET_NAME
from quarterdeck.settings import checks
from quarterdeck.settings.fields import Group, Severity
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.form import Field, FormDialog, Line, RefusedError, Typed
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.actions import MOST_PROFILES
from quarterdeck.tui.widgets.form.view import FormView, Lists, RowKind, kind_of, name_in

SUGGESTED = frozenset({"llm_model", "agent", "security_analyzer"})
"""Fields that servers suggest values for."""
PROVIDERS = ("github", "gitlab", "bitbucket", "bitbucket_data_center", "forgejo", "azure_devops", "enterprise_sso")
"""Those of contract section d; an older release refuses bitbucket_data_center."""
PROVIDER_WIDTH = 24
NAME_RULE = "letters, digits and _; sandboxes get a variable of this name"
PROFILE_RULE = "1 to 64 letters, digits, dots, dashes and _"
Done = Callable[[Shown | None, Tone], None]
"""Told what was done, and that it has to be read again; None for what was given up."""


async def read_lists(client: Client, server: Server) -> Lists:
    """Read custom secrets and LLM profiles; what is not to be had is said in the list's place."""
    trouble: dict[Group, str] = {}

    async def tried(group: Group, reading: Any) -> Any:
        try:
            return await reading
        except ServiceError as error:
            trouble[group] = error.words if error.kind is ErrorKind.NOT_OFFERED else f"Not read: {error.words}"
            return None

    secrets: tuple[CustomSecret, ...] | None = await tried(Group.SECRETS, client.secrets.list())
    profiles: Profiles | None = await tried(Group.PROFILES, client.profiles.list()) if server.nested else None
    return Lists(secrets, profiles, trouble)


async def read_suggestions(client: Client, key: str) -> Sequence[str]:
    """What a server suggests for a field; nothing when it cannot be asked."""
    options = client.options
    ask = {"llm_model": options.models, "agent": options.agents, "security_analyzer": options.security_analyzers}
    try:
        return await ask[key]()
    except ServiceError:
        return ()


@dataclass(frozen=True)
class ListActions:
    """The commands on rows that are saved at once; `done` is told what came of each."""

    app: Deck
    done: Done

    async def act(self, name: str, view: FormView, row: str) -> None:
        """Do a command on a row: its dialog stands when this returns."""
        client = self.app.client
        if client is None:
            return
        match kind_of(row):
            case RowKind.SECRET:
                await self._act_on_secret(client, name, view, name_in(row))
            case RowKind.TOKEN:
                await self._act_on_token(client, name, view, name_in(row))
            case _:
                await self._act_on_profile(client, name, view, name_in(row))

    # Secrets

    async def _act_on_secret(self, client: Client, command: str, view: FormView, name: str) -> None:
        secret = view.lists.secret(name)
        if command == "add" or not name:
            await self._ask("New secret", [_SECRET_NAME, _secret_value("Value"), _DESCRIPTION], _creates(client))
        elif secret is not None and command == "edit":
            said = [cell(Shown("Its value stays as it is; f2 gives it a new one."), Tone.MUTED)]
            fields = [
                _named(_SECRET_NAME, name, _is_secret_name),
                Line(name="description", label="Description", value=secret.description or ""),
            ]
            await self._ask(f"Secret {name}", fields, _describes(client, name), said)
        elif secret is not None and command == "new_value":
            in_place = view.server is not None and view.server.nested
            said = [] if in_place else [cell(Shown(words), Tone.WARN) for words in _RECREATED]
            if not in_place and SECRET_NAME.fullmatch(name) is None:
                self.done(
                    Shown("Its name is none of a variable, so it can't be created anew: rename it first."), Tone.WARN
                )
                return
            sends = _replaces(client, name) if in_place else _recreates(client, secret)
            await self._ask(f"New value of {name}", [_secret_value("New value")], sends, said, blamed="value")
        elif secret is not None and command == "delete":
            said = [cell(Shown("Its value cannot be brought back; new sandboxes go without it."))]
            await self._confirm(
                f"Delete the secret {name}?",
                said,
                lambda: client.secrets.delete(name),
                f"The secret {name} is deleted.",
            )

    # Git tokens

    async def _act_on_token(self, client: Client, command: str, view: FormView, name: str) -> None:
        held = view.tokens
        if command == "delete":
            said = [cell(text.line(f"All of them go: {', '.join(held)}. There is no way to clear a single one."))]
            title, clears = "Clear the tokens of all git providers?", client.secrets.clear_tokens
            await self._confirm(title, said, clears, "All git tokens are cleared.")
        elif command == "edit" and name:
            await self._ask_for_token(client, name, view)
        else:

            async def picked(provider: str | None) -> None:
                if provider is not None:
                    await self._ask_for_token(client, provider, view)

            items = [Item(_provider(each, is_held=each in held), each) for each in PROVIDERS]
            await self.app.push_screen(PickDialog(Shown("Set the token of a git provider"), items), picked)

    async def _ask_for_token(self, client: Client, provider: str, view: FormView) -> None:
        is_stored = provider in view.tokens

        def check(token: str) -> str | None:
            finding = checks.secret(SecretStr(token)) if token or not is_stored else None
            return finding.words if finding is not None and finding.severity is Severity.ERROR else None

        async def send(typed: Typed) -> Shown:
            found = await client.settings.load()
            held = (found.provider_tokens_set if found is not None else None) or {}
            tokens = {name: ProviderToken(host=host) for name, host in held.items()}
            own = ProviderToken(token=SecretStr(typed["token"]) if typed["token"] else None, host=typed["host"] or None)
            await client.secrets.set_tokens({**tokens, provider: own})
            return text.line(f"The token of {provider} is stored.")

        hint = "•••• kept; type to replace" if is_stored else "type or paste it"
        host = view.tokens.get(provider) or ""
        fields = [
            Line(name="token", label="Token", placeholder=hint, secret=True, check=check),
            Line(name="host", label="Host", value=host, placeholder="the provider's usual one"),
        ]
        said = [
            cell(Shown("The server asks the provider whether it takes the token, then stores it."), Tone.MUTED),
            cell(Shown("Tokens of other providers are kept."), Tone.MUTED),
        ]
        await self._ask(f"Token of {provider}", fields, send, said, blamed="token")

    # LLM profiles

    async def _act_on_profile(self, client: Client, command: str, view: FormView, name: str) -> None:
        profiles, known = client.profiles, view.lists.profiles
        taken = frozenset(profile.name for profile in known.items) if known is not None else frozenset[str]()
        field = Line(name="name", label="Name", hint=PROFILE_RULE, placeholder="fast-and-cheap", value=name)

        def check(typed: str) -> str | None:
            if PROFILE_NAME.fullmatch(typed) is None:
                return f"A name has {PROFILE_RULE}."
            return "Another profile has this name." if typed in taken and typed != name else None

        async def save(typed: Typed) -> Shown:
            await profiles.save(typed["name"])
            return text.line(f"The profile {typed['name']} is saved.")

        async def rename(typed: Typed) -> Shown:
            if typed["name"] != name:
                await profiles.rename(name, typed["name"])
            return text.line(f"The profile is called {typed['name']}.")

        if command == "add" or not name:
            room = f"A server keeps {MOST_PROFILES} profiles; there is room for {MOST_PROFILES - len(taken)}."
            said = [
                cell(Shown(words), Tone.MUTED)
                for words in ("The stored model, key and all that belongs to them.", room)
            ]
            fresh = Line(name="name", label="Name", hint=PROFILE_RULE, placeholder="fast-and-cheap", check=check)
            await self._ask("Save the LLM settings as a profile", [fresh], save, said)
        elif command == "rename":
            await self._ask(f"Rename the profile {name}", [_named(field, name, check)], rename)
        elif command == "edit":
            said = [cell(Shown("It takes the place of the LLM settings now stored, key included."))]
            title, activates = f"Activate the profile {name}?", lambda: profiles.activate(name)
            await self._confirm(title, said, activates, f"The profile {name} is active.")
        elif command == "delete":
            is_active = known is not None and known.active == name
            more = " It is the active one: the server then activates the first that is left." if is_active else ""
            said = [cell(Shown(f"Its key cannot be brought back.{more}"))]
            title, deletes = f"Delete the profile {name}?", lambda: profiles.delete(name)
            await self._confirm(title, said, deletes, f"The profile {name} is deleted.")

    # Asking and doing

    async def _ask(
        self,
        title: str,
        fields: Sequence[Field],
        send: Callable[[Typed], Awaitable[Shown]],
        said: Sequence[Cell] = (),
        *,
        blamed: str = "name",
    ) -> None:
        async def sends(typed: Typed) -> Shown:
            with self._under_way():
                return await send(typed)

        dialog = FormDialog(text.line(title), fields, sends, said=said, verb="do it at once", blamed=blamed)
        await self.app.push_screen(dialog, lambda done: self.done(done, Tone.GOOD))

    async def _confirm(self, title: str, said: Sequence[Cell], act: Callable[[], Awaitable[None]], done: str) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.app.screen.run_worker(self._do(act, done), group="settings-act")

        at_once = cell(Shown("This acts at once."), Tone.MUTED)
        await self.app.push_screen(ConfirmDialog(text.line(title), [*said, at_once]), answered)

    async def _do(self, act: Callable[[], Awaitable[None]], done: str) -> None:
        try:
            with self._under_way():
                await act()
        except ServiceError as error:
            unsure = "Unknown whether it was done: " if error.outcome is Outcome.UNKNOWN else ""
            self.done(text.line(f"{unsure}{error.words} {error.advice}"), Tone.BAD)
        else:
            self.done(text.line(done), Tone.GOOD)

    def _under_way(self) -> Any:
        session = self.app.session
        return session.writes.under_way("a change of the settings") if session is not None else nullcontext()


# The fields of a secret, and what is sent


def _is_secret_name(name: str) -> str | None:
    if SECRET_NAME.fullmatch(name) is None:
        return "A name has letters, digits and _ only, and begins with no digit."
    return None


def _is_value(value: str) -> str | None:
    if not value:
        return "Nothing is typed."
    return "This is a mask, not a value; type the value itself." if is_mask(value) else None


_SECRET_NAME = Line(name="name", label="Name", hint=NAME_RULE, placeholder="API_TOKEN", check=_is_secret_name)
_DESCRIPTION = Line(name="description", label="Description", placeholder="what it is for")
_NOT_AGAIN = Shown("Its name is none of a variable, so it can't be created anew: rename it first.")
_RECREATED = (
    "This release cannot change a value: the secret is deleted and created anew.",
    "In between there is none, and a sandbox started then goes without.",
)


def _secret_value(label: str) -> Line:
    return Line(name="value", label=label, placeholder="type or paste it", secret=True, check=_is_value)


def _named(field: Line, name: str, check: Callable[[str], str | None]) -> Line:
    """The field with a name that is there; that very name needs no check."""

    def check_new(typed: str) -> str | None:
        return check(typed) if typed != name else None

    return Line(name=field.name, label=field.label, hint=field.hint, value=name, check=check_new)


def _provider(name: str, *, is_held: bool) -> Cell:
    said = Shown("token stored; a new one replaces it" if is_held else "")
    return ((Shown(f"{name:<{PROVIDER_WIDTH}}"), Tone.STRONG), (said, Tone.MUTED))


def _creates(client: Client) -> Callable[[Typed], Awaitable[Shown]]:
    async def send(typed: Typed) -> Shown:
        await client.secrets.create(typed["name"], SecretStr(typed["value"]), typed["description"] or None)
        return text.line(f"The secret {typed['name']} is stored.")

    return send


def _describes(client: Client, name: str) -> Callable[[Typed], Awaitable[Shown]]:
    async def send(typed: Typed) -> Shown:
        await client.secrets.update(name, new_name=typed["name"], description=typed["description"])
        return text.line(f"The secret {typed['name']} is changed.")

    return send


def _replaces(client: Client, name: str) -> Callable[[Typed], Awaitable[Shown]]:
    async def send(typed: Typed) -> Shown:
        await client.secrets.replace_value(name, SecretStr(typed["value"]))
        return text.line(f"The secret {name} has a new value.")

    return send


def _recreates(client: Client, secret: CustomSecret) -> Callable[[Typed], Awaitable[Shown]]:
    """Delete the secret, once, and create it with the new value as often as it is tried."""
    deleted: list[str] = []

    async def send(typed: Typed) -> Shown:
        if not deleted:
            await client.secrets.delete(secret.name)
            deleted.append(secret.name)
        try:
            await client.secrets.create(secret.name, SecretStr(typed["value"]), secret.description)
        except ServiceError as error:
            words = f"The old one is deleted: enter tries again to create it. {error.words} {error.advice}"
            raise RefusedError(words) from error
        return text.line(f"The secret {secret.name} has a new value.")

    return send
