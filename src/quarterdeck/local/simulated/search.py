"""Searching simulated conversations: what a list is narrowed to, without looking at more of them than needed."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from quarterdeck.local.conversations import Filters
from quarterdeck.local.records import Window, stamp
from quarterdeck.local.simulated.records import SimulatedConversation
from quarterdeck.local.simulated.world import World

_EVERYTHING = (Filters(), Filters(include_sub_conversations=True))
"""There are no sub-conversations here."""


def page(world: World, filters: Filters, window: Window) -> tuple[list[SimulatedConversation], str | None]:
    """One page, newest first, and the id of the next."""
    if filters in _EVERYTHING:
        return world.conversations.page(window)
    found = list(islice(_found(world, filters), window.offset, window.offset + window.limit + 1))
    return found[: window.limit], window.next_page_id(len(found))


def count(world: World, filters: Filters) -> int:
    """How many there are."""
    if filters in _EVERYTHING:
        return len(world.conversations)
    return sum(1 for _ in _found(world, filters))


def _found(world: World, filters: Filters) -> Iterator[SimulatedConversation]:
    candidates: Iterable[SimulatedConversation] = world.conversations
    if filters.sandbox_id__eq is not None:
        candidates = sorted(world.inhabitants(filters.sandbox_id__eq), key=_created_at, reverse=True)
    wanted = (filters.title__contains or "").lower()
    created = _Between(filters.created_at__gte, filters.created_at__lt)
    updated = _Between(filters.updated_at__gte, filters.updated_at__lt)
    for one in candidates:
        if wanted in one.title.lower() and created.holds(one.created_at) and updated.holds(one.updated_at):
            yield one


class _Between:
    """From one moment, itself included, to another; None is no bound."""

    def __init__(self, first: datetime | None, end: datetime | None) -> None:
        self._first = stamp(first) if first else None
        self._end = stamp(end) if end else None

    def holds(self, moment: str) -> bool:
        """Whether a stamped moment is in between."""
        return (self._first is None or self._first <= moment) and (self._end is None or moment < self._end)


def _created_at(conversation: SimulatedConversation) -> str:
    return conversation.created_at
