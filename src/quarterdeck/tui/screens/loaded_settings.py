"""The settings screen without its commands: it loads the record and keeps the draft on top of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.draft.draft import Draft
from quarterdeck.draft.form_fields import CANONICAL, FormFields, fields_on, kind_in
from quarterdeck.draft.merge import Conflict, merge
from quarterdeck.service.errors import ErrorKind, ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import commands_at
from quarterdeck.tui.paint import lines
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.typed_secrets import RememberingStore, TypedSecrets
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
    from quarterdeck.service.models.schema import SchemaField
    from quarterdeck.service.models.settings import Settings
    from quarterdeck.tui.news import News

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
        self._typed: dict[tuple[str, str | None], TypedSecrets] = {}
        """What was typed in this run for MCP servers, by the place of the service."""
        self._fields: tuple[tuple[object, ...], FormFields] = ((), CANONICAL)
        """What the fields of the form were made for, and the fields."""
        self._of: Endpoint | None = None
        """Where the draft's record comes from."""
        self._through: ServiceClient | None = None
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
        if self._of != self.app.endpoint:
            self._of, self._through, self._loaded_at, self._failure = self.app.endpoint, None, None, None
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
        store = self._store_of(client)
        try:
            found = await store.load()
        except ServiceError as error:
            failure = error
        if client is not self._through or self.saving:
            return
        self._failure = failure
        if failure is None:
            self.store = store
            self.take(found)
            self.load_more(client)
        elif self.loaded:
            self.say_error(failure)
        self._show_state()

    def load_more(self, client: ServiceClient) -> None:
        """Read what belongs to a record that was just read."""

    def forget(self) -> None:
        """Forget what was read from another connection."""
        self.schema, self.store = (), None

    def _store_of(self, client: ServiceClient) -> RememberingStore:
        server = self._server()
        typed = self._typed.setdefault(self.app.endpoint.place, TypedSecrets())
        return RememberingStore(client.settings, typed, hidden=server is not None and server.mcp_secrets_hidden)

    def take(self, found: Settings | None) -> None:
        """Put the draft on top of a record that was read; where both sides changed something, only say so."""
        first, self._loaded_at = self._loaded_at is None, self.app.clock()
        merged = merge(self.form.draft.with_fields(self.fields_for(found)), found)
        if merged.conflicts:
            self.put(self.form.draft, {_row(conflict) for conflict in merged.conflicts})
            self.say(Shown("Somebody saved fields you edited; a save shows both and asks."), Tone.WARN)
        elif first or merged.draft != self.form.draft or self.form.view.server != self._server():
            self.put(merged.draft)

    def put(self, draft: Draft, contested: Iterable[str] = ()) -> None:
        """Show a draft that did not come from the form."""
        self.form.show(draft.with_fields(self.fields_for(draft.base)), self._server(), contested)
        self._count()

    def fields_for(self, record: Settings | None) -> FormFields:
        """The fields of the form for a record, made anew only when they are other ones."""
        made_for = (self._server(), self.schema, kind_in(record))
        if self._fields[0] != made_for:
            self._fields = made_for, fields_on(*made_for)
        return self._fields[1]

    @on(SettingsForm.Edited)
    def _edited(self) -> None:
        self.message_line.clear()
        self._count()

    def _server(self) -> Server | None:
        return self.app.session.server if self.app.session is not None else None

    def _count(self) -> None:
        self.app.edits = self.form.draft.count
        self.bar.show(self.form.view if self.loaded else None)
        self.refresh_frame()

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
            self.notice.update(lines(self._notice()))
        self.refresh_frame()

    def _trouble(self) -> ServiceError | None:
        session = self.app.session
        return self._failure or self.app.trouble or (session.trouble if session is not None else None)

    def _notice(self) -> list[Cell]:
        session, error = self.app.session, self._trouble()
        if error is not None:
            refused = error.kind in (ErrorKind.AUTH, ErrorKind.DENIED)
            return _failure_lines(error, "c enters a key." if refused else "ctrl+r tries again, c chooses a server.")
        if session is not None and session.key_refused:
            return [cell(Shown("The server refused the key."), Tone.BAD), EMPTY, cell(Shown("c enters a key."))]
        return [cell(Shown("Loading the settings…"), Tone.BUSY)]


def _failure_lines(error: ServiceError, what_to_do: str) -> list[Cell]:
    said = [cell(text.line(error.words), Tone.BAD)]
    if error.advice:
        said.append(cell(text.line(error.advice)))
    return [*said, EMPTY, cell(Shown(what_to_do), Tone.MUTED)]


def _row(conflict: Conflict) -> str:
    return conflict.key if conflict.row is None else f"{RowKind.SERVER}{conflict.row}"
