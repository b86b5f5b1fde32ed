"""After a save: compares what the server has with what was meant."""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from quarterdeck.client.models.mcp import listed
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.nested import AGENT_KIND
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, TOKENS, Draft
from quarterdeck.settings.mcp import Servers, held_of
from quarterdeck.settings.mcp_server import place_of, told
from quarterdeck.settings.merge import merge

ADDED_AGAIN = "A server adds those of its own configuration file (config.toml) at every load."


@dataclass(frozen=True)
class Difference:
    """A field whose value differs from what was meant; `asked` means that the save was to change it."""

    key: str
    label: str
    meant: str
    found: str
    asked: bool
    note: str = ""
    """A possible reason."""


class UnverifiedSecret(NamedTuple):
    """A changed secret, which no reading can verify: its field's key and label."""

    key: str
    label: str


@dataclass(frozen=True)
class Verified:
    """The result of a save, verified by reading: how many of the changes the server has."""

    remaining: Draft
    """The draft based on what was read, with only those edits that were not stored or are not known to be."""
    asked: int
    accepted: tuple[UnverifiedSecret, ...] = ()
    """Secrets that cannot be read back; the server accepted the request with them."""
    not_known: tuple[UnverifiedSecret, ...] = ()
    """Secrets that cannot be read back; the server did not confirm the request."""
    differences: tuple[Difference, ...] = ()
    returned: tuple[str, ...] = ()
    """MCP servers of which a copy was deleted and is back: the server adds it from its own configuration."""

    @property
    def readable(self) -> int:
        """How many changes could be verified by reading."""
        return self.asked - len(self.accepted) - len(self.not_known) - len(self.returned)

    @property
    def good(self) -> int:
        """How many changes were verified."""
        return self.readable - sum(difference.asked for difference in self.differences)

    @property
    def stored(self) -> bool:
        """Whether everything is as meant and nothing is unknown."""
        return not self.differences and not self.not_known

    @property
    def untouched(self) -> bool:
        """Whether not a single change is stored: the save never arrived."""
        return self.readable > 0 and self.good == 0

    @property
    def counted(self) -> str:
        """How many changes were verified and accepted, in words."""
        if not self.accepted:
            return f"{self.good:,} of {self.readable:,} verified"
        accepted = f"{len(self.accepted):,} accepted"
        return f"{self.good:,} verified, {accepted}" if self.readable else accepted


def verify(
    meant: Draft,
    found: Settings | None,
    *,
    accepted: bool = True,
    gone: Container[str] = (),
    secrets_gone: Collection[str] = (),
) -> Verified:
    """Compare a record read after saving a draft with what the draft meant.

    The draft is merged with the record: what is still an edit then was not stored. Values that a first save did not
    contain are filled in by the server, and another agent kind has its own settings.

    `accepted` means that the server confirmed the request. `gone` are fields that the save was expected to lose,
    `secrets_gone` custom secrets that no longer exist.
    """
    merged = merge(meant, found)
    seen = merged.draft
    unproven = [UnverifiedSecret(key, seen.field_at(key).label) for key in seen.edits if _is_unproven(seen, key)]
    changed = {*seen.edits, *merged.arrived} - {each.key for each in unproven} - {TOKENS, MCP}
    differences = [
        Difference(key, entry.label, words.after_save(meant, key), words.former(seen, key), key in meant.edits)
        for key, entry in meant.fields.by_key.items()
        if key in changed and (key in meant.edits or (_is_to_stay(meant) and key not in gone))
    ]
    differences += _dropped(meant, seen, secrets_gone)
    returned: list[str] = []
    if AGENT_KIND not in meant.edits:
        others, returned = _server_differences(meant.servers, seen)
        differences += others
        if seen.fields.nested:
            sent = (entry.server for entry in meant.servers.edited if entry.stays)
            titles = (words.server_title(server) for server in sent if words.holds_secret(server))
            unproven += (
                UnverifiedSecret(MCP, title) for title in titles if title not in {each.label for each in others}
            )
    missing = {each.key for each in differences if each.asked} | {each.key for each in unproven if not accepted}
    left = {key: value for key, value in seen.edits.items() if key in missing}
    local = sum(entry.local for entry in meant.servers.edited)
    return Verified(
        replace(seen, edits=left, past=(), future=()),
        meant.count - local,
        tuple(unproven) if accepted else (),
        () if accepted else tuple(unproven),
        tuple(differences),
        tuple(returned),
    )


def _is_to_stay(meant: Draft) -> bool:
    """Whether a save must not change fields that it does not contain."""
    return meant.base is not None and AGENT_KIND not in meant.edits


def _is_unproven(seen: Draft, key: str) -> bool:
    """Whether no reading shows that a secret is the new one: the stored one may still be the old one."""
    stored = seen.stored(key) if seen.field_at(key).secret else False
    return stored is None or (stored and seen.edits[key] is not None)


def _dropped(meant: Draft, seen: Draft, secrets_gone: Collection[str]) -> Iterator[Difference]:
    """Yield what was stored besides the form's settings and is no longer there."""
    if meant.base is None or seen.base is None:
        return
    if meant.tokens.keys() - seen.tokens.keys():
        held = words.former(meant, TOKENS), words.former(seen, TOKENS)
        yield Difference(TOKENS, seen.field_at(TOKENS).label, *held, asked=False)
    if secrets_gone:
        yield Difference("secrets", "Custom secrets", ", ".join(sorted(secrets_gone)), "not there", asked=False)
    if AGENT_KIND in meant.edits:
        return
    there = seen.base.model_extra or {}
    for name, value in (meant.base.model_extra or {}).items():
        if value is not None and there.get(name) is None and name not in meant.fields.by_key:
            yield Difference(name, name, words.unknown_words(name, value), "not there", asked=False)


def _server_differences(meant: Servers, seen: Draft) -> tuple[list[Difference], list[str]]:
    """Return (differences by server, deleted copies that are back).

    A flat server also returns the servers of its own configuration file.
    """
    differences: list[Difference] = []
    returned: list[str] = []
    hidden, there = seen.fields.nested, list(listed(seen.base.mcp_config if seen.base is not None else None))
    held = held_of(meant, there)
    for entry in meant.remaining:
        one = held.get(entry.row)
        before = None if entry.was is None else told(entry.was, hidden=hidden)
        # The server it was made from is not another difference.
        found = one or next((each for each in there if told(each, hidden=hidden) == before), None)
        if found is not None:
            there.remove(found)
        if one is None or told(one, hidden=hidden) != told(entry.server, hidden=hidden):
            came, asked = "not there" if one is None else "different", entry.edited
            differences.append(Difference(MCP, words.server_title(entry.server), "stored", came, asked))
    leaving = {
        place_of(entry.was): entry
        for entry in meant.entries
        if entry.was is not None and not (entry.stays and place_of(entry.server) == place_of(entry.was))
    }
    for server in there:
        title, left_by = words.server_title(server), leaving.get(place_of(server))
        if left_by is not None and left_by.removed and any(left.server == server for left in meant.remaining):
            returned.append(title)
        else:
            wanted, note = ("not there", "") if left_by is None else ("deleted", "" if hidden else ADDED_AGAIN)
            differences.append(Difference(MCP, title, wanted, "there", asked=left_by is not None, note=note))
    return differences, returned
