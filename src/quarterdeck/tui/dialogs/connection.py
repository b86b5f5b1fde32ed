"""The form of a connection, and its key: asked for, never shown, checked before it is stored, bound to its address."""

import re
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from pydantic import SecretStr

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.server import KeyState
from quarterdeck.client.network import certificates, origin_of
from quarterdeck.config.connections import COLOURS, Connection, check_member, check_name
from quarterdeck.config.files import ConfigError
from quarterdeck.config.keys import KeyringUnavailableError, Keys
from quarterdeck.tui import text
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Span, Tone, cell
from quarterdeck.tui.connections import Connections, Verdict, check
from quarterdeck.tui.dialogs.confirm import ConfirmDialog, YesNoDialog
from quarterdeck.tui.dialogs.form import FormDialog, InputField, RefusedError, Typed
from quarterdeck.tui.paint import mark
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.inputs import ChoiceLine, OneOf

HEADERS = {"session": Shown("X-Session-API-Key"), "bearer": Shown("Authorization: Bearer")}
"""How a key is sent, in words."""
READ_ONLY = {False: Shown("no"), True: Shown("yes, change nothing")}
CHANGED = "The address has changed"
KEEPS = {True: Shown("in keyring"), False: Shown("for this run")}


class KeyChoice(StrEnum):
    """Where the key of a connection comes from."""

    KEEP = "as it is"
    VARIABLE = "environment variable"
    ENTER = "enter one now"
    NONE = "none"


@dataclass(frozen=True)
class Filled:
    """A connection as entered."""

    connection: Connection
    key: KeyChoice
    moves_key: bool | None = None
    """Whether the key that it had goes along to its new address; None if there is none to go."""


@dataclass(frozen=True)
class GivenKey:
    """A key that the server accepted, or that could not be checked."""

    key: SecretStr
    verdict: Verdict
    to_keep: bool
    """Whether it is to be stored, once it is accepted."""


def edit_connection(
    connection: Connection, taken: Collection[str], write: Callable[[Filled], Awaitable[Filled]]
) -> FormDialog[Filled]:
    """Return the form for a connection or a new one, which it writes; `taken` are the names of the others.

    A key is never typed here, only where it comes from. `write` raises ConfigError.
    """

    async def take(typed: Typed) -> Filled:
        filled = _filled(typed)
        if filled.connection.name in taken:
            raise RefusedError(f"There is a connection called {filled.connection.name} already.", "name")
        return await write(filled)

    title = f"Connection {connection.name}" if connection.kept else "New connection"
    return FormDialog(title, _fields(connection), take, sending="Writing it down…")


def _fields(connection: Connection) -> tuple[InputField, ...]:
    new = not connection.kept
    name = re.sub(r"[\[\]:]+", "-", connection.name).lstrip("-")  # one given by its address is called by host and port
    colours = [(mark(None) + "none", ""), *((mark(each) + each, each) for each in COLOURS)]
    headers = [(words, header) for header, words in HEADERS.items()]
    keys = [(Shown(choice.value), choice.value) for choice in KeyChoice if not (new and choice is KeyChoice.KEEP)]
    key_now = KeyChoice.ENTER if new else KeyChoice.KEEP
    if connection.key_env is not None:
        key_now = KeyChoice.VARIABLE
    check_address, check_variable = partial(check_member, "url"), partial(check_member, "key_env")
    in_variable = ("key", KeyChoice.VARIABLE)
    return (
        InputField("name", "Name", name, "work", check_name),
        InputField("address", "Address", connection.url, "https://agents.example.org", check_address),
        InputField("colour", "Colour", control=OneOf(connection.colour or "", lambda: colours)),
        InputField("header", "Key is sent as", control=OneOf(connection.header, lambda: headers)),
        InputField("read-only", "Read-only", control=ChoiceLine(READ_ONLY, connection.read_only)),
        InputField("ca-file", "CA file, PEM", connection.ca_file, "a path; empty: the system's", _check_file),
        InputField("key", "Key", control=OneOf(key_now, lambda: keys)),
        InputField("variable", "Its name", connection.key_env, "WORK_KEY", check_variable, only_if=in_variable),
    )


def _filled(typed: Typed) -> Filled:
    key = KeyChoice(typed["key"])
    connection = Connection(
        typed["name"],
        typed["address"].rstrip("/"),
        "bearer" if typed["header"] == "bearer" else "session",
        typed["read-only"],
        typed["ca-file"] or None,
        typed["colour"] or None,
        typed["variable"] if key is KeyChoice.VARIABLE else None,
        kept=True,
    )
    return Filled(connection, key)


