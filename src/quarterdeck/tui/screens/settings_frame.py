"""The settings screen as a frame: bar, filter and form, how fresh the record is, and which keys work where."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from textual import getters, on
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.client.errors import ServiceError
from quarterdeck.settings.draft import Draft
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import commands_at
from quarterdeck.tui.paint import lines
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.settings.words import why_nothing
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.key_bar import Hint
from quarterdeck.tui.widgets.settings.bar import SettingsBar
from quarterdeck.tui.widgets.settings.field_filter import FieldFilter
from quarterdeck.tui.widgets.settings.form import SettingsForm
from quarterdeck.tui.widgets.settings.key_hints import row_hints

if TYPE_CHECKING:
    from quarterdeck.client.models.server import Server


class SettingsFrame(DeckScreen):
    """Bar, filter and form, or a notice while there is nothing to edit."""

    AUTO_FOCUS = "FieldList"

    bar = getters.query_one(SettingsBar)
    field_filter = getters.query_one(FieldFilter)
    form = getters.query_one(SettingsForm)
    notice = getters.query_one("#settings-notice", Static)

    def __init__(self) -> None:
        super().__init__()
        self._said_of: Draft | None = None
        """The draft that the sentence in the message line is about."""
        self._loaded_at: datetime | None = None
        self._failure: ServiceError | None = None
        self.reading = False
        """Whether a reading was asked for and has not ended."""

    def parts(self) -> Iterable[Widget]:
        """Bar, filter, form, notice."""
        yield SettingsBar(id="settings-bar")
        yield FieldFilter()
        yield SettingsForm()
        yield Static(id="settings-notice")

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

    @property
    def loaded(self) -> bool:
        """Whether there is a record, or the server said that it has none."""
        return self._loaded_at is not None

    def health(self) -> Cell:
        """How fresh the record is."""
        session = self.app.session
        if self.reading:
            return cell(Shown("reading…"), Tone.BUSY)
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
