"""What the two list screens share beyond their rows: detail, copying, addresses, and moving between the lists."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual import on, work

from quarterdeck.client.errors import ServiceError
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Command, Place
from quarterdeck.tui.lists.listing import R
from quarterdeck.tui.lists.live_rows import found
from quarterdeck.tui.opening import can_open_browser, may_hold_secret
from quarterdeck.tui.screens.arranging import ArrangedList
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quarterdeck.tui.copying import Copyable

NEEDS_ROW = frozenset(
    {
        *("open", "detail", "row_menu", "copy", "other", "open_url", "pause", "resume", "delete"),
        *("mark", "mark_all", "notify_me", "rename", "retry", "trajectory"),
    }
)
"""Commands that are about the row under the cursor, or about rows there are."""


class ListScreen(ArrangedList[R]):
    """A list whose rows can be looked into, copied from, and gone to from the other list."""

    def why_not(self, command: Command) -> str | None:
        """A command about a row needs one."""
        reason = super().why_not(command)
        if reason is not None:
            return reason
        if command.name in NEEDS_ROW and self.table.cursor_row is None and not self.table.marks:
            return f"{command.label}: there is no row here."
        if command.name == "mark_none" and not self.table.marks:
            return "Nothing is marked; space marks a row."
        if command.name == "show_all" and not self.filter_bar.words:
            return f"All {self.listing.noun} are shown; / filters them."
        return None

    def targets(self) -> tuple[list[R], frozenset[str]]:
        """The rows a command is for, and the ids of those among them that the filter hides."""
        marks, rows = self.table.marks, self.rows
        if not marks:
            row = self.table.cursor_row
            return ([row] if row is not None else []), frozenset()
        shown = [row_id for row_id in self.arrangement.matching if row_id in marks]
        hidden = (marks & rows.keys()) - set(shown)
        return list(found(rows, (*shown, *sorted(hidden)))), hidden

    @on(Table.Chosen)
    async def _row_chosen(self) -> None:
        await self.action_command("open")

    @work(exclusive=True, group="dialog")
    async def action_detail(self) -> None:
        """Show everything about the row, as it changes."""
        from quarterdeck.tui.dialogs.page import PageDialog
        from quarterdeck.tui.lists.listing import LABEL_WIDE

        row = self.table.cursor_row
        if row is not None:
            said = partial(self._full_detail, row.id)
            self.looked_at(row.id)
            await self.app.push_screen_wait(PageDialog(self.title_of(row), said, label=LABEL_WIDE))
            self.looked_at(row.id)

    def action_open(self) -> None:
        """Open the row: what there is to see of it is its detail."""
        self.action_detail()

    def looked_at(self, row_id: str) -> None:
        """Somebody begins or ends to look at a row."""

    def _full_detail(self, row_id: str) -> list[Cell]:
        row = self.rows.get(row_id) or self.rows.get(self.became(row_id))
        return self.full_detail_of(row) if row is not None else [cell(Shown("It is gone."), Tone.WARN)]

    def became(self, row_id: str) -> str:
        """What goes on in place of a row that is gone; mostly nothing does, and it is the row's own id."""
        return row_id

    def full_detail_of(self, row: R) -> list[Cell]:
        """Everything known about a row, for a page of its own."""
        return self.detail_of(row)

    def row_title(self) -> Shown:
        """What the row under the cursor is called."""
        row = self.table.cursor_row
        return self.title_of(row) if row is not None else Shown("")

    def title_of(self, row: R) -> Shown:
        """What a row is called."""
        return text.line(row.id)

    # Copying

    def copies_of(self, row: R) -> Sequence[Copyable]:
        """What can be copied of a row."""
        from quarterdeck.tui.copying import Copyable

        return (Copyable(Shown("id"), row.id),)

    @work(exclusive=True, group="dialog")
    async def action_copy(self) -> None:
        """Choose what to copy of the row."""
        from quarterdeck.tui.dialogs.copy import pick_copy

        row = self.table.cursor_row
        if row is None:
            return
        wish = await self.app.push_screen_wait(pick_copy(self.title_of(row), self.copies_of(row)))
        if wish is None:
            return
        if wish.to_file:
            await self.save(wish.what)
        else:
            self.copy(wish.what)

    def copy(self, what: Copyable) -> None:
        """Put something into the clipboard of the terminal."""
        self.app.copy_to_clipboard(what.value)
        words = f"Copied the {what.name}, if your terminal takes copies (OSC 52); y then f saves it to a file."
        self.say(text.line(words + what.note))

    async def save(self, what: Copyable) -> None:
        """Save something to a file and say where."""
        from quarterdeck.tui.copying import save_copy

        try:
            path = await save_copy(self.app.crash_folder, what)
        except ServiceError as error:
            self.say_error(error)
        else:
            self.say(text.line(f"Saved the {what.name} to {path}{what.note and '.'}{what.note}"), Tone.GOOD)

    def open_address(self, address: str, shown: str) -> None:
        """Open an address in a browser where there is one; else copy it, for the machine one sits at."""
        if can_open_browser():
            self.app.open_url(address)
            self.say(text.line(f"Opened {shown}"))
        else:
            self.app.copy_to_clipboard(address)
            secret = " whole: it holds a password or token" if may_hold_secret(address) else ""
            self.say(text.line(f"No browser here; copied {shown}{secret}"))

    # Watching

    def watched_of(self, row: R) -> str | None:
        """The conversation that is watched when a row is, None where there is none."""
        return None

    def action_notify_me(self) -> None:
        """Watch the conversation of the row, or of all that are marked; where all are watched, end it."""
        from quarterdeck.tui.lists.watching import toggle

        rows, hidden = self.targets()
        meant = [row for row in rows if row.id not in hidden]
        found = dict.fromkeys(each for row in meant if (each := self.watched_of(row)) is not None)
        if self.app.session is not None and found:
            self.say(*toggle(self.app.session, tuple(found), quiet=self.app.quiet))
        else:
            self.say(Shown("None of these has a conversation to watch."), Tone.WARN)

    # From one list to the other

    def go_to(self, place: Place, row_id: str) -> None:
        """Show a row of the other list, or of this one."""
        self.app.wanted = row_id
        if place is self.PLACE:
            self.show_rows()
        else:
            self.app.show(place)

    @work(exclusive=True, group="dialog")
    async def action_no_conversation(self) -> None:
        """Show the sandboxes without a conversation and the conversations without a sandbox, and go to one."""
        from quarterdeck.tui.dialogs.unlinked import pick_unlinked

        session, now = self.app.session, self.app.clock()
        if session is None:
            return
        chosen = await self.app.push_screen_wait(pick_unlinked(session.find_unlinked(), now))
        if chosen is not None:
            self.go_to(chosen.place, chosen.id)
