"""The conversations: watch them, create one, and follow how it starts."""

import asyncio
from collections.abc import Iterable, Sequence, Set
from datetime import datetime
from typing import Any, ClassVar

from textual import on, work
from textual.binding import BindingType

from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet import sandbox_state
from quarterdeck.fleet.conversations import DECK_GRAMMAR, ConversationRow, ConversationWord, rank, why_not
from quarterdeck.fleet.news import About
from quarterdeck.fleet.order import Rank
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.start_tasks import in_progress
from quarterdeck.fleet.watch import Watch
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.conversations import COLUMNS, counts, detail, so_far, title, title_of, wanting, word
from quarterdeck.tui.commands import Command, Place, bindings_at
from quarterdeck.tui.copying import Copyable, conversation_copies
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.lists.conversation_commands import ConversationCommands, ask_for_titles
from quarterdeck.tui.lists.folding import Folding
from quarterdeck.tui.lists.source import Source
from quarterdeck.tui.screens.list import ListScreen
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.filter_bar import FilterBar

THERE = (SandboxStatus.STARTING, SandboxStatus.RUNNING, SandboxStatus.PAUSED)
SETTLED = 0.4
"""Seconds without a key after which the server is asked for the titles that are typed."""


class ConversationSource(Source[ConversationRow]):
    """Conversations, families folded, and on top the start tasks that are about to be one."""

    about = About.CONVERSATIONS
    noun = "conversations"
    status = "state"
    grammar = DECK_GRAMMAR

    def __init__(self) -> None:
        super().__init__()
        self.columns = [each._replace(cell=self._title) if each.key == "title" else each for each in COLUMNS]
        self.folding = Folding(self.rows)

    def _title(self, row: ConversationRow, now: datetime) -> Cell:
        return self.folding.decorated(row, title(row, now))

    def watch(self, session: Session) -> Watch[Any]:
        """What reads the conversations."""
        return session.conversations

    def ids(self, session: Session) -> Iterable[str]:
        """Start tasks that are not conversations yet, then the conversations."""
        return [*session.start_tasks.records, *session.conversations.records]

    def row(self, session: Session, row_id: str) -> ConversationRow | None:
        """The row of a conversation, or of a start task worth showing."""
        record = session.conversations.records.get(row_id)
        if record is not None and record.parent_conversation_id is not None:
            self.folding.parents[row_id] = record.parent_conversation_id
        return session.conversation_row(row_id)

    def passing(self, session: Session, now: datetime) -> Iterable[str]:
        """The starts that go on."""
        return in_progress(session.start_tasks.records.values(), session.server_clock.there)

    def rank(self, row: ConversationRow, now: datetime) -> Rank:
        """Start tasks, then who needs you, then the newest update."""
        return rank(row)

    def word(self, row: ConversationRow, now: datetime) -> str:
        """The word of its state; start tasks share one until they fail."""
        return word(row)

    def detail(self, session: Session, row: ConversationRow, now: datetime) -> list[Cell]:
        """Everything known about a conversation or a start task."""
        return detail(row, now)

    def arranged(self, ids: list[str], *, filtered: bool, by_attention: bool) -> list[str]:
        """The ids with families together, as far as they are open."""
        return self.folding.arranged(ids, filtered=filtered, by_attention=by_attention)

    def reveal(self, row_id: str) -> None:
        """Open its family."""
        self.folding.open(row_id)


