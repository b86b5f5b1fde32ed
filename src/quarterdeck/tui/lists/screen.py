"""The screen of a list: live rows, a description of the one under the cursor, and the commands of both lists."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice
from time import monotonic
from typing import Generic

from textual import events, on
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget

from quarterdeck.fleet.health import Health, HealthState
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.unread import MOST_WATCHED
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.details import health_cell, without_unknown
from quarterdeck.tui.commands import Command, Place
from quarterdeck.tui.copying import CopyDialog, copy
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.list_pickers import pick_unlinked
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.lists.arranging import Arranging
from quarterdeck.tui.lists.listing import ListDefinition, Listing, R
from quarterdeck.tui.lists.sandbox_commands import SandboxCommands
from quarterdeck.tui.screen import DeckScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.bars import Hint
from quarterdeck.tui.widgets.filter_bar import FILTERING, FilterBar
from quarterdeck.tui.widgets.lines import Lines
from quarterdeck.tui.widgets.table import Table

CHECK_EVERY = 1.0
"""Seconds between two checks of what changes as time passes."""
AGED_AFTER = 10.0
"""Seconds between two updates of the ages: they are shown in minutes, and an update of all has a cost."""
AT_ONCE = 200
"""Rows built at a time: a few milliseconds, so that no key press waits for all of a long list."""
UNSEEN_WITHIN = 1.0
"""Seconds in which changes of rows that are not visible are collected: a long list is read in many pages."""
BREAK = 0.005
"""Seconds between two such batches, in which keys are handled."""
LIST_WIDTH = 76
"""Minimum columns of the table while the side pane is shown."""
SIDE_WIDTHS = (30, 44)
"""Minimum and maximum columns of the side pane."""
FOR_MARKED = frozenset({"pause", "resume", "delete", "notify_me", "row_menu"})
"""Commands that apply to the marked rows, if any; rows that they cannot apply to are sorted out later."""
NO_ROW_HERE = "there is no row here."
"""Why a command about a row cannot be done in an empty list; it is not said any longer once there are rows."""
NEED_ROWS = ("row_menu", "mark_all")
"""Commands that need a row, besides those in the menu of a row."""


class ListScreen(DeckScreen, Generic[R]):
    """A list of live rows; a subclass passes its definition, and adds the commands that only this list has."""

    AUTO_FOCUS = "Table"

    def __init__(self, definition: ListDefinition[R]) -> None:
        super().__init__()
        self.definition = definition
        self.listing = Listing(definition, self._now)
        self.rows = self.listing.rows
        self.table: Table[R] = Table(definition.columns, clock=self._now, id="table")
        self.filter_bar = FilterBar(Shown(definition.grammar.hint))
        self._side_text = Lines(id="side-text")
        self._side = VerticalScroll(self._side_text, id="side", can_focus=False)
        self.arranging = Arranging(self, self.listing, self.table, self.filter_bar, partial(self.show_rows, anew=True))
        self.sandbox_commands = SandboxCommands(self, self._sandboxes_of_targets, self.table.action_mark_none)
        self.helpers = (self.arranging, self.sandbox_commands, self.table)
        self._session: Session | None = None
        """The session that these rows belong to."""
        self._due: dict[str, None] = {}
        """Ids of rows to be built again, in order; visible ones are taken first."""
        self._aged_at = 0.0

    def _now(self) -> datetime:
        return self.app.clock()

    def parts(self) -> Sequence[Widget]:
        """Counts and filter, the table, and the side pane beside it."""
        return (self.filter_bar, Horizontal(self.table, self._side, id="list"))

    def on_resize(self, event: events.Resize) -> None:
        """Show the side pane if there is room for it."""
        least, most = SIDE_WIDTHS
        spare = event.size.width - LIST_WIDTH
        self._side.styles.width = min(most, spare)
        self._side.display = spare >= least

    # News, and the passing of time

    def on_mount(self) -> None:
        """Start the timer."""
        self.set_interval(CHECK_EVERY, self._pass_time)

    def on_screen_resume(self) -> None:
        """Show what is already known, and what happened while another screen was shown."""
        self._follow()
        self.table.fit_anew()
        self.call_after_refresh(self._describe_row)  # the list is painted first

    def on_news(self, news: News) -> None:
        """Queue the rows that the news is about; a hidden list catches up when it is shown."""
        if not self.is_current:
            return
        if self.app.session is not self._session or (news.all_rows and news.about is About.SERVER):
            self._follow()
        elif news.about is self.definition.about and self._session is not None:
            idle = not self._due
            ids = chain(self.rows, self.definition.ids(self._session)) if news.all_rows else news.ids
            self._due.update(dict.fromkeys(ids))
            if self.app.wanted not in news.ids and self._only_unseen(news.ids):
                if idle:
                    self.set_timer(UNSEEN_WITHIN, self._make_due)
            else:
                self.call_later(self._make_due)
        else:
            self.refresh_frame()

    def _only_unseen(self, ids: Collection[str]) -> bool:
        visible = self.table.visible_ids
        return bool(ids) and len(visible) < len(self.table.ids) and not any(each in ids for each in visible)

    def _follow(self) -> None:
        """Show what the current session knows, even if it is a new one, and tell it what is visible."""
        session = self.app.session
        if session is not self._session:
            self._session = session
            self._due.clear()
            self.listing.clear()
            self.table.action_mark_none()
            self.show_rows(anew=True)
            self.table.fit_anew()
        if session is not None:
            self._due.update(dict.fromkeys(chain(self.rows, self.definition.ids(session))))
            self._make_due()
        self._say_what_changed()
        self._report_viewport()
        if self.is_current:
            self.arranging.recall(self.app.endpoint)

    def _make_due(self) -> None:
        """Build queued rows: the visible ones now, the others a few at a time, but none while the list is hidden."""
        if not self.is_current:
            return  # news is not queued then: a start could go without the conversation that the cursor goes to
        first = [row_id for row_id in self.table.visible_ids if row_id in self._due]
        few = dict.fromkeys(islice(chain(first, self._due), AT_ONCE))
        for row_id in few:
            del self._due[row_id]
        if self._due:
            self.set_timer(BREAK, self._make_due)
        self._update(few)

    def _update(self, ids: Collection[str]) -> None:
        """Build these rows again, and show the whole list again only if rows were added, removed or moved.

        A start goes together with the coming of its conversation, to which the cursor goes.
        """
        if self._session is None:
            return
        only_starts = self.rows.keys().isdisjoint(self.definition.watch(self._session).records.keys())
        came = map(self._session.current_id, ids)
        changed, gone, rearranged = self.listing.update(self._session, dict.fromkeys(chain(ids, came)))
        if gone & self.table.marks:
            self.table.set_marks(self.table.marks - gone)
        if rearranged:
            if only_starts:
                self.table.stay_first()
            self.show_rows()
            return
        if changed:
            self.table.redraw_changed()
            if self.table.cursor_id in changed:
                self._describe_row()
        self._say_what_changed()

    def _pass_time(self) -> None:
        """Update what changes with time: words, waiting rows, filters on durations, ages."""
        if not self.is_current:
            return
        if due := self.listing.due():
            self._update(due)
        aged = monotonic() - self._aged_at >= AGED_AFTER
        if self.listing.pass_time(aged=aged):
            self.show_rows()
        if aged:
            self._aged_at = monotonic()
            self.table.redraw_changed()
            self.table.fit_more()
            self._describe_row()
        self.refresh_health()

    @on(Table.Seen)
    def _report_viewport(self) -> None:
        if self.app.session is not None and self.is_current:
            self.app.session.set_viewport(self.definition.about, self.table.visible_ids)

    def action_refresh(self) -> None:
        """Read again now, and sort all rows."""
        self.listing.put_in_order()
        self.show_rows(anew=True)
        self.table.fit_anew()
        self.app.action_refresh()

    # What is shown

    def show_rows(self, *, anew: bool = False) -> None:
        """Show the rows as they are arranged; `anew` means that a person sorted them."""
        before = self.table.cursor_id
        self.table.show(self.listing.shown, self.rows, anew=anew)
        if self._session is not None and before is not None and before not in self.rows:
            self.table.move_to(self._session.current_id(before))
        self.arranging.say_found()
        self._describe_row()
        self._say_what_changed()

    def _describe_row(self) -> None:
        row = self.table.cursor_row
        self._side_text.say(without_unknown(self.detail_of(row.id)) if row is not None else ())

    def detail_of(self, row_id: str) -> list[Cell]:
        """Everything known about a row, or the conversation that it became; empty if it is gone."""
        row = self._row_now(row_id)
        return self.definition.detail(self._session, row, self._now()) if self._session and row is not None else []

    def _row_now(self, row_id: str) -> R | None:
        current = self._session.current_id(row_id) if self._session is not None else row_id
        return self.rows.get(row_id) or self.rows.get(current)

    @on(Table.Highlighted)
    def _cursor_moved(self, event: Table.Highlighted) -> None:
        if event.was is not None:  # otherwise this is the first row
            if event.was in self.rows:  # otherwise nobody moved it: its row went, perhaps with all of another server
                self.listing.hold()
            self.message_line.go_on()
            self.app.wanted = None
        self.call_after_refresh(self._describe_row)  # the cursor is painted first
        self.call_after_refresh(self.refresh_frame)

    @on(Table.Marked)
    def _say_what_changed(self) -> None:
        wanted = self.app.wanted
        if wanted in self.rows and self.is_current:
            self.app.wanted = None
            self._go_to(wanted)
            self.mark_read(wanted)
        if not self.table.ids:
            self.table.say_empty(*self._why_no_rows())
        elif any(words.endswith(NO_ROW_HERE) for words, _ in self.message_line.message):
            self.message_line.clear()
        if not self._due:  # otherwise the queued rows will change the counts again
            self.filter_bar.say(self.counts())
        self.refresh_frame()

    def _go_to(self, row_id: str) -> None:
        """Move the cursor to a row, in its place; a filter that hides it is cleared."""
        self.listing.place(row_id)
        self.show_rows(anew=True)
        if row_id not in self.table.ids:
            self.listing.folding.open(row_id)
            self.arranging.filter_by(self.filter_bar.words if row_id in self.listing.ids else "")
        self.table.move_to(row_id)

    @on(Table.SortAsked)
    def _title_clicked(self, event: Table.SortAsked) -> None:
        view = self.listing.view
        self.arranging.sort(event.key, reverse=view.sort == event.key and not view.reverse)

    @on(FilterBar.Changed)
    def _filter_typed(self, event: FilterBar.Changed) -> None:
        if event.words != self.listing.view.filter:
            self.arranging.filter_by(event.words)

    @on(FilterBar.Done)
    def _filter_done(self) -> None:
        self.set_focus(self.table)
        self.arranging.filter_by(self.filter_bar.words)
        if self.filter_bar.words and self.table.ids:
            self.arranging.filtering_from = ""
        else:
            self.table.move_to(self.arranging.filtering_from)
        self.arranging.keep()

    # Messages around the list

    def health(self) -> Cell:
        """How fresh the list is, or why there is none."""
        session = self.app.session
        if session is None:
            waiting = self.app.trouble is None
            return cell("connecting…", Tone.BUSY) if waiting else cell("no server", Tone.BAD)
        if session.server.key_refused:
            return cell("key needed", Tone.BAD)
        return health_cell(self.definition.watch(session).health, monotonic())

    def resting_line(self) -> Cell:
        """The progress of a bulk job, otherwise the error of the last reading."""
        session = self.app.session
        wrong = session.reading_error(self.definition.about) if session is not None else ""
        if wrong and session is not None and session.server.key_refused:
            wrong = "A valid key is needed: c, then K gives one."  # short: a dialog leaves it one line
        return self.sandbox_commands.job_line or (cell(wrong, Tone.BAD) if wrong else ())

    def hints(self) -> tuple[Hint, ...]:
        """The keys of the filter while it is typed, else those of the screen, after the one that ends a filter."""
        kept = (("esc", "show all", True),) if self.filter_bar.words else ()
        return FILTERING if self.filter_bar.has_focus_within else (*kept, *super().hints())

    def counts(self) -> Cell:
        """The number of marked rows; a subclass adds the counts by state."""
        marks = self.table.marks
        if not marks:
            return ()
        hidden = len(marks.difference(self.listing.ids))
        words = f"✓ {len(marks):,} marked" + (f", {hidden:,} hidden by the filter" if hidden else "")
        return ((Shown(f"{words}  "), Tone.EDITED),)

    def _why_no_rows(self) -> tuple[str, str]:
        session, noun = self.app.session, self.definition.about
        if self.rows:
            return f"0 of {len(self.rows):,} match.", "esc shows all of them again."
        if self.app.trouble is not None:
            return self.app.trouble.sentences, "ctrl+r tries again, c chooses another server."
        health = self.definition.watch(session).health if session is not None else Health()
        if (session is not None and session.server.key_refused) or health.state is HealthState.REFUSED:
            return f"The {noun} were not read: a valid key is needed.", "c, then K gives one."
        if health.read_at is None and health.error is not None:
            return f"The {noun} could not be read.", "ctrl+r tries again now, c chooses another server."
        if health.read_at is None:
            return f"Reading the {noun}…", ""
        if health.unreadable:
            return f"{health.unreadable:,} {noun} could not be read.", "L shows what was answered."
        if self.app.endpoint.read_only:
            return f"No {noun}.", "This connection is read-only: none is started from here."
        return f"No {noun}.", self.definition.none_yet(session.server.kind if session is not None else None)

    # Which rows a command applies to

    def why_not(self, command: Command) -> str | None:
        """Return why a command cannot be done; a command about a row needs one."""
        reason = super().why_not(command)
        if reason is not None:
            return reason
        row, marks, session = self.table.cursor_row, self.table.marks, self._session
        for_marked = bool(marks) and command.name in FOR_MARKED
        if (command.row or command.name in NEED_ROWS) and row is None and not for_marked:
            return f"{command.label}: {NO_ROW_HERE}"
        match command.name:
            case "no_conversation" if session is None:
                return f"{command.label}: not connected yet."
            case "mark_range" if not self.table.range_begun:
                return "Mark a row with space first; v then marks from there to the cursor."
            case "mark_none" if not marks:
                return "Nothing is marked; space marks a row."
            case "statuses" if not self.rows:
                return "There are no rows, so there is no status to choose."
            case "mark_all" | "mark_range" | "mark_read" if self.listing.filter.problems:
                return "The filter is not understood whole; / changes it, so that only what is meant is taken."
            case "show_all" if not self.filter_bar.words:
                return "No filter is set; / types one."
        if row is None or session is None or for_marked:
            return None
        return self.definition.why_not(session, command.name, row, self._now())

    def at_cursor(self) -> tuple[Session, R] | None:
        """Return the session and the row under the cursor, None if there is no row."""
        row = self.table.cursor_row
        return (self._session, row) if self._session is not None and row is not None else None

    @property
    def row_id(self) -> tuple[str | None, bool]:
        """The id of the row under the cursor, and whether others are marked, to which commands apply instead."""
        return self.table.cursor_id, bool(self.table.marks)

    def row_title(self) -> str:
        """The name of the row under the cursor."""
        row = self.table.cursor_row
        return self.definition.title(row) if row is not None else ""

    def row_commands(self) -> Iterator[Command]:
        """The commands of the row's menu; those that go by the marks say how many there are."""
        marks = len(self.table.marks)
        for each in super().row_commands():
            by_marks = marks and each.name in FOR_MARKED
            yield each._replace(label=f"{each.label} {marks:,} marked") if by_marks else each

    def targets(self) -> tuple[list[R], frozenset[str]]:
        """Return the rows a command applies to, and the ids of those that the filter hides."""
        marks, rows = self.table.marks, self.rows
        if not marks:
            row = self.table.cursor_row
            return ([row] if row is not None else []), frozenset()
        shown = [row_id for row_id in self.listing.ids if row_id in marks]
        hidden = (marks & rows.keys()) - set(shown)
        return [rows[row_id] for row_id in (*shown, *sorted(hidden))], hidden

    def _sandboxes_of_targets(self) -> tuple[list[SandboxRow], Collection[str]]:
        """Return the sandboxes of these rows, and the ids of those that only hidden rows have."""
        session = self._session
        rows, out_of_sight = self.targets()
        if session is None:
            return [], ()
        sandboxes = [(row.id, sandbox) for row in rows if (sandbox := self.definition.sandbox(session, row))]
        in_sight = {sandbox.id for row_id, sandbox in sandboxes if row_id not in out_of_sight}
        found: dict[str, SandboxRow] = {}
        for _, sandbox in sandboxes:
            chosen = found[sandbox.id].chosen if sandbox.id in found else ()
            found[sandbox.id] = sandbox._replace(chosen=chosen + sandbox.chosen)
        return list(found.values()), found.keys() - in_sight

    # Commands for a row in both lists

    @on(Table.Chosen)
    async def _row_chosen(self) -> None:
        await self.action_command("open")

    async def action_open(self) -> None:
        """Open the row, which by default shows its detail."""
        await self.action_detail()

    async def action_detail(self) -> None:
        """Show everything about the row, kept up to date."""
        if (row_id := self.table.cursor_id) is not None:
            self.mark_read(row_id)

            def title() -> str:
                row = self._row_now(row_id)
                return self.definition.title(row) if row is not None else ""

            said = partial(self.full_detail_of, row_id)
            await self.app.push_screen(PageDialog(title, said), lambda _: self.mark_read(row_id))

    def mark_read(self, row_id: str) -> None:
        """Note that a person starts or stops looking at a row."""

    def full_detail_of(self, row_id: str) -> list[Cell]:
        """Everything known about a row, for a page of its own."""
        return self.detail_of(row_id) or [cell("It is gone.", Tone.WARN)]

    async def action_copy(self) -> None:
        """Choose what to copy of the row."""
        row = self.table.cursor_row
        if row is not None:
            dialog = CopyDialog(self.definition.title(row), self.definition.copies(row))
            await ask(self.app, dialog, partial(copy, self))

    def action_notify_me(self) -> None:
        """Watch the conversation of the row, or those of all marked rows; if all are watched, stop watching them."""
        session, now, definition = self.app.session, self._now(), self.definition
        if session is None:
            return
        rows, hidden = self.targets()
        shown = (row for row in rows if row.id not in hidden)
        able = (row for row in shown if definition.why_not(session, "notify_me", row, now) is None)
        found = {record.id: record for record in map(definition.conversation, able) if record is not None}
        if not found:
            self.say("None of these has a conversation to watch.", Tone.WARN)
            return
        what, which = f"{len(found)} conversations", "one"
        if len(found) == 1:
            which, what = "it", next(text.name(record.title or record.id) for record in found.values())
        if found.keys() <= session.unread.watched.keys():
            session.unread.unwatch(found)
            self.say(f"No longer watching {what}.")
        elif left_out := session.unread.watch(found):
            words = f"{MOST_WATCHED} can be watched at a time; not watched: {len(left_out)} of these. w again ends one."
            self.say(words, Tone.WARN)
        elif self.app.endpoint.embedded:
            self.say(f"Watching {what}, but no agent runs in the local service.")
        else:
            tells = "this line says" if self.app.quiet else "a bell says"
            self.say(f"Watching {what}: {tells} when {which} needs you or ends.", Tone.GOOD)

    # Between the lists

    async def go_to(self, place: Place, row_id: str) -> None:
        """Show a row of the other list, or of this one."""
        self.app.wanted = row_id
        if place is self.PLACE:
            self._say_what_changed()
        else:
            await self.app.show(place)
            for above in reversed(self.app.screen_stack[1:]):  # another conversation that was left open
                above.dismiss()

    async def action_no_conversation(self) -> None:
        """Show the unlinked rows of both lists, and go to one."""
        if (session := self.app.session) is not None:
            session.refresh()  # the list that is not on the screen is read seldom
            await ask(self.app, pick_unlinked(session, self.app.clock), lambda to: self.go_to(*to))
