"""The settings record of the open connection: read again whenever that may bring news, and merged with the edits."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.mcp import McpServer
from quarterdeck.client.models.server import Server
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.options import SchemaField
from quarterdeck.config.connections import Connection
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import CANONICAL, FormFields, fields_on, kind_in
from quarterdeck.settings.kept import DisabledServers, disabled_in
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.settings.merge import merge, news_of
from quarterdeck.settings.typed_secrets import RememberingStore, TypedSecrets
from quarterdeck.tui.app import Deck
from quarterdeck.tui.widgets.form.form import SettingsForm
from quarterdeck.tui.widgets.form.rows import row_of

READ_AGAIN = timedelta(seconds=10)
"""Age at which a record is read again when the screen comes back, and pause between two tries after a failure."""


class Record:
    """What was read, through which client; `changed` is told when the form has another draft on top of it."""

    def __init__(self, app: Deck, form: SettingsForm, changed: Callable[[], None]) -> None:
        self._app = app
        self._form = form
        self._changed = changed
        self.endpoint: Connection | None = None
        """Where the draft's record comes from."""
        self.read_at: datetime | None = None
        self.failure: ServiceError | None = None
        """Why the last reading brought nothing."""
        self._schema: tuple[SchemaField, ...] = ()
        """What the server describes of its settings; empty until it is read."""
        self._asked: Client | None = None
        """The client that was last read through, or tried."""
        self._tried_at: datetime | None = None
        self._read_through: Client | None = None
        self._store: tuple[Client | None, RememberingStore | None] = (None, None)
        self._typed: dict[tuple[str, str | None], TypedSecrets] = {}
        """What was typed for MCP servers in this run, by the place of the service."""
        self._fields: tuple[tuple[object, ...], FormFields] = ((), CANONICAL)
        """What the fields of the form were made for, and the fields."""

    @property
    def loaded(self) -> bool:
        """Whether there is a record, or the server said that it has none."""
        return self.read_at is not None

    @property
    def server(self) -> Server | None:
        """The server that answers."""
        return self._app.session.server.kind if self._app.session is not None else None

    @property
    def described(self) -> bool:
        """Whether the server's own description of its settings is known, if it has one."""
        return bool(self._schema) or self.server is None or not self.server.nested

    @property
    def store(self) -> RememberingStore | None:
        """The settings of the server the draft is for, through the connection that is open; None until they are read.

        The connection may be another one than the record was read through: whoever stores reads again first.
        """
        client = self._app.client
        if client is None or self._read_through is None or self.endpoint != self._app.endpoint:
            return None
        return self._store_of(client)

    def _store_of(self, client: Client) -> RememberingStore:
        made_for, store = self._store
        if made_for is not client or store is None:
            typed = self._typed.setdefault(self._app.endpoint.place, TypedSecrets())
            store = RememberingStore(client, typed)
            self._store = client, store
        return store

    # Reading

    def follow(self) -> bool:
        """Go by the connection that is open; True when that is another one, of which nothing is known."""
        if self.endpoint == self._app.endpoint:
            return False
        self.endpoint, self.failure = self._app.endpoint, None
        self.forget()
        self.read_at = None
        return True

    def forget(self) -> None:
        """Forget what was read of a server; the draft stays until something is read."""
        self._schema, self._read_through, self._asked = (), None, None

    def to_read(self, *, again: bool, free: bool) -> Client | None:
        """What to read through now, None for not yet: what was not read, or failed, or `again` was read a while ago."""
        session = self._app.session
        if session is None or session.server.kind is None:
            return None
        waited = self._tried_at is None or self._app.clock() - self._tried_at >= READ_AGAIN
        is_due = session.client is not self._asked or (waited and free and (again or self.failure is not None))
        return session.client if is_due else None

    async def read(self, client: Client) -> tuple[Settings | None, tuple[McpServer, ...]]:
        """Read what is stored, and what this machine keeps beside it; raises ServiceError."""
        self._asked, self._tried_at = client, self._app.clock()
        about = self._app.endpoint.about
        found = await self._store_of(client).load()
        return found, disabled_in(await self._app.state.read(DisabledServers, about))

    def is_asked(self, client: Client) -> bool:
        """Whether what is read through this client is still wanted."""
        return client is self._asked

    def is_new(self, client: Client) -> bool:
        """Whether nothing was taken in through this client yet."""
        return client is not self._read_through

    def take(self, client: Client, found: Settings | None, kept_here: tuple[McpServer, ...]) -> bool:
        """Put the draft on top of a record; False where both sides changed something, which is only marked then."""
        first, self.read_at, self._read_through = not self.loaded, self._app.clock(), client
        view = self._form.view
        old = view.draft.with_fields(self._fields_for(found))
        merged = merge(old, found, kept_here)
        if merged.conflicts:
            self.put(old, {row_of(conflict.key, conflict.row) for conflict in merged.conflicts}, view.arrived)
            return False
        if first or merged.draft != view.draft or view.server != self.server:
            self.put(merged.draft, (), view.arrived.union(() if first else news_of(old, merged)))
        return True

    def describe(self, schema: tuple[SchemaField, ...]) -> None:
        """Know what the server describes of its settings."""
        self._schema = schema
        self.put(self._form.draft, self._form.view.contested)

    def put(self, draft: Draft, contested: Iterable[str] = (), arrived: Iterable[str | Identity] = ()) -> None:
        """Show a draft that did not come from the form."""
        self._form.show(draft.with_fields(self._fields_for(draft.base)), self.server, contested, arrived)
        self._changed()

    def _fields_for(self, record: Settings | None) -> FormFields:
        """The fields of the form, made anew only where they are other ones."""
        made_for: tuple[Server | None, Sequence[SchemaField], str] = (self.server, self._schema, kind_in(record))
        if self._fields[0] != made_for:
            self._fields = made_for, fields_on(*made_for)
        return self._fields[1]
