"""After a save: is what the server holds now what was meant?"""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import SecretStr

from quarterdeck.client.models.mcp import McpServer, ShttpServer, SseServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control
from quarterdeck.settings.form_fields import AGENT_KIND
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_server import Identity, Transport, identities, name_of, transport_of

ADDED_AGAIN = "A server adds those of its own configuration file (config.toml) at every load."


@dataclass(frozen=True)
class Difference:
    """A field that came back other than meant; `asked` says whether the save was to change it."""

    key: str
    label: str
    meant: str
    found: str
    asked: bool
    note: str = ""
    """Why it may be so."""


class Untold(NamedTuple):
    """A changed secret, which no reading can prove: the field it belongs to, and its label."""

    key: str
    label: str


@dataclass(frozen=True)
class Verified:
    """The outcome of a save, seen by reading: how many of the changed things hold what was meant."""

    asked: int
    accepted: tuple[Untold, ...] = ()
    """Secrets that cannot be read back, of which the server said yes to the very request that stores them."""
    not_known: tuple[Untold, ...] = ()
    """Secrets that cannot be read back, and no yes came."""
    differences: tuple[Difference, ...] = ()
    returned: tuple[str, ...] = ()
    """MCP servers of which a copy was deleted and is back: the server adds it itself, from its own configuration."""

    @property
    def told(self) -> int:
        """How many changes reading could tell of."""
        return self.asked - len(self.accepted) - len(self.not_known) - len(self.returned)

    @property
    def good(self) -> int:
        """How many changes were seen to be stored."""
        return self.told - sum(difference.asked for difference in self.differences)

    @property
    def stored(self) -> bool:
        """Whether nothing came back other than meant, and nothing is left open."""
        return not self.differences and not self.not_known

    @property
    def untouched(self) -> bool:
        """Whether not one change is there: a save that never arrived."""
        return self.told > 0 and self.good == 0

    @property
    def counted(self) -> str:
        """How many changes are verified, and how many accepted."""
        if self.accepted:
            return ", ".join(
                filter(None, (f"{self.good} verified" * bool(self.told), f"{len(self.accepted)} accepted"))
            )
        return f"{self.good} of {self.told} verified"


def verify(
    meant: Draft,
    found: Settings | None,
    *,
    accepted: bool = True,
    hidden: bool = False,
    gone: Container[str] = (),
    secrets_gone: Collection[str] = (),
) -> Verified:
    """Compare a record read after the save of a draft with what the draft meant it to be, MCP servers one by one.

    A disabled server is meant not to be there, and what only this machine keeps is no matter of the record's. What a
    first save did not ask for is the server's to fill in, and another kind of agent brings its own settings.

    `accepted` says that the server said yes to the request, `hidden` that it tells no secrets of MCP servers. `gone`
    are fields that the save was said to take away, `secrets_gone` custom secrets that are not there afterwards.
    """
    fresh = Draft(found, fields=meant.fields)
    untold = [Untold(key, fresh.field_at(key).label) for key in meant.edits if _untold(meant, key, fresh)]
    differences = [found for found in _field_differences(meant, fresh) if found.asked or found.key not in gone]
    differences += _dropped(meant, fresh, secrets_gone)
    returned: tuple[str, ...] = ()
    if AGENT_KIND not in meant.edits:
        back = tuple(_returned(meant.servers, fresh.servers))
        expected = tuple(entry for entry in meant.servers.entries if entry.stays or entry in back)
        others = tuple(_server_differences(expected, meant.servers, fresh.servers, hidden=hidden))
        differences += others
        returned = tuple(words.server_title(entry.server) for entry in back)
        if hidden:
            sent = (entry.server for entry in meant.servers.edited if entry.stays)
            titles = (words.server_title(server) for server in sent if _has_untold(server))
            untold += (Untold(MCP, title) for title in titles if title not in {each.label for each in others})
    local = sum(entry.local for entry in meant.servers.edited)
    return Verified(
        meant.count - local,
        tuple(untold) if accepted else (),
        () if accepted else tuple(untold),
        tuple(differences),
        returned,
    )


def _has_untold(server: McpServer) -> bool:
    """Whether a server has a part that is not told where the secrets of none are."""
    return words.has_secret(server) or bool((server.model_extra or {}).get("headers"))


def _dropped(meant: Draft, fresh: Draft, secrets_gone: Collection[str]) -> Iterator[Difference]:
    """What was stored besides the settings of the form and is not told any more."""
    if meant.base is None or fresh.base is None:
        return
    had, has = meant.base.provider_tokens_set or {}, fresh.base.provider_tokens_set or {}
    if had.keys() - has.keys():
        label = fresh.field_at("secrets_store").label
        yield Difference("secrets_store", label, words.tokens_words(meant), words.tokens_words(fresh), asked=False)
    if secrets_gone:
        yield Difference("secrets", "Custom secrets", ", ".join(sorted(secrets_gone)), "not there", asked=False)
    if AGENT_KIND in meant.edits:
        return
    told = fresh.base.model_extra or {}
    for name, value in (meant.base.model_extra or {}).items():
        if value is not None and told.get(name) is None:
            yield Difference(name, name, words.unknown_words(name, value), "not there", asked=False)


