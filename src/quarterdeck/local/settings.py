"""The stored settings of one data folder, in the flat shape."""

from quarterdeck.local import secret_rules, settings_store
from quarterdeck.local.changes import Changes
from quarterdeck.local.secrets import DOCUMENT as SECRETS
from quarterdeck.local.settings_store import Mode, Record
from quarterdeck.local.store import Store

_DOCUMENT = "settings"


class Settings:
    """Loads and stores the one settings record."""

    def __init__(self, store: Store, changes: Changes, mode: Mode) -> None:
        self._store = store
        self._changes = changes
        self.merges = mode == "merge"

    async def load(self) -> Record | None:
        """What a load answers; None when nothing is stored."""
        record = await self._store.document(_DOCUMENT)
        return None if record is None else settings_store.load_response(record, await self._store.document(SECRETS))

    async def llm_model(self) -> str | None:
        """The model that conversations begin with."""
        return (await self._store.document(_DOCUMENT) or {}).get("llm_model")

    async def save(self, sent: Record) -> None:
        """Store what a body had; its `secrets_store` only where settings are merged."""
        await self._changes.run(self._save(sent))

    async def _save(self, sent: Record) -> None:
        if self.merges and "secrets_store" in sent:
            await self._store.change(SECRETS, lambda stored: secret_rules.merged(stored, sent["secrets_store"]))
        rule = settings_store.merge if self.merges else settings_store.replace
        await self._store.change(_DOCUMENT, lambda stored: rule(stored, sent))
