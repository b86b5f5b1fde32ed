"""Which conversations live in which sandbox."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from quarterdeck.client.models.conversation import Conversation

LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Residents:
    """The conversations of each sandbox; a group is put in order when somebody asks for it, not at each change."""

    def __init__(self) -> None:
        self._sandbox_of: dict[str, str] = {}
        self._groups: dict[str, dict[str, Conversation]] = {}
        self._ordered: dict[str, tuple[Conversation, ...]] = {}

    def of(self, sandbox_id: str) -> tuple[Conversation, ...]:
        """Who lives in a sandbox, newest first; the same object for as long as nothing changed."""
        ordered = self._ordered.get(sandbox_id)
        if ordered is None:
            group = self._groups.get(sandbox_id, {})
            ordered = self._ordered[sandbox_id] = tuple(sorted(group.values(), key=_newest_first))
        return ordered

    def sandbox_of(self, conversation_id: str) -> str | None:
        """The sandbox a conversation lives in, as far as is known."""
        return self._sandbox_of.get(conversation_id)

    def title_in(self, sandbox_id: str) -> str | None:
        """The title of the newest conversation in a sandbox that has one."""
        return next((record.title for record in self.of(sandbox_id) if record.title), None)

    def update(self, records: Mapping[str, Conversation], ids: Iterable[str]) -> frozenset[str]:
        """Take what is known of these conversations now; gives the sandboxes of which there is something new."""
        touched: set[str] = set()
        for conversation_id in ids:
            record = records.get(conversation_id)
            before = self._sandbox_of.pop(conversation_id, None)
            after = record.sandbox_id if record is not None else None
            if before is not None:
                touched.add(before)
                if before != after:
                    del self._groups[before][conversation_id]
            if record is not None and after is not None:
                touched.add(after)
                self._sandbox_of[conversation_id] = after
                self._groups.setdefault(after, {})[conversation_id] = record
        for sandbox_id in touched:
            self._ordered.pop(sandbox_id, None)
        return frozenset(touched)


def _newest_first(record: Conversation) -> tuple[float, str]:
    """Those made at the same moment stand by id, so that "the newest" is one and the same in every run."""
    return -(record.created_at or LONG_AGO).timestamp(), record.id
