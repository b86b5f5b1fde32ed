"""The screen of settings: editing a draft by keyboard, and saving it without losing anything stored."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import dropwhile

from textual import on, work
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.settings import Settings
from quarterdeck.client.options import SUGGESTED
from quarterdeck.fleet.news import News
from quarterdeck.settings.draft import Draft, Edits
from quarterdeck.settings.merge import is_another
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.commands import EVERYWHERE, Command, Place, bindings_at, command_at
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.paint import lines
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.settings import words
from quarterdeck.tui.settings.files import SettingsFiles
from quarterdeck.tui.settings.record import Record
from quarterdeck.tui.settings.saved_at_once import AtOnceActions, read_lists
from quarterdeck.tui.settings.saving import NO_SAVE, Saves
from quarterdeck.tui.settings.servers import ServerList
from quarterdeck.tui.settings.unsaved import NONE_LEFT, KeptEdits
from quarterdeck.tui.widgets.bars import Hint, working
from quarterdeck.tui.widgets.filter_bar import FILTERING, FilterBar
from quarterdeck.tui.widgets.form.actions import acts_at_once, on_row, row_commands, row_hints, why_not
from quarterdeck.tui.widgets.form.field_list import FieldList
from quarterdeck.tui.widgets.form.form import SettingsForm
from quarterdeck.tui.widgets.form.help import full_help, title
from quarterdeck.tui.widgets.form.lines import GAP
from quarterdeck.tui.widgets.form.rows import NOWHERE, RowKind

KEYS_WAIT = 1.0
"""Seconds that typed keys wait for the settings to be read, because they were meant for the form."""


class SettingsScreen(DeckScreen):
    """Bar, filter and form, or a notice while there is nothing to edit."""

    PLACE = Place.SETTINGS
    BINDINGS = bindings_at(Place.SETTINGS)
    CSS_PATH = "settings.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (70, "-narrow"), (100, "-wide"), (116, "-wider")]
    """Minimum columns for: the groups in a column, the help in a column, and the help in full width."""
    AUTO_FOCUS = "FieldList"

    def __init__(self) -> None:
        super().__init__()
        self.bar = FilterBar(hint="part of a label, a key or a help text")
        self.form = SettingsForm()
        self.notice = Static(id="settings-notice")
        self.record = Record(self.app, self.form, self.app.endpoint)
        self.servers = ServerList(self.app, self.form, self.say)
        self.at_once = AtOnceActions(self.app, self.form, self._acted)
        self.saves = Saves(self.app, self.record, self.form, self._show_outcome, self.say)
        self.kept = KeptEdits(self.app, self.record, self.form, self.say)
        files = SettingsFiles(self.app, self.form, self.say)
        self.helpers = (self.form, self.servers, self.saves, self.kept, files)
        self._reading = False
        """Whether a requested reading has not ended."""
        self._to_offer = False
        """Whether the person still has to be asked about edits that were left behind."""
        self._outcome: Cell = EMPTY
        """The result of the last save, shown in the bar."""
        self._left_edits: Edits = {}
        """The edits that were left after that save; its result is shown while there are no others."""

    def parts(self) -> Iterable[Widget]:
        """Bar, form, notice."""
        return self.bar, self.form, self.notice

    # What is shown

    def health(self) -> Cell:
        """How fresh the record is."""
        session, read_at = self.app.session, self.record.read_at
        if self._reading:
            return cell("reading…", Tone.BUSY)
        if self.record.failure is not None:
            return cell("not read", Tone.BAD)
        if read_at is None:
            failed = self._trouble() is not None or (session is not None and session.server.key_refused)
            return cell("no settings" if failed else "loading…", Tone.BAD if failed else Tone.BUSY)
        return cell(f"read {read_at.astimezone():%H:%M}", Tone.GOOD)

    def hints(self) -> tuple[Hint, ...]:
        """The keys of the filter or of the open editor, else those for the row."""
        if self.bar.has_focus_within:
            return FILTERING
        if self.form.editor is not None:
            return working(self.form.editor.hints)
        kept = working((("esc", "show all"),)) if self.bar.words else ()
        return (*kept, *row_hints(self.form.row, lambda command: self.why_not(command) is None))

    def _show_state(self) -> None:
        self.set_class(not self.record.loaded, "-nothing")
        if not self.record.loaded:
            self.notice.update(lines(words.why_nothing(self.app.session, self._trouble())))
        elif self.is_current and self.focused is None:
            self.form.start()
        if self.record.loaded or self._trouble() is not None:
            self.app.release_keys()
        self._count_edits()

    @on(SettingsForm.Edited)
    def _count_edits(self) -> None:
        """Count the edits, and store them in case of a crash."""
        self.app.edits = self.form.draft.count
        self._show_edits()
        self.kept.keep()
        self.refresh_frame()

    def _show_outcome(self, outcome: Cell) -> None:
        """Show a step or the result of a save."""
        self._outcome, self._left_edits = outcome, self.form.draft.edits
        self._show_edits()
        for dialog in self.app.screen_stack:
            if isinstance(dialog, words.LeaveEditsDialog) and not self.saves.under_way:
                dialog.save_ended(self.form.draft.count, outcome)

    def _show_edits(self) -> None:
        """Show in the bar what is edited, and the result of the last save."""
        outcome = self._outcome if self._left_edits == self.form.draft.edits else EMPTY
        said = words.edited(self.form.view, tried=bool(outcome))
        self.bar.say((*said, GAP, *outcome) if self.record.loaded else EMPTY)

    def _trouble(self) -> ServiceError | None:
        session = self.app.session
        return self.record.failure or self.app.trouble or (session.server.trouble if session is not None else None)

    @on(FieldList.Moved)
    def _moved(self) -> None:
        self.message_line.go_on()
        self.refresh_frame()
        client, key = self.app.client, self.form.editor.entry.key if self.form.editor is not None else ""
        if client is not None and key in SUGGESTED and key not in self.form.suggestions:
            self._read_suggestions(client, key)

    # Which commands are allowed

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a field is edited, only saving and the general commands work; all other keys belong to the field."""
        if action == "command" and self.form.editor is not None:
            name = str(parameters[0])
            return name == "save" or command_at(self.PLACE, name) in EVERYWHERE
        return super().check_action(action, parameters)

    def why_not(self, command: Command) -> str | None:
        """Return why a command cannot be done with the draft and the row under the cursor."""
        reason = super().why_not(on_row(command, self.form.row))
        if reason is not None or command in EVERYWHERE or command.name in ("back", "filter"):
            return reason
        if not self.record.loaded:
            return f"{command.label}: the settings are not loaded."
        if self.saves.under_way:
            return f"{command.label}: a save is under way."
        if command.name == "unsaved_edits" and self.kept.none_left:
            return NONE_LEFT
        if command.name == "undo_save" and not self.record.has_save:
            return NO_SAVE
        return why_not(command.name, self.form.view, self.form.row)

    async def run_command(self, name: str) -> None:
        """Run a command that can be done; what acts at once is run by `AtOnceActions`."""
        if acts_at_once(name, self.form.row):
            await self.at_once.act(name, self.form.view, self.form.row)
        else:
            await super().run_command(name)

    # Fields

    async def action_edit(self) -> None:
        """Edit the field under the cursor, or search for fields that are not shown."""
        match self.form.row.kind:
            case RowKind.MORE:
                self.action_filter()
            case RowKind.SERVER:
                await self.servers.edit()
            case _:
                await self.form.edit()

    def action_go_to_group(self, number: int) -> None:
        """Go to the first row of a group."""
        self.form.list.move_to_group(self.form.view.groups[number])
        self.set_focus(self.form.list)

    @property
    def row_id(self) -> str:
        """The id of the row under the cursor."""
        return self.form.row.id

    def row_title(self) -> str:
        """The name of the row under the cursor."""
        return title(self.form.view, self.form.row) or "Settings"

    def row_commands(self) -> Iterable[Command]:
        """The commands for the row under the cursor, and those for all settings."""
        return row_commands(self.form.row)

    async def action_detail(self) -> None:
        """Show all that is known of the row, kept up to date."""
        row_id, form = self.form.row.id, self.form

        def said() -> Sequence[Cell]:
            _, *lines = full_help(form.view, form.view.rows.get(row_id, NOWHERE)) or (EMPTY,)
            return [*dropwhile(EMPTY.__eq__, lines)]  # without the title

        await self.app.push_screen(PageDialog(self.row_title(), said))

    def action_copy(self) -> None:
        """Copy the name of the field under the cursor, or an MCP server without its secrets."""
        if self.form.row.entry is not None:
            self.servers.copy()
            return
        key = self.form.row.name
        self.say(self.app.copy_text(f"the name {key}", key))

    def action_filter(self) -> None:
        """Type into the filter."""
        self.bar.open()

    @on(FilterBar.Changed)
    def _filter_rows(self, event: FilterBar.Changed) -> None:
        self.form.filter(event.words)

    @on(SettingsForm.AllShown)
    def _clear_filter(self) -> None:
        self.bar.put("")

    @on(FilterBar.Done)
    def _back_to_form(self) -> None:
        self.set_focus(None)  # where nothing is loaded yet, no key may go on into the filter
        self.form.start()

    def _acted(self, done: str | None, tone: Tone) -> None:
        """Show what was done, and read again what may have changed: tokens and the model are in the record."""
        if done is not None:
            self.say(done, tone)
        self._read_again()

    # News of the record

    def on_mount(self) -> None:
        """Load once a server responds; keys typed meanwhile are kept for the form for a short time."""
        self.app.hold_keys()
        self.set_timer(KEYS_WAIT, self.app.release_keys)
        self._show_state()
        self._keep_up()

    async def on_unmount(self) -> None:
        """Store the unsaved edits."""
        await self.kept.finish()

    def on_screen_resume(self) -> None:
        """Read again, because somebody may have changed the settings meanwhile."""
        self._keep_up(again=True)
        self._offer()

    def on_news(self, news: News) -> None:
        """Handle news: the connection may be another one, or work again, or lead to another server."""
        super().on_news(news)
        if news.another_server:
            self._stop_reading()
            self.record.forget()
        self._keep_up()

    @property
    def _may_change(self) -> bool:
        """Whether a reading may change the draft: no save and no dialog goes on with the one that it began with."""
        return not self.saves.under_way and (self.is_active or not self.record.loaded)

    def _keep_up(self, *, again: bool = False) -> None:
        """Load what was not loaded or failed; with `again`, also what was loaded a while ago."""
        if self.record.follow():
            self._stop_reading()
            self._outcome = EMPTY
            self._show_state()
        free = self.is_current and self.form.editor is None
        client = self.record.to_read(again=again, free=free) if self._may_change else None
        if client is not None:
            self._load(client)
        elif not self.record.loaded:
            self._show_state()

    def action_refresh(self) -> None:
        """Read the record again now; edits are kept."""
        self.app.action_refresh()
        self._read_again()

    def _read_again(self) -> None:
        if self.app.client is not None and not self.saves.under_way:
            self._reading = True
            self.refresh_frame()
            self._load(self.app.client)

    def _stop_reading(self) -> None:
        """Give up a reading whose result belongs to another server now."""
        self.workers.cancel_group(self, "settings-load")

    @work(exclusive=True, group="settings-load")
    async def _load(self, client: Client) -> None:
        """Read the record and base the draft on it."""
        failure = None
        try:
            found, kept_here = await self.record.read(client)
            await self.kept.find()
        except ServiceError as error:
            failure = error
        self._reading = False
        if failure is not None and client is not self.app.client:
            return  # the connection was closed meanwhile; the next one is read again
        if failure is not None and failure.kind is ErrorKind.WRONG_API and self.app.session is not None:
            self.app.session.server.doubt()
        if not self._may_change:
            self.record.read_in_vain()
            self._read_more(client)
            return
        self.record.failure = failure
        if failure is None:
            first = not self.record.loaded
            if client is not self.record.read_through:
                await self._ask_whose(found)
            if not self.record.take(client, found, kept_here):
                self.say("Fields you edited were changed elsewhere, too; a save shows both and asks.", Tone.WARN)
            self._to_offer |= first
            self._offer()
            self._read_more(client)
        elif self.record.loaded:
            self.say_error(failure)
        self._show_state()

    async def _ask_whose(self, found: Settings | None) -> None:
        """If the record may be another one, ask whether the edits are meant for it; otherwise discard them."""
        draft, of_another = self.form.draft, self.record.of_another
        if not draft.edited or not (of_another or is_another(draft.base, found)):
            return
        dialog = words.whose_dialog(draft.base, found, of_another=of_another)
        if await self.app.push_screen_wait(dialog) is False:
            await self.form.change(Draft.discard)

    @work(exclusive=True, group="settings-more")
    async def _read_more(self, client: Client) -> None:
        """Read the data that is saved at once."""
        lists = await read_lists(client)
        if client is self.app.client:
            self.form.show_lists(lists)
            self.refresh_frame()

    @work(group="settings-suggestions", exclusive=True)
    async def _read_suggestions(self, client: Client, key: str) -> None:
        values: Sequence[str] = ()
        with suppress(ServiceError):
            values = await client.suggestions(key)
        if client is self.app.client:
            self.form.suggest({**self.form.suggestions, key: values})

    # Edits that were left behind, and leaving with unsaved edits

    def _offer(self) -> None:
        """Ask about edits that were left behind, each time a connection is opened and after they were left."""
        if self._to_offer and self.record.loaded and self.is_current:
            self._to_offer = False
            if self.why_not(command_at(self.PLACE, "unsaved_edits")) is None:
                self.kept.action_unsaved_edits()

    async def may_leave(self) -> bool:
        """Show unsaved edits and ask what to do; returns True if they are saved, left behind or discarded, or none."""
        if not self.form.draft.edited:
            return True
        await self.app.show(self.PLACE)
        why_not = self.why_not(command_at(self.PLACE, "save"))
        dialog = words.leave_edits_dialog(self.form.draft.count, why_not, saving=self.saves.under_way)
        answer = await self.app.push_screen_wait(dialog)
        if answer == "s":
            return await self.saves.save()
        gone = answer == "d" or (answer == "l" and await self.kept.leave())
        if gone:
            self._to_offer = answer == "l"
            await self.form.change(Draft.discard)
            self._count_edits()
        return gone

    @work(exclusive=True, group="dialog")
    async def action_back(self) -> None:
        """Clear the filter if there is one, otherwise go back to the conversations."""
        if self.bar.words:
            self.bar.action_clear()
        elif await self.may_leave():
            await self.app.show(Place.CONVERSATIONS)
