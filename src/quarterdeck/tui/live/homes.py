"""Which conversations live in which sandbox, brought up to date conversation by conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation

LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Homes:
    """The conversations of each sandbox, newest first."""

    def __init__(self) -> None:
        self._home_of: dict[str, str] = {}
        self._living_in: dict[str, tuple[Conversation, ...]] = {}

    def of(self, sandbox_id: str) -> tuple[Conversation, ...]:
        """Who lives in a sandbox; the same object for as long as nothing changed."""
        return self._living_in.get(sandbox_id, ())

    def home_of(self, conversation_id: str) -> str | None:
        """The sandbox a conversation lives in, as far as is known."""
        return self._home_of.get(conversation_id)

    def title_in(self, sandbox_id: str) -> str | None:
        """The title of the newest conversation in a sandbox that has one."""
        return next((record.title for record in self.of(sandbox_id) if record.title), None)

    def update(self, records: Mapping[str, Conversation], ids: Iterable[str]) -> frozenset[str]:
        """Take what is known of these conversations now; gives the sandboxes of which there is something new."""
        touched: set[str] = set()
        for conversation_id in ids:
            record = records.get(conversation_id)
            before = self._home_of.pop(conversation_id, None)
            after = record.sandbox_id if record is not None else None
            touched.update(home for home in (before, after) if home is not None)
            if before is not None and before != after:
                self._leave(before, conversation_id)
            if record is not None and after is not None:
                self._home_of[conversation_id] = after
                self._live(after, record, stays=before == after)
        return frozenset(touched)

    def _live(self, sandbox_id: str, record: Conversation, *, stays: bool) -> None:
        group = self.of(sandbox_id)
        if stays:
            self._living_in[sandbox_id] = tuple(record if each.id == record.id else each for each in group)
        else:
            self._living_in[sandbox_id] = tuple(sorted((*group, record), key=_newest_first))

    def _leave(self, sandbox_id: str, conversation_id: str) -> None:
        others = tuple(record for record in self.of(sandbox_id) if record.id != conversation_id)
        if others:
            self._living_in[sandbox_id] = others
        else:
            self._living_in.pop(sandbox_id, None)


class Unsettled:
    """The conversations whose sandbox is between two states, and those that were not read since it changed."""

    def __init__(self, homes: Homes) -> None:
        self._homes = homes
        self._sandboxes: set[str] = set()

    def changed(self, sandboxes: Iterable[str]) -> None:
        """Note that there is something new to say of these sandboxes."""
        self._sandboxes.update(sandbox_id for sandbox_id in sandboxes if self._homes.of(sandbox_id))

    def among(self, conversations: Iterable[str], moving: frozenset[str]) -> list[str]:
        """Which of these conversations; `moving` are the sandboxes between two states now."""
        self._sandboxes |= moving
        return [each for each in conversations if self._homes.home_of(each) in self._sandboxes]

    def read(self, records: Iterable[Conversation], moving: frozenset[str]) -> None:
        """Note that these conversations were read."""
        if self._sandboxes:
            self._sandboxes.difference_update({record.sandbox_id for record in records} - moving)


def _newest_first(record: Conversation) -> tuple[float, str]:
    """Those made at the same moment stand by id, so that "the newest" is one and the same in every run."""
    return -(record.created_at or LONG_AGO).timestamp(), record.id