def _check_file(path: str) -> str | None:
    if path:
        try:
            certificates("https:", path)
        except ServiceError as error:
            return error.sentences
        check_member("ca_file", path)
    return None


async def moves_key(app: Deck, old: Connection, filled: Filled) -> bool | None:
    """Whether the key goes to the new address, to another origin only after a yes; None if there is none to go."""
    new, keys = filled.connection, app.connections.keys
    if filled.key in (KeyChoice.NONE, KeyChoice.ENTER) or old.place == new.place or not await keys.is_given(old):
        return None
    was, becomes = origin_of(old.url or ""), origin_of(new.url or "")
    said = (
        cell(f"The key belongs to {was}."),
        cell(f"Send it to {becomes} from now on?", Tone.STRONG),
        cell(f"n leaves it where it is ({await keys.source(old)}), for {was} alone.", Tone.MUTED),
    )
    agreed = await app.push_screen_wait(YesNoDialog(CHANGED, said)) if was != becomes else True
    if agreed is None:
        raise RefusedError("Nothing is saved yet.", "address")
    return agreed


async def ask_key(app: Deck, connection: Connection, say: Callable[[str, Tone], None]) -> Span | None:
    """Ask for a key and use it from now on, saying what is waited for; returns how it went, None if none was given."""
    keys = app.connections.keys
    given = await app.push_screen_wait(_key_form(app.connections, connection))
    if given is None:
        return None
    keys.type(connection, given.key)
    if given.verdict.key is not KeyState.ACCEPTED:
        words = f"The key of {connection.name} is used until the deck ends and kept nowhere; it could not be verified"
        return text.line(f"{words}: {given.verdict.said[0]}"), Tone.WARN
    try:
        if given.to_keep and (place := await _keep_key(app, keys, connection, given.key, say)):
            return text.line(f"The server takes the key. It is kept in {place}."), Tone.GOOD
    except ConfigError as error:
        return text.line(f"{error.sentence} The key is used until the deck ends."), Tone.WARN
    return Shown("The server takes the key. It is used until the deck ends, and kept nowhere."), Tone.GOOD


async def _keep_key(
    app: Deck, keys: Keys, connection: Connection, key: SecretStr, say: Callable[[str, Tone], None]
) -> str:
    """Store a key in the keyring, or in a file if the person agrees; returns where, empty for nowhere."""
    say("Asking the system keyring to keep the key…", Tone.BUSY)
    try:
        await keys.keep(connection, key, in_file=False)
    except KeyringUnavailableError as error:
        said = (
            cell(f"The key was not kept: {error}.", Tone.WARN),
            cell(f"Keep the key in {keys.file}, in plain text, readable by you alone?", Tone.STRONG),
            cell("Without it the key is used until the deck ends.", Tone.MUTED),
        )
        if not await app.push_screen_wait(ConfirmDialog("Keep the key in a file?", said)):
            return ""
        await keys.keep(connection, key, in_file=True)
        return str(keys.file)
    return "the system keyring"


def _key_form(connections: Connections, connection: Connection) -> FormDialog[GivenKey]:
    """Return the form for the key of a connection; after a refused key it asks again."""

    async def give(typed: Typed) -> GivenKey:
        key = SecretStr(typed["key"])
        verdict = await check(connections.client_of(connection, key), with_release=False)
        if verdict.key is KeyState.REFUSED:
            raise RefusedError("The server refused this key. It was not kept: try another one.", "key", empty=True)
        return GivenKey(key, verdict, to_keep=typed.get("keep", False))

    field = InputField("key", "Key", None, "paste or type it", _problem_with_key, secret=True)
    keeping = InputField("keep", "Keep it", control=ChoiceLine(KEEPS, value=True))
    said = cell(f"It is sent to {connection.url or ''} and nowhere else.", Tone.MUTED)
    return FormDialog(
        f"Key of {connection.name}",
        (field, keeping) if connection.kept else (field,),
        give,
        said=(said,),
        verb="check and use",
        sending="Asking the server whether it takes this key…",
        harmless=True,
    )


def _problem_with_key(key: str) -> str | None:
    if not key:
        return "There is no key yet: type or paste it."
    if not all("!" <= letter <= "~" for letter in key):
        return "A key has no blanks and only plain letters, digits and signs: copy it again."
    return None
