"""What the settings of each service are read through in one run of the deck, and which fields its form has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quarterdeck.settings.form_fields import CANONICAL, FormFields, fields_on, kind_in
from quarterdeck.tui.settings.typed_secrets import RememberingStore, TypedSecrets

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.client.models.server import Server
    from quarterdeck.client.models.settings import Settings
    from quarterdeck.client.options import SchemaField
    from quarterdeck.config.connections import Connection


class SettingsSource:
    """Makes stores that know what was typed in this run, and fields only where they are other ones."""

    def __init__(self) -> None:
        self._typed: dict[tuple[str, str | None], TypedSecrets] = {}
        """What was typed for MCP servers, by the place of the service."""
        self._fields: tuple[tuple[object, ...], FormFields] = ((), CANONICAL)
        """What the fields were made for, and the fields."""

    def store(self, client: Client, endpoint: Connection, server: Server | None) -> RememberingStore:
        """The settings of a service."""
        typed = self._typed.setdefault(endpoint.place, TypedSecrets())
        return RememberingStore(client.settings, client.secrets, typed, hidden=server is not None and server.nested)

    def fields(self, server: Server | None, schema: Sequence[SchemaField], record: Settings | None) -> FormFields:
        """The fields of the form for a record."""
        made_for = (server, schema, kind_in(record))
        if self._fields[0] != made_for:
            self._fields = made_for, fields_on(*made_for)
        return self._fields[1]
