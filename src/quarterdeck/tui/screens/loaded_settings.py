"""The settings screen without its commands: it loads the record and keeps the draft on top of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.draft.draft import Draft
from quarterdeck.draft.fields.form_fields import FormFields
from quarterdeck.draft.kept import parked
from quarterdeck.draft.mcp.servers import Identity
from quarterdeck.draft.merge import Conflict, merge
from quarterdeck.draft.news import news_of
from quarterdeck.service.errors import ServiceError
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import commands_at
from quarterdeck.tui.paint import lines
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.settings.source import SettingsSource
from quarterdeck.tui.settings.typed_secrets import RememberingStore
from quarterdeck.tui.settings.words import why_nothing
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.key_bar import Hint
from quarterdeck.tui.widgets.settings.bar import SettingsBar
from quarterdeck.tui.widgets.settings.field_filter import FieldFilter
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.key_hints import row_hints
from quarterdeck.tui.widgets.settings.rows import RowKind

if TYPE_CHECKING:
    from quarterdeck.service.client import ServiceClient
    from quarterdeck.service.endpoint import Endpoint
    from quarterdeck.service.models.capabilities import Server
    from quarterdeck.service.models.mcp import McpServer
    from quarterdeck.service.models.schema import SchemaField
    from quarterdeck.service.models.settings import Settings
    from quarterdeck.tui.live.news import News

READ_AGAIN = timedelta(seconds=10)
"""Age at which a record is read again when the screen comes back, and pause between two tries after a failure."""


class LoadedSettings(DeckScreen):
    """Bar, filter and form, or a notice while there is nothing to edit."""

    AUTO_FOCUS = "FieldList"

    bar = getters.query_one(SettingsBar)
    field_filter = getters.query_one(FieldFilter)
    form = getters.query_one(SettingsForm)
    notice = getters.query_one("#settings-notice", Static)

    def __init__(self) -> None:
        super().__init__()
        self.saving = False
        self.schema: tuple[SchemaField, ...] = ()
        """What the server describes of its settings; empty until it is read."""
        self.store: RememberingStore | None = None
        """The settings of the server the draft is for."""
        self._source = SettingsSource()
        self.endpoint: Endpoint | None = None
        """Where the draft's record comes from."""
        self._through: ServiceClient | None = None
        self._said_of: Draft | None = None
        """The draft that the sentence in the message line is about."""
        self._loaded_at: datetime | None = None
        self._tried_at: datetime | None = None
        self._failure: ServiceError | None = None

    def parts(self) -> Iterable[Widget]:
        """Bar, filter, form, notice."""
        yield SettingsBar(id="settings-bar")
        yield FieldFilter()
        yield SettingsForm()
        yield Static(id="settings-notice")

    # Loading

    def on_mount(self) -> None:
        """Load as soon as something answers."""
        super().on_mount()
        self._show_state()
        self._keep_up()

    def on_screen_resume(self) -> None:
        """Somebody may have changed the settings meanwhile."""
        super().on_screen_resume()
        self._keep_up(again=True)

    def on_news(self, news: News) -> None:
        """The connection may be another one, or back, or lead to another server."""
        super().on_news(news)
        if news.another_server:
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
        is_free = self.form.editor is None and not self.saving
        if session.client is not self._through or (waited and is_free and (again or self._failure is not None)):
            self.load(session.client)

    @work(exclusive=True, group="settings-load")
    async def load(self, client: ServiceClient) -> None:
        """Read the record and put the draft on top of it."""
        self._through, self._tried_at = client, self.app.clock()
        found, failure = None, None
        store, endpoint = self._source.store(client, self.app.endpoint, self._server()), self.app.endpoint
        try:
            found = await store.load()
        except ServiceError as error:
            failure = error
        kept_here = await self._kept_here(endpoint)
        if client is not self._through or self.saving:
            return
        self._failure = failure
        if failure is None:
            self.store = store
            first = not self.loaded
            self.take(found, kept_here)
            self.load_more(client, first=first)
        elif self.loaded:
            self.say_error(failure)
        self._show_state()

    def load_more(self, client: ServiceClient, *, first: bool) -> None:
        """Read what belongs to a record that was just read, for the `first` time since the connection was opened."""

    async def _kept_here(self, endpoint: Endpoint) -> tuple[McpServer, ...]:
        """The MCP servers that this machine keeps for a service; as before, when they cannot be read."""
        try:
            return parked.from_note(await self.app.notes.read(parked.KIND, endpoint))
        except ServiceError as error:
            self.say_error(error)
            return self.form.draft.parked

    def forget(self) -> None:
        """Forget what was read from another connection."""
        self.schema, self.store = (), None

    def take(self, found: Settings | None, kept_here: tuple[McpServer, ...]) -> None:
        """Put the draft on top of a record that was read; where both sides changed something, only say so."""
        first, self._loaded_at = not self.loaded, self.app.clock()
        old = self.form.draft.with_fields(self.fields_for(found))
        if kept_here != old.parked:
            old = old.with_parked(kept_here)
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

    @on(SettingsForm.Edited)
    def _edited(self) -> None:
        if self.form.draft is not self._said_of:
            self.message_line.clear()
        self.changed()

    def say(self, sentence: Shown, tone: Tone = Tone.PLAIN) -> None:
        """Show one sentence until the draft is another one."""
        self._said_of = self.form.draft if self.is_mounted else None
        super().say(sentence, tone)

    def changed(self) -> None:
        """The draft is another one: count its edits."""
        self.app.edits = self.form.draft.count
        self.bar.show(self.form.view if self.loaded else None)
        self.refresh_frame()

    def _server(self) -> Server | None:
        return self.app.session.server if self.app.session is not None else None

    @on(SettingsForm.Moved)
    def _moved(self) -> None:
        self.refresh_frame()

    def action_read_again(self) -> None:
        """Read the record again now; edits stay."""
        self.app.action_read_again()
        if self.app.client is not None and not self.saving:
            self.load(self.app.client)

    # What is said

    @property
    def loaded(self) -> bool:
        """Whether there is a record, or the server said that it has none."""
        return self._loaded_at is not None

    def health(self) -> Cell:
        """How fresh the record is."""
        session = self.app.session
        if self._failure is not None:
            return cell(Shown("not read"), Tone.BAD)
        if self._loaded_at is None:
            failed = self._trouble() is not None or (session is not None and session.key_refused)
            return cell(Shown("no settings" if failed else "loading…"), Tone.BAD if failed else Tone.BUSY)
        return cell(Shown(f"read {self._loaded_at.astimezone():%H:%M}"), Tone.GOOD)

    def refresh_frame(self) -> None:
        """The key bar has the keys of the open editor, or leaves out what the row under the cursor has no use for."""
        super().refresh_frame()
        if not self.is_mounted:
            return
        if self.form.editor is not None:
            self.key_bar.hints = tuple[Hint, ...]((key, label, True) for key, label in self.form.editor.HINTS)
        else:
            works = commands_at(self.PLACE)
            self.key_bar.hints = row_hints(works, self.form.kind, lambda command: self.why_not(command) is None)

    def _show_state(self) -> None:
        self.set_class(not self.loaded, "-nothing")
        self.bar.show(self.form.view if self.loaded else None)
        if self.loaded:
            if self.is_current and self.focused is None:
                self.form.start()
        else:
            self.notice.update(lines(why_nothing(self.app.session, self._trouble())))
        self.refresh_frame()

    def _trouble(self) -> ServiceError | None:
        session = self.app.session
        return self._failure or self.app.trouble or (session.trouble if session is not None else None)


def _row(conflict: Conflict) -> str:
    return conflict.key if conflict.row is None else f"{RowKind.SERVER}{conflict.row}"
