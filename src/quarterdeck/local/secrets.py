"""The stored secrets of one data folder: custom ones, and tokens of git providers."""

from collections.abc import Callable

from quarterdeck.local.changes import Changes
from quarterdeck.local.secret_rules import Record
from quarterdeck.local.store import Store

DOCUMENT = "secrets"
"""The name under which they are stored."""


class Secrets:
    """Reads and changes the one document of secrets."""

    def __init__(self, store: Store, changes: Changes) -> None:
        self._store = store
        self._changes = changes

    async def read(self) -> Record | None:
        """All of it, values included; None when nobody ever stored any."""
        return await self._store.document(DOCUMENT)

    async def change(self, rule: Callable[[Record | None], Record | None]) -> None:
        """Store what `rule` makes of it, unless that is None; raises what `rule` raises, and stores nothing then."""
        await self._changes.run(self._store.change(DOCUMENT, rule))
