"""After a save: is what the server holds now what was meant?"""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from quarterdeck.client.models.mcp import McpServer, ShttpServer, StdioServer
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import AGENT_KIND
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Control
from quarterdeck.settings.mcp import Entry, EntryState, Servers
from quarterdeck.settings.mcp_server import Version, members, paired, place_of

_TOLD = ("name", "command", "args", "url", "timeout")
"""Members of an MCP server that are told where its secrets are not."""
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


class Unproven(NamedTuple):
    """A changed secret, which no reading can prove: the field it belongs to, and its label."""

    key: str
    label: str


@dataclass(frozen=True)
class Verified:
    """The outcome of a save, seen by reading: how many of the changed things hold what was meant."""

    asked: int
    accepted: tuple[Unproven, ...] = ()
    """Secrets that cannot be read back, of which the server said yes to the very request that stores them."""
    not_known: tuple[Unproven, ...] = ()
    """Secrets that cannot be read back, and no yes came."""
    differences: tuple[Difference, ...] = ()
    returned: tuple[str, ...] = ()
    """MCP servers of which a copy was deleted and is back: the server adds it itself, from its own configuration."""

    @property
    def readable(self) -> int:
        """How many changes reading could tell of."""
        return self.asked - len(self.accepted) - len(self.not_known) - len(self.returned)

    @property
    def good(self) -> int:
        """How many changes were seen to be stored."""
        return self.readable - sum(difference.asked for difference in self.differences)

    @property
    def stored(self) -> bool:
        """Whether nothing came back other than meant, and nothing is left open."""
        return not self.differences and not self.not_known

    @property
    def untouched(self) -> bool:
        """Whether not one change is there: a save that never arrived."""
        return self.readable > 0 and self.good == 0

    @property
    def counted(self) -> str:
        """How many changes are verified, and how many accepted."""
        if self.accepted:
            return ", ".join(
                filter(None, (f"{self.good} verified" * bool(self.readable), f"{len(self.accepted)} accepted"))
            )
        return f"{self.good} of {self.readable} verified"


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
    unproven = [Unproven(key, fresh.field_at(key).label) for key in meant.edits if _is_unproven(meant, key, fresh)]
    differences = [found for found in _field_differences(meant, fresh) if found.asked or found.key not in gone]
    differences += _dropped(meant, fresh, secrets_gone)
    returned: tuple[str, ...] = ()
    if AGENT_KIND not in meant.edits:
        back = _returned(meant.servers, fresh.servers)
        expected = tuple(entry for entry in meant.servers.entries if entry.stays or entry in back)
        others = tuple(_server_differences(expected, meant.servers, fresh.servers, hidden=hidden))
        differences += others
        returned = tuple(words.server_title(entry.server) for entry in back)
        if hidden:
            sent = (entry.server for entry in meant.servers.edited if entry.stays)
            titles = (words.server_title(server) for server in sent if _has_unproven(server))
            unproven += (Unproven(MCP, title) for title in titles if title not in {each.label for each in others})
    local = sum(entry.local for entry in meant.servers.edited)
    return Verified(
        meant.count - local,
        tuple(unproven) if accepted else (),
        () if accepted else tuple(unproven),
        tuple(differences),
        returned,
    )


def _has_unproven(server: McpServer) -> bool:
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
    there = fresh.base.model_extra or {}
    for name, value in (meant.base.model_extra or {}).items():
        if value is not None and there.get(name) is None:
            yield Difference(name, name, words.unknown_words(name, value), "not there", asked=False)


def _field_differences(meant: Draft, fresh: Draft) -> Iterator[Difference]:
    for entry in meant.fields.fields:
        asked = entry.key in meant.edits
        if entry.control in (Control.SERVERS, Control.READ_ONLY) or (asked and _is_unproven(meant, entry.key, fresh)):
            continue
        if not asked and (meant.base is None or AGENT_KIND in meant.edits):
            continue
        if _not_empty(_expected(meant, entry.key)) != _not_empty(fresh.known(entry.key)):
            wanted = words.change_words(meant, entry.key) if asked else words.former(meant, entry.key)
            yield Difference(entry.key, entry.label, wanted, words.former(fresh, entry.key), asked)


def _is_unproven(meant: Draft, key: str, fresh: Draft) -> bool:
    """Whether no reading tells that a secret is the new one: a stored one may be the old one still."""
    if not fresh.field_at(key).secret:
        return False
    return fresh.stored(key) is None or (fresh.stored(key) is True and meant.edits[key] is not None)


def _expected(meant: Draft, key: str) -> Any:
    """What reading has to tell of a field: of a secret whether there is one."""
    if key not in meant.edits:
        return meant.known(key)
    return meant.edits[key] is not None if meant.field_at(key).secret else meant.edits[key]


def _not_empty(value: Any) -> Any:
    """Servers treat empty text as not set."""
    return None if value == "" else value


def _returned(meant: Servers, found: Servers) -> list[Entry]:
    """Deleted copies of servers that are there as often as before, though the request named them less often.

    A flat server tells the servers of its own configuration file along with the stored ones.
    """
    back: list[Entry] = []
    for entry in (entry for entry in meant.entries if entry.removed):
        staying, there, known = (
            sum(other.server == entry.server for other in entries) for entries in (meant.left, found.entries, back)
        )
        if staying and there > staying + known:
            back.append(entry)
    return back


def _server_differences(
    wanted: Collection[Entry], meant: Servers, found: Servers, *, hidden: bool
) -> Iterator[Difference]:
    """What came back of the servers that were `wanted`, and what else is there."""
    form = partial(_form, hidden=hidden)
    held = {entry.row: entry.server for entry in found.entries}
    pairs = paired(
        (Version(entry.row, form(entry.server)) for entry in wanted),
        (Version(row, form(server)) for row, server in held.items()),
    )
    others = {row: server for row, server in held.items() if row not in pairs.values()}
    for entry in wanted:
        other = pairs.get(entry.row)
        if other is None and entry.was is not None:  # what it was made of is no difference of its own
            place = place_of(entry.was)
            others.pop(next((row for row, server in others.items() if place_of(server) == place), -1), None)
        if other is None or form(held[other]) != form(entry.server):
            came = "not there" if other is None else "different"
            yield Difference(MCP, words.server_title(entry.server), "stored", came, entry.state is not EntryState.KEPT)
    stay = {entry.row: place_of(entry.server) for entry in wanted}
    was = {entry.row: place_of(entry.was) for entry in meant.entries if entry.was is not None}
    gone = {place for row, place in was.items() if stay.get(row) != place}
    for server in others.values():
        asked = place_of(server) in gone
        note = ADDED_AGAIN if asked and not hidden else ""
        yield Difference(MCP, words.server_title(server), "deleted" if asked else "not there", "there", asked, note)


def _form(server: McpServer, *, hidden: bool) -> McpServer:
    """One form for what servers treat alike: an empty key is none, a missing time-out the usual one.

    The name of an address, which one generation has and the other drops, is the server's to choose. Where secrets are
    `hidden`, only what is told of a server.
    """
    given = members(server)
    if hidden:
        given = {name: value for name, value in given.items() if name in _TOLD}
    if isinstance(server, StdioServer):
        return StdioServer.model_validate(given)
    usual = {"api_key": ""} | ({"timeout": words.USUAL_TIMEOUT} if isinstance(server, ShttpServer) else {})
    own = {name: value for name, value in given.items() if value is not None and name != "name"}
    return type(server).model_validate(usual | own)
