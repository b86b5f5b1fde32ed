"""The stored settings of one data folder."""

from quarterdeck.local import settings_store
from quarterdeck.local.changes import Changes
from quarterdeck.local.settings_store import Mode, Record
from quarterdeck.local.store import Store


class Settings:
    """Loads and stores the one settings record."""

    def __init__(self, store: Store, changes: Changes, mode: Mode) -> None:
        self._store = store
        self._changes = changes
        self.mode = mode

    async def load(self) -> Record | None:
        """What a load answers; None when nothing is stored."""
        record = await self._store.settings()
        return None if record is None else settings_store.load_response(record)

    async def save(self, sent: Record) -> None:
        """Store what a body had."""
        rule = settings_store.merge if self.mode == "merge" else settings_store.replace
        await self._changes.run(self._store.change_settings(lambda stored: rule(stored, sent)))