class ConversationsScreen(ListScreen[ConversationRow]):
    """The list of conversations."""

    PLACE = Place.CONVERSATIONS
    NONE_YET = Shown("n creates one; 2 shows the sandboxes they live in.")
    BINDINGS: ClassVar[list[BindingType]] = bindings_at(Place.CONVERSATIONS)

    def __init__(self) -> None:
        source = ConversationSource()
        super().__init__(source)
        self._folding = source.folding
        self._conversation_commands = ConversationCommands(self)
        self.helpers = (self._conversation_commands, *self.helpers)

    def title_of(self, row: ConversationRow) -> Shown:
        """Its title, or its id while it has none."""
        return title_of(row)

    def why_not(self, command: Command) -> str | None:
        """What a command needs of the rows and of the server."""
        reason = super().why_not(command)
        if reason is None and command.name == "mark_read" and not self._unread:
            return "Nothing is unread."
        if reason is None and not (command.name == "delete" and self._are_only_starts()):
            return self._conversation_commands.why_not_offered(command.name)
        return reason

    def why_not_row(self, name: str, row: ConversationRow) -> str | None:
        """What a command needs of a conversation, or of its sandbox."""
        if name in ("pause", "resume"):
            return self._why_not_change(name, row)
        if name == "other" and self._sandbox_of(row) is None:
            return _why_no_sandbox(row)
        return why_not(name, row)

    def _are_only_starts(self) -> bool:
        """Whether a command is for start tasks alone, which are no matter of the server any more."""
        rows, _ = self.list.targets()
        return bool(rows) and all(row.task is not None for row in rows)

    @property
    def _unread(self) -> Set[str]:
        """The rows that carry the mark."""
        session = self.app.session
        return session.unread.ids & self.rows.keys() if session is not None else frozenset()

    # The line above the list

    def counts(self) -> Cell:
        """How much is read, how many need somebody and how many are unread, before all other counts."""
        session = self.app.session
        read = so_far(len(session.conversations.records), session.conversations_left) if session is not None else ()
        words = self.list.counts
        wants = wanting(words[ConversationWord.NEEDS_YOU], len(self._unread))
        return (*read, *wants, *super().counts(), *counts(words))

    async def action_open(self) -> None:
        """Open the conversation itself; of a start that has not come to one there is only the detail."""
        if (at := self.at_cursor()) is None:
            return
        session, row = at
        conversation_id = session.became(row.id)
        if row.record is not None or conversation_id != row.id:
            self.looked_at(row.id)
            await self.app.show_conversation(session, conversation_id)
        else:
            await self.action_detail()

    # What was looked at

    def looked_at(self, row_id: str) -> None:
        """Take the mark away from what somebody looks at."""
        if self.app.session is not None:
            self.app.session.looked((row_id,))

    def action_mark_read(self) -> None:
        """Take the marks of all that the filter lets through away; what it hides keeps its mark."""
        session, unread = self.app.session, self._unread
        seen = [row_id for row_id in self.arrangement.ids if row_id in unread]
        hidden = len(unread) - len(seen)
        if session is None or not seen:
            self.say(Shown(f"Nothing is unread among these; the filter hides {hidden:,}."), Tone.WARN)
            return
        session.looked(seen)
        rest = f" {hidden:,} that the filter hides stay unread." if hidden else ""
        self.say(Shown(f"{len(seen):,} marked as read.{rest}"), Tone.GOOD)

    # Titles that were not read yet

    @on(FilterBar.Changed)
    def _filter_typed(self) -> None:
        """While not all conversations are read, have the server look for the title too."""
        if self.app.session is not None and self.app.session.conversations_left and self.arrangement.filter:
            self._ask_for_titles(self.app.session)

    @work(exclusive=True, group="titles")
    async def _ask_for_titles(self, session: Session) -> None:
        await asyncio.sleep(SETTLED)
        try:
            said = await ask_for_titles(session, self.arrangement.filter)
        except ServiceError as error:
            self.say_error(error)
        else:
            if said:
                self.say(said)

    # Sub-conversations

    def action_unfold(self) -> None:
        """Show the sub-conversations of the row."""
        row_id = self.table.cursor_id
        if self.arrangement.filter:
            self.say(Shown("The filter decides which of them are shown; esc shows all."), Tone.WARN)
        elif row_id is not None and self._folding.open(row_id):
            self.list.show_rows(anew=True)
        else:
            self.say(Shown("Nothing is folded under it."), Tone.WARN)

    def action_fold(self) -> None:
        """Fold the sub-conversations of the row away, and go to their parent."""
        row_id = self.table.cursor_id
        head = self._folding.close(row_id) if row_id is not None else None
        if head is None:
            self.say(Shown("Nothing is open under it."), Tone.WARN)
            return
        self.table.move_to(head)
        self.list.show_rows(anew=True)

    # What is done to it

    def copies_of(self, row: ConversationRow) -> Sequence[Copyable]:
        """Its id, its sandbox, its title, all of it as JSON; of a start that failed the reason."""
        return conversation_copies(row)

    def watched_of(self, row: ConversationRow) -> str | None:
        """The conversation itself; a start task is none yet."""
        return row.id if row.record is not None else None

    def action_open_url(self) -> None:
        """Open the address of the conversation."""
        row = self.table.cursor_row
        if row is not None and row.record is not None and row.record.conversation_url is not None:
            self.looked_at(row.id)
            self.open_address(row.record.conversation_url.get_secret_value(), "the conversation's address")

    # Its sandbox

    def _sandbox_of(self, row: ConversationRow) -> str | None:
        """Its sandbox, None where that is not listed."""
        sandbox_id = row.record.sandbox_id if row.record is not None else None
        known = self.app.session is not None and sandbox_id in self.app.session.sandboxes.records
        return sandbox_id if known else None

    def _why_not_change(self, name: str, row: ConversationRow) -> str | None:
        """Why its sandbox cannot be paused or resumed."""
        session, sandbox_id = self.app.session, self._sandbox_of(row)
        memory = session.memories.by_id.get(sandbox_id) if session is not None and sandbox_id is not None else None
        if memory is None:
            return _why_no_sandbox(row)
        state = memory.state(self.app.clock())
        refusal = sandbox_state.why_not(name, state)
        return None if refusal is None else f"Its sandbox: {refusal}"

    async def action_pause(self) -> None:
        """Pause its sandbox, or those of the marked ones."""
        await self._change(sandbox_state.Action.PAUSE)

    async def action_resume(self) -> None:
        """Resume its sandbox, or those of the marked ones."""
        await self._change(sandbox_state.Action.RESUME)

    async def _change(self, action: sandbox_state.Action) -> None:
        session = self.app.session
        rows, out_of_sight = self.list.targets()
        seen = dict.fromkeys(row.sandbox_id for row in rows if row.id not in out_of_sight)
        hidden = frozenset(filter(None, {row.sandbox_id for row in rows if row.id in out_of_sight} - seen.keys()))
        named = filter(None, (*seen, *sorted(hidden)))
        found = [row for each in named if session is not None and (row := session.sandbox_row(each)) is not None]
        if found:
            await self.sandboxes.change(action, found, hidden, _asked_words)
        else:
            self.say(Shown("None of these has a sandbox any more."), Tone.WARN)

    async def action_other(self) -> None:
        """Go to its sandbox."""
        row = self.table.cursor_row
        sandbox_id = self._sandbox_of(row) if row is not None else None
        if sandbox_id is not None:
            await self.go_to(Place.SANDBOXES, sandbox_id)

    async def action_back(self) -> None:
        """There is nothing behind this screen: ask whether to quit."""
        said = (cell(Shown("Sandboxes keep running."), Tone.MUTED),)
        await self.app.push_screen(ConfirmDialog(Shown("Quit Quarterdeck?"), said), self._quit_confirmed)

    def _quit_confirmed(self, yes: bool | None) -> None:
        if yes:
            self.app.leave()


def _why_no_sandbox(row: ConversationRow) -> str:
    """Why its sandbox is not listed: the server may have told of it where it tells of the conversation only."""
    if row.record is not None and row.record.sandbox_status in THERE:
        return "Its sandbox has not been read yet; it will be in a moment."
    return "Its sandbox is not there."


def _asked_words(verb: str, row: SandboxRow) -> Shown:
    """What was asked for, and how many others share the sandbox."""
    others = len(row.conversations) - 1
    shared = f" {others} other conversation{'s share' if others > 1 else ' shares'} it." if others > 0 else ""
    return text.line(f"{verb} of its sandbox asked for.{shared or ' The list shows when it is done.'}")
