"""The settings screen without its commands: it loads the record and keeps the draft on top of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from textual import work

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings.disabled import DisabledServers, listed
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.form_fields import FormFields
from quarterdeck.settings.mcp_server import Identity
from quarterdeck.settings.merge import Conflict, is_another, merge, news_of
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Tone, cell
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.screens.settings_frame import SettingsFrame
from quarterdeck.tui.settings.source import SettingsSource
from quarterdeck.tui.settings.typed_secrets import RememberingStore
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.rows import RowKind

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.client.models.mcp import McpServer
    from quarterdeck.client.models.settings import Settings
    from quarterdeck.client.options import SchemaField
    from quarterdeck.config.connections import Connection
    from quarterdeck.fleet.news import News

READ_AGAIN = timedelta(seconds=10)
"""Age at which a record is read again when the screen comes back, and pause between two tries after a failure."""


class LoadedSettings(SettingsFrame):
    """Reads the record whenever that may bring news, and merges it with the edits."""

    def __init__(self) -> None:
        super().__init__()
        self.saving = False
        self.schema: tuple[SchemaField, ...] = ()
        """What the server describes of its settings; empty until it is read."""
        self._read_through: tuple[Client, RememberingStore] | None = None
        """What the draft's record was read through; None until the server that answers was read."""
        self._source = SettingsSource()
        self.endpoint: Connection | None = None
        """Where the draft's record comes from."""
        self._through: Client | None = None
        self._tried_at: datetime | None = None
        self._asks_whose = False
        """Whether the person is being asked whose record this is."""

    @property
    def store(self) -> RememberingStore | None:
        """The settings of the server the draft is for, through the connection that is open; None until they are read.

        The connection may be another one than the record was read through: whoever stores reads again first.
        """
        client = self.app.client
        if client is None or self._read_through is None or self.endpoint != self.app.endpoint:
            return None
        reader, store = self._read_through
        return store if reader is client else self._source.store(client, self.app.endpoint, self._server())

    # Loading

    def on_mount(self) -> None:
        """Load as soon as something answers."""
        self._show_state()
        self._keep_up()

    def on_screen_resume(self) -> None:
        """Somebody may have changed the settings meanwhile."""
        self._keep_up(again=True)

    def on_news(self, told: Sequence[News]) -> None:
        """The connection may be another one, or back, or lead to another server."""
        super().on_news(told)
        if any(news.another_server for news in told):
            self._through = None
            self.forget()
        self._keep_up()

    def _keep_up(self, *, again: bool = False) -> None:
        """Load what was not loaded yet, or failed to; `again` what was loaded a while ago too."""
        session = self.app.session
        if self.endpoint != self.app.endpoint:
            self.endpoint, self._through, self._loaded_at, self._failure = self.app.endpoint, None, None, None
            self.forget()
            self.put(Draft())
            self.bar.say(EMPTY)
        if session is None or session.server is None:
            self._show_state()
            return
        waited = self._tried_at is None or self.app.clock() - self._tried_at >= READ_AGAIN
        is_free = self.form.editor is None and not self.saving and not self._asks_whose
        if session.client is not self._through or (waited and is_free and (again or self._failure is not None)):
            self.load(session.client)

    @work(exclusive=True, group="settings-load")
    async def load(self, client: Client) -> None:
        """Read the record and put the draft on top of it."""
        self._through, self._tried_at = client, self.app.clock()
        found, failure = None, None
        store, endpoint = self._source.store(client, self.app.endpoint, self._server()), self.app.endpoint
        try:
            found = await store.load()
        except ServiceError as error:
            failure = error
        self.reading = False
        kept_here = await self._kept_here(endpoint)
        if client is not self._through or self.saving:
            return
        self._failure = failure
        if failure is None:
            if self._read_through is None or self._read_through[0] is not client:
                await self._ask_whose(found)
            self._read_through = client, store
            first = not self.loaded
            self.take(found, kept_here)
            self.load_more(client, first=first)
        elif self.loaded:
            self.say_error(failure)
        self._show_state()

    async def _ask_whose(self, found: Settings | None) -> None:
        """Have the person say whether edits are meant for a record that may be somebody else's; else drop them."""
        draft = self.form.draft
        if not draft.edited or not is_another(draft.base, found):
            return
        was, now = (record.email if record is not None else None for record in (draft.base, found))
        said = (
            cell(text.line(f"They were made on the settings of {was or 'somebody'}.")),
            cell(text.line(f"What this key reads are those of {now or 'somebody else'}.")),
            cell(Shown("y keeps them as edits of these; n drops them, and ctrl+z takes them back."), Tone.MUTED),
        )
        self._asks_whose = True
        try:
            meant = await self.app.push_screen_wait(
                ConfirmDialog(Shown("Are the edits meant for these settings?"), said)
            )
        finally:
            self._asks_whose = False
        if meant is not True:
            await self.form.change(Draft.discard)

    def load_more(self, client: Client, *, first: bool) -> None:
        """Read what belongs to a record that was just read, for the `first` time since the connection was opened."""

    async def _kept_here(self, endpoint: Connection) -> tuple[McpServer, ...]:
        """The MCP servers that this machine keeps for a service; as before, when they cannot be read."""
        try:
            return listed(await self.app.state.read(DisabledServers, endpoint.about))
        except ServiceError as error:
            self.say_error(error)
            return self.form.draft.disabled

    def forget(self) -> None:
        """Forget what was read from another connection."""
        self.schema, self._read_through = (), None

    def take(self, found: Settings | None, kept_here: tuple[McpServer, ...]) -> None:
        """Put the draft on top of a record that was read; where both sides changed something, only say so."""
        first, self._loaded_at = not self.loaded, self.app.clock()
        old = self.form.draft.with_fields(self.fields_for(found))
        if kept_here != old.disabled:
            old = old.with_disabled(kept_here)
        merged = merge(old, found)
        if merged.conflicts:
            self.put(old, {_row(conflict) for conflict in merged.conflicts}, self.form.view.arrived)
            self.say(Shown("Somebody saved fields you edited; a save shows both and asks."), Tone.WARN)
        elif first or merged.draft != self.form.draft or self.form.view.server != self._server():
            arrived = () if first else news_of(old, merged)
            self.put(merged.draft, (), self.form.view.arrived.union(arrived))

    def put(self, draft: Draft, contested: Iterable[str] = (), arrived: Iterable[str | Identity] = ()) -> None:
        """Show a draft that did not come from the form."""
        self.form.show(draft.with_fields(self.fields_for(draft.base)), self._server(), contested, arrived)
        self.changed()

    def fields_for(self, record: Settings | None) -> FormFields:
        """The fields of the form for a record."""
        return self._source.fields(self._server(), self.schema, record)

    def action_refresh(self) -> None:
        """Read the record again now; edits stay."""
        self.app.action_refresh()
        if self.app.client is not None and not self.saving:
            self.reading = True
            self.refresh_frame()
            self.load(self.app.client)


def _row(conflict: Conflict) -> str:
    return conflict.key if conflict.row is None else f"{RowKind.SERVER}{conflict.row}"
