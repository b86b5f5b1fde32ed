"""The conversations: watch them, create one, and follow how it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType

from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.fleet.conversations import ConversationRow, ConversationWord, why_not
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.commands import Command, Place, bindings_at
from quarterdeck.tui.lists.conversations import ConversationListing, so_far, wanting
from quarterdeck.tui.screens.conversation_sandboxes import ConversationSandboxes
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import NewConversation
    from quarterdeck.client.models.server import Server
    from quarterdeck.fleet.session import Session
    from quarterdeck.tui.copying import Copyable
    from quarterdeck.tui.lists.folding import Folding

NO_AGENT = "The local service runs no agent, so there is no trajectory to save."
BULK = frozenset({"pause", "resume", "notify_me", "delete"})
"""Commands that act on the marked rows, or their sandboxes, when there are any."""


class ConversationsScreen(ConversationSandboxes):
    """The list of conversations."""

    PLACE = Place.CONVERSATIONS
    BINDINGS: ClassVar[list[BindingType]] = bindings_at(Place.CONVERSATIONS)

    def __init__(self) -> None:
        self._conversations = ConversationListing()
        super().__init__(self._conversations)
        self.unsent: NewConversation | None = None
        """What was asked for and not created, with every word of it."""
        self.unsent_because = Shown("")
        self._unable: dict[str, tuple[Server | None, str]] = {}
        """Commands that a server turned out not to offer, with its words."""

    def title_of(self, row: ConversationRow) -> Shown:
        """Its title, or its id while it has none."""
        return text.line(row.title) or text.line(row.id)

    def why_not(self, command: Command) -> str | None:
        """What a command needs of the conversation under the cursor."""
        reason = super().why_not(command)
        if reason is None and command.name == "mark_read" and not self.rows.unseen:
            return "Nothing is unread."
        row = self.table.cursor_row
        if reason is None:
            reason = self._why_not_offered(command.name)
            if reason is not None and command.name == "delete" and self._only_starts():
                reason = None
        if reason is not None or row is None or (command.name in BULK and self.table.marks):
            return reason
        if command.name in ("pause", "resume"):
            return self.why_not_change(command.name, row)
        if command.name == "other" and self.sandbox_id(row) is None:
            return self.why_no_sandbox(row)
        return why_not(command.name, row)

    # The line above the list

    def counts(self) -> Cell:
        """How much is read, how many need somebody and how many are unseen, before all other counts."""
        session = self.app.session
        read = so_far(len(session.conversations.records), session.conversations_left) if session is not None else ()
        need_you = self.rows.counts[ConversationWord.NEEDS_YOU]
        return (*read, *wanting(need_you, len(self.rows.unseen)), *super().counts())

    def action_open(self) -> None:
        """Open the conversation itself; of one that is being started there is only the detail."""
        from quarterdeck.tui.screens.conversation import ConversationScreen

        row = self.table.cursor_row
        if row is None or row.record is None or self.app.session is None:
            self.action_detail()
        else:
            self.app.push_screen(ConversationScreen(self.app.session, row.id))

    # What was looked at

    def looked_at(self, row_id: str) -> None:
        """Take the mark away from what somebody looks at."""
        if self.app.session is not None:
            self.app.session.looked((row_id,))

    def _go_to_wanted(self) -> None:
        """Who goes to a conversation looks at it."""
        wanted = self.app.wanted
        if wanted is not None and self.is_current and self._folding is not None and self._folding.open(wanted):
            self.table.look_up(self.arrangement.ids, self.rows)
        super()._go_to_wanted()
        if wanted is not None and self.app.wanted is None:
            self.looked_at(wanted)

    def action_mark_read(self) -> None:
        """Take the marks of all that the filter lets through away; what it hides keeps its mark."""
        session = self.app.session
        seen = [row_id for row_id in self.arrangement.matching if row_id in self.rows.unseen]
        hidden = len(self.rows.unseen) - len(seen)
        if session is None or not seen:
            self.say(Shown(f"Nothing is unread among these; the filter hides {hidden:,}."), Tone.WARN)
            return
        session.looked(seen)
        rest = f" {hidden:,} that the filter hides stay unread." if hidden else ""
        self.say(Shown(f"{len(seen):,} marked as read.{rest}"), Tone.GOOD)

    # Titles that were not read yet

    def filter_changed(self, words: str) -> None:
        """While not all conversations are read, have the server look for the title too."""
        if self.app.session is not None and self.app.session.conversations_left and words.strip():
            self._ask_for_titles(self.app.session)

    @work(exclusive=True, group="titles")
    async def _ask_for_titles(self, session: Session) -> None:
        from quarterdeck.tui.lists.title_search import SETTLED, ask

        await asyncio.sleep(SETTLED)
        try:
            said = await ask(session, self.arrangement.filter)
        except ServiceError as error:
            self.say_error(error)
        else:
            if said:
                self.say(said)

    # Sub-conversations

    def show_rows(self) -> None:
        """Show the rows as they are arranged now, families together."""
        if self._folding is None and self._conversations.parents:
            from quarterdeck.tui.lists.folding import Folding

            self._conversations.folding = Folding(self.rows, self._conversations.parents)
            self.arrangement.fold = self._fold
        before = self.table.cursor_id
        super().show_rows()
        if before is not None and before not in self.rows:
            self.table.move_to(self.became(before))

    def became(self, row_id: str) -> str:
        """The conversation that a start came to; any other row is what it was."""
        task = self.app.session.start_tasks.records.get(row_id) if self.app.session is not None else None
        return row_id if task is None else task.app_conversation_id or row_id

    @property
    def _folding(self) -> Folding | None:
        return self._conversations.folding

    def _fold(self, ids: Sequence[str]) -> list[str]:
        assert self._folding is not None
        arranged = self.arrangement
        return self._folding.arranged(ids, filtered=bool(arranged.filter), by_attention=arranged.column is None)

    def action_unfold(self) -> None:
        """Show the sub-conversations of the row."""
        row_id = self.table.cursor_id
        if self.arrangement.filter:
            self.say(Shown("The filter decides which of them are shown; esc shows all."), Tone.WARN)
        elif row_id is not None and self._folding is not None and self._folding.open(row_id):
            self.show_rows()
        else:
            self.say(Shown("Nothing is folded under it."), Tone.WARN)

    def action_fold(self) -> None:
        """Fold the sub-conversations of the row away, and go to their parent."""
        row_id = self.table.cursor_id
        head = self._folding.close(row_id) if self._folding is not None and row_id is not None else None
        if head is None:
            self.say(Shown("Nothing is open under it."), Tone.WARN)
            return
        self.show_rows()
        self.table.move_to(head)

    # What is done to it

    @work(exclusive=True, group="dialog")
    async def action_new_conversation(self) -> None:
        """Ask what to start with, create it, and follow its start task in the list."""
        from quarterdeck.tui.screens.conversation_changes import create

        if self.app.session is not None:
            await create(self, self.app.session)

    @work(exclusive=True, group="dialog")
    async def action_retry(self) -> None:
        """Ask again for what a failed start was asked for."""
        from quarterdeck.tui.screens.conversation_changes import retry

        if self.app.session is not None and (row := self.table.cursor_row) is not None:
            await retry(self, self.app.session, row)

    @work(exclusive=True, group="dialog")
    async def action_delete(self) -> None:
        """Delete the conversation, or all marked ones, once that has been typed; put away starts that failed."""
        from quarterdeck.tui.screens.conversation_changes import delete

        if self.app.session is not None:
            await delete(self, self.app.session, *self.targets())

    @work(exclusive=True, group="dialog")
    async def action_rename(self) -> None:
        """Give the conversation another title."""
        from quarterdeck.tui.screens.conversation_changes import rename

        if self.app.session is not None and (row := self.table.cursor_row) is not None:
            await rename(self, self.app.session, row)

    @work(exclusive=True, group="trajectory")
    async def action_trajectory(self) -> None:
        """Save the trajectory of the conversation to a file."""
        from quarterdeck.tui.screens.conversation_changes import save_trajectory

        if self.app.session is not None and (row := self.table.cursor_row) is not None:
            await save_trajectory(self, self.app.session, row)

    def note_unable(self, name: str, error: ServiceError) -> None:
        """Remember of an error that the server cannot do a command at all."""
        if error.kind is ErrorKind.NOT_OFFERED and self.app.session is not None:
            self._unable[name] = (self.app.session.server, error.words)

    def _why_not_offered(self, name: str) -> str | None:
        """Why this server cannot do a command, as far as asking for it told; its release tells too little."""
        server = self.app.session.server if self.app.session is not None else None
        if server is None:
            return None
        found, words = self._unable.get(name, (None, ""))
        if found is server:
            return words
        return NO_AGENT if name == "trajectory" and server.local else None

    def _only_starts(self) -> bool:
        """Whether a command is for start tasks alone, which are no matter of the server any more."""
        rows, _ = self.targets()
        return bool(rows) and all(row.task is not None for row in rows)

    def copies_of(self, row: ConversationRow) -> Sequence[Copyable]:
        """Its id, its sandbox, its title, all of it as JSON; of a start that failed the reason."""
        from quarterdeck.tui.copying import conversation_copies

        return conversation_copies(row)

    # Elsewhere

    def watched_of(self, row: ConversationRow) -> str | None:
        """The conversation itself; a start task is none yet."""
        return row.id if row.record is not None else None

    def action_other(self) -> None:
        """Go to its sandbox."""
        row = self.table.cursor_row
        sandbox_id = self.sandbox_id(row) if row is not None else None
        if sandbox_id is not None:
            self.go_to(Place.SANDBOXES, sandbox_id)

    def action_open_url(self) -> None:
        """Open the address of the conversation."""
        row = self.table.cursor_row
        if row is not None and row.record is not None and row.record.conversation_url is not None:
            self.looked_at(row.id)
            self.open_address(row.record.conversation_url.get_secret_value(), "the conversation's address")
