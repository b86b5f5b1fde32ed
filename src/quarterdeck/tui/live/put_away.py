"""Start tasks that a person has put away: servers list them for ever, so that is kept from run to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

KIND = "put away"
"""The kind of note they are kept as."""
KEPT = 300
"""Ids that are noted, the latest: servers tell of the newest start tasks only."""


class PutAway:
    """The ids of these start tasks, in the order they were put away."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._ids

    @property
    def ids(self) -> frozenset[str]:
        """All of them."""
        return frozenset(self._ids)

    def add(self, task_ids: Iterable[str]) -> None:
        """Put these away."""
        self._ids.update(dict.fromkeys(task_ids))

    def recall(self, note: Any) -> None:
        """Take what earlier runs put away; what makes no sense is ignored."""
        self._ids = dict.fromkeys([*_ids(note), *self._ids])

    def noting(self) -> Callable[[Any], Any]:
        """What makes a note of these and of those that are noted already."""
        mine = tuple(self._ids)
        return lambda noted: list(dict.fromkeys([*_ids(noted), *mine]))[-KEPT:] or None


def _ids(note: Any) -> list[str]:
    return [each for each in note if isinstance(each, str)] if isinstance(note, list) else []
