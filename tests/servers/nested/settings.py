"""The stored settings of one data folder, in the nested shape."""

from collections.abc import Callable

from pydantic import ValidationError

from quarterdeck.local.errors import LocalServiceError, RefusalError
from quarterdeck.local.store import Store
from tests.servers.nested.record import NestedRecord, Record, load_response, patched, words_of


class InvalidSettingsError(LocalServiceError):
    """These settings cannot be stored."""


class UnreadableSettingsError(LocalServiceError):
    """What is stored are no settings any more."""


class NestedSettings:
    """Reads and changes the one settings record."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self) -> NestedRecord | None:
        """The record, None when nothing is stored. Raises `UnreadableSettingsError`."""
        return _read(await self._store.document("nested_settings"))

    async def load(self) -> Record | None:
        """What a load answers; None when nothing is stored. Raises `UnreadableSettingsError`."""
        record = await self.read()
        return None if record is None else load_response(record, await self._store.document("secrets"))

    async def llm_model(self) -> str | None:
        """The model that conversations begin with."""
        record = await self.read()
        return record.agent_settings.llm.model if record else None

    async def patch(self, sent: Record) -> None:
        """Store what a body changes. Raises `InvalidSettingsError`, and stores nothing then."""
        async with self._store.changing("nested_settings") as documents:
            try:
                documents["nested_settings"] = patched(documents["nested_settings"], sent)
            except ValidationError as error:
                raise InvalidSettingsError(words_of(error)) from error

    async def change(self, rule: Callable[[NestedRecord], NestedRecord]) -> None:
        """Store what `rule` makes of the record; raises what it raises, or `RefusalError` when there is none."""
        async with self._store.changing("nested_settings") as documents:
            record = _read(documents["nested_settings"])
            if record is None:
                raise RefusalError("Settings not found", 404)
            documents["nested_settings"] = rule(record).stored()


def _read(stored: Record | None) -> NestedRecord | None:
    try:
        return None if stored is None else NestedRecord.model_validate(stored)
    except ValidationError as error:
        raise UnreadableSettingsError(words_of(error)) from error