def _field_differences(meant: Draft, fresh: Draft) -> Iterator[Difference]:
    for entry in meant.fields.fields:
        asked = entry.key in meant.edits
        if entry.control in (Control.SERVERS, Control.READ_ONLY) or (asked and _untold(meant, entry.key, fresh)):
            continue
        if not asked and (meant.base is None or AGENT_KIND in meant.edits):
            continue
        if _expected(meant, entry.key) != _held(fresh, entry.key):
            wanted = words.change_words(meant, entry.key) if asked else words.former(meant, entry.key)
            yield Difference(entry.key, entry.label, wanted, words.former(fresh, entry.key), asked)


def _untold(meant: Draft, key: str, fresh: Draft) -> bool:
    """Whether no reading tells that a secret is the new one: a stored one may be the old one still."""
    if not fresh.field_at(key).secret:
        return False
    return fresh.stored(key) is None or (fresh.stored(key) is True and meant.edits[key] is not None)


def _expected(meant: Draft, key: str) -> Any:
    if meant.field_at(key).secret:
        return meant.edits[key] is not None if key in meant.edits else meant.stored(key)
    return _not_empty(meant.value(key))


def _held(fresh: Draft, key: str) -> Any:
    return fresh.stored(key) if fresh.field_at(key).secret else _not_empty(fresh.was(key))


def _not_empty(value: Any) -> Any:
    """Servers treat empty text as not set."""
    return None if value == "" else value


def _returned(meant: Servers, found: Servers) -> Iterator[Entry]:
    """Deleted copies of servers that are there as often as before, though the request named them less often.

    A flat server tells the servers of its own configuration file along with the stored ones.
    """
    held, left = _by_name(found.entries), _by_name(meant.left)
    for name, gone in _by_name(entry for entry in meant.entries if entry.removed).items():
        waiting = gone
        while waiting:
            server = waiting[0].server
            copies = [entry for entry in waiting if entry.server == server]
            waiting = [entry for entry in waiting if entry.server != server]
            staying = _times(server, left[name])
            yield from copies[: max(0, _times(server, held[name]) - staying)] if staying else ()


def _server_differences(
    wanted: Iterable[Entry], meant: Servers, found: Servers, *, hidden: bool
) -> Iterator[Difference]:
    form = _told if hidden else _form
    expected = _by_identity(wanted)
    held = {identity: entry.server for identity, entry in _by_identity(found.entries).items()}
    missing: set[Identity | None] = set()
    for identity, entry in expected.items():
        server = held.get(identity)
        missing |= {entry.origin} if server is None else set()
        if server is None or form(server) != form(entry.server):
            came = "not there" if server is None else "different"
            asked = entry.state is not EntryState.KEPT
            yield Difference(MCP, words.server_title(entry.server), "stored", came, asked)
    origins = {entry.origin for entry in meant.entries if entry.origin} - expected.keys()
    gone = {(origin.transport, origin.name) for origin in origins}
    for identity in held.keys() - expected.keys() - missing:
        asked = (identity.transport, identity.name) in gone
        note = ADDED_AGAIN if asked and not hidden else ""
        wish = "deleted" if asked else "not there"
        yield Difference(MCP, words.server_title(held[identity]), wish, "there", asked, note)


def _by_identity(entries: Iterable[Entry]) -> dict[Identity, Entry]:
    entries = tuple(entries)
    return dict(zip(identities(entry.server for entry in entries), entries, strict=True))


def _by_name(entries: Iterable[Entry]) -> defaultdict[tuple[Transport, str], list[Entry]]:
    named = defaultdict[tuple[Transport, str], list[Entry]](list)
    for entry in entries:
        named[transport_of(entry.server), name_of(entry.server)].append(entry)
    return named


def _times(server: McpServer, entries: Iterable[Entry]) -> int:
    return sum(entry.server == server for entry in entries)


def _form(server: McpServer) -> object:
    """One form for what servers treat alike: an empty key is none, a missing time-out the usual one.

    The name of an address, which one generation has and the other drops, is the server's to choose.
    """
    if isinstance(server, StdioServer):
        return server
    unknown = {name: value for name, value in (server.model_extra or {}).items() if name != "name"}
    return type(server), server.url, server.api_key or SecretStr(""), _timeout(server), unknown


def _told(server: McpServer) -> object:
    """What is told of a server where its secrets are not."""
    if isinstance(server, StdioServer):
        return server.name, server.command, server.args
    return server.url, _timeout(server)


def _timeout(server: SseServer | ShttpServer) -> float | None:
    if isinstance(server, SseServer):
        return None
    return words.USUAL_TIMEOUT if server.timeout is None else server.timeout
