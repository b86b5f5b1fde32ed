"""The settings record of the open connection: read whenever it may have changed, and merged with the edits."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.config.connections import Connection
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.form_fields import FormFields, fields_on, kind_in
from quarterdeck.settings.kept import DisabledServers, Journal
from quarterdeck.settings.merge import changed_rows, except_for, merge
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.tui.app import Deck
from quarterdeck.tui.widgets.bars import Said
from quarterdeck.tui.widgets.form.form import SettingsForm
from quarterdeck.tui.widgets.form.rows import Lists, row_of

READ_AGAIN = timedelta(seconds=10)
"""Age after which the record is read again when the screen returns, and pause between two tries after a failure."""


@dataclass(eq=False)
class Record:
    """The record that was read, the client it came from, and the form whose draft is based on it."""

    app: Deck
    form: SettingsForm
    endpoint: Connection
    """The connection that the draft's record comes from."""
    read_at: datetime | None = None
    failure: ServiceError | None = None
    """Why the last reading failed."""
    has_save: bool = True
    """Whether a save from this machine may be noted that can be undone."""
    _schema: tuple[SchemaField, ...] = ()
    """The server's own description of its settings; empty until it is read."""
    _tried: tuple[Client, datetime] | None = None
    """The client of the last reading or attempt, and when that was."""
    read_through: Client | None = None
    """The client that the record was read through."""
    _typed: dict[tuple[str, str | None], TypedSecrets] = field(default_factory=dict)
    """Secrets typed for MCP servers in this run, by the server's address."""

    @property
    def loaded(self) -> bool:
        """Whether there is a record, or the server said that it has none."""
        return self.read_at is not None

    @property
    def of_another(self) -> bool:
        """Whether another server answers by now than the one that the record was read from."""
        return self.loaded and self.read_through is None

    @property
    def server(self) -> Server | None:
        """The server that responds."""
        return self.app.session.server.kind if self.app.session is not None else None

    @property
    def store(self) -> RememberingStore | None:
        """The settings resource of the draft's server on the open connection; None until the settings are read.

        The connection may differ from the one that the record was read through, so a save reads again first.
        """
        client = self.app.client
        if client is None or self.read_through is None or self.endpoint.place != self.app.endpoint.place:
            return None
        return self._store_of(client)

    def _store_of(self, client: Client) -> RememberingStore:
        return RememberingStore(client, self._typed.setdefault(self.app.endpoint.place, {}))

    # Reading

    def follow(self) -> bool:
        """Switch to the open connection; returns True if its address differs, so that nothing of it is known."""
        before, self.endpoint = self.endpoint, self.app.endpoint
        if before.place == self.endpoint.place:
            return False
        self.failure, self.read_at = None, None
        self.forget()
        self.put(Draft())
        return True

    def forget(self) -> None:
        """Forget what was read from a server; the draft is kept until something is read."""
        self._schema, self.read_through, self._tried = (), None, None
        self.form.show_lists(Lists())
        self.form.suggest({})

    def to_read(self, *, again: bool, free: bool) -> Client | None:
        """Return the client if it should read now: never read, or failed, or (with `again`) long ago; else None."""
        session = self.app.session
        if session is None or session.server.kind is None:
            return None
        if self._tried is None or session.client is not self._tried[0]:
            return session.client
        waited = self.app.clock() - self._tried[1] >= READ_AGAIN
        return session.client if waited and free and (again or self.failure is not None) else None

    async def read(self, client: Client) -> tuple[Settings | None, tuple[McpServer, ...]]:
        """Read the stored settings, and the disabled servers on this machine; raises ServiceError.

        The server's own description of its settings is read once; without it, the others are shown.
        """
        self._tried = client, self.app.clock()
        about = self.app.endpoint.about
        with suppress(ServiceError):  # undoing tells it
            self.has_save = bool((await self.app.state.read(Journal, about)).saves)
        found = await self._store_of(client).load()
        try:
            self._schema = self._schema or await client.settings.schema()
        except ServiceError as error:
            self.form.screen.post_message(Said(f"The server's own settings are not shown: {error.words}"))
        return found, (await self.app.state.read(DisabledServers, about)).servers

    def read_in_vain(self) -> None:
        """Note that what was read is not used, so that it is due again."""
        self._tried = None

    def take(self, client: Client, found: Settings | None, kept_here: tuple[McpServer, ...]) -> bool:
        """Base the draft on a new record; returns False if both sides changed something.

        That is only marked: it keeps the value that was loaded, so that a save finds the conflict again and asks.
        """
        first, self.read_at, self.read_through = self.read_through is None, self.app.clock(), client
        view = self.form.view
        old = view.draft.with_fields(self._fields_for(found))
        merged = merge(old, found, kept_here)
        contested = frozenset(row_of(conflict.key, conflict.row) for conflict in merged.conflicts)
        if contested:
            keys = {conflict.key for conflict in merged.conflicts}
            here = None if MCP in keys else kept_here
            merged = merge(old, except_for(keys, found or Settings(), old.base or Settings()), here)
        if first or contested or merged.draft != view.draft or view.server != self.server:
            news = () if first or old.base is None else changed_rows(old, merged)  # a first record is new as a whole
            self.put(merged.draft, contested, view.arrived.union(row_of(key, row) for key, row in news))
        return not contested

    def put(self, draft: Draft, contested: frozenset[str] = frozenset(), arrived: frozenset[str] = frozenset()) -> None:
        """Show a draft that did not come from the form."""
        self.form.show(
            replace(
                self.form.view,
                draft=draft.with_fields(self._fields_for(draft.base)),
                server=self.server,
                read_only=self.app.endpoint.read_only,
                contested=contested,
                arrived=arrived,
                complaints=(),
            )
        )

    def _fields_for(self, record: Settings | None) -> FormFields:
        return fields_on(self.server, self._schema, kind_in(record))
