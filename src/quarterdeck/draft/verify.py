"""After a save: is what the server holds now what was meant?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from quarterdeck.draft import words
from quarterdeck.draft.catalogue import BY_KEY, CATALOGUE
from quarterdeck.draft.draft import MCP, Draft
from quarterdeck.draft.field import Control
from quarterdeck.draft.mcp import Entry, EntryState, Identity, Servers, identities
from quarterdeck.service.models.mcp import McpServer, ShttpServer, SseServer
from quarterdeck.service.models.settings import Settings


@dataclass(frozen=True)
class Difference:
    """A field that came back other than meant; `asked` says whether the save was to change it."""

    key: str
    label: str
    meant: str
    found: str
    asked: bool


@dataclass(frozen=True)
class Verified:
    """The outcome of a save, seen by reading: how many of the changed fields hold what was meant."""

    asked: int
    untold: tuple[str, ...] = ()
    """Labels of changed fields of which the server tells nothing."""
    differences: tuple[Difference, ...] = ()

    @property
    def good(self) -> int:
        """How many changes were seen to be stored."""
        return self.asked - len(self.untold) - sum(difference.asked for difference in self.differences)

    @property
    def stored(self) -> bool:
        """Whether nothing came back other than meant."""
        return not self.differences

    @property
    def untouched(self) -> bool:
        """Whether not one change is there: a save that never arrived."""
        return self.asked > len(self.untold) and self.good == 0


def verify(meant: Draft, found: Settings | None) -> Verified:
    """Compare a record read after the save of a draft with what the draft meant it to be, MCP servers one by one.

    What a first save did not ask for is the server's to fill in.
    """
    fresh = Draft(found)
    untold = tuple(BY_KEY[key].label for key in meant.edits if _untold(key, fresh))
    differences = (*_field_differences(meant, fresh), *_server_differences(meant.servers, fresh.servers))
    return Verified(meant.count, untold, differences)


def _field_differences(meant: Draft, fresh: Draft) -> Iterator[Difference]:
    for entry in CATALOGUE:
        asked = entry.key in meant.edits
        if entry.control in (Control.SERVERS, Control.READ_ONLY) or (asked and _untold(entry.key, fresh)):
            continue
        if not asked and meant.base is None:
            continue
        if _expected(meant, entry.key) != _held(fresh, entry.key):
            wanted = words.change_words(meant, entry.key) if asked else words.former(meant, entry.key)
            yield Difference(entry.key, entry.label, wanted, words.former(fresh, entry.key), asked)


def _untold(key: str, fresh: Draft) -> bool:
    return BY_KEY[key].secret and fresh.stored(key) is None


def _expected(meant: Draft, key: str) -> Any:
    if BY_KEY[key].secret:
        return meant.edits[key] is not None if key in meant.edits else meant.stored(key)
    return _not_empty(meant.value(key))


def _held(fresh: Draft, key: str) -> Any:
    return fresh.stored(key) if BY_KEY[key].secret else _not_empty(fresh.was(key))


def _not_empty(value: Any) -> Any:
    """Servers treat empty text as not set."""
    return None if value == "" else value


def _server_differences(meant: Servers, found: Servers) -> Iterator[Difference]:
    expected = _by_identity(meant.left)
    held = {identity: entry.server for identity, entry in _by_identity(found.entries).items()}
    for identity, entry in expected.items():
        server = held.get(identity)
        if server is None or _form(server) != _form(entry.server):
            came = "not there" if server is None else "different"
            asked = entry.state is not EntryState.KEPT
            yield Difference(MCP, words.server_title(entry.server), "stored", came, asked)
    gone = {(entry.origin.transport, entry.origin.name) for entry in meant.entries if entry.removed and entry.origin}
    for identity in held.keys() - expected.keys():
        asked = (identity.transport, identity.name) in gone
        yield Difference(MCP, words.server_title(held[identity]), "deleted" if asked else "not there", "there", asked)


def _by_identity(entries: Iterable[Entry]) -> dict[Identity, Entry]:
    entries = tuple(entries)
    return dict(zip(identities(entry.server for entry in entries), entries, strict=True))


def _form(server: McpServer) -> McpServer:
    """One form for what servers treat alike: an empty key is none, a missing time-out the usual one."""
    if isinstance(server, ShttpServer) and server.timeout is None:
        server = server.model_copy(update={"timeout": words.USUAL_TIMEOUT})
    if isinstance(server, SseServer | ShttpServer) and server.api_key == SecretStr(""):
        server = server.model_copy(update={"api_key": None})
    return server
