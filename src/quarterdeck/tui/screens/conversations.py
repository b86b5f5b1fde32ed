"""The screen of conversations: watching and creating them, and following their start."""

import asyncio
from collections.abc import Iterator, Set
from datetime import datetime

from textual import on, work

from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.conversations import (
    CONVERSATION_GRAMMAR,
    STATE_WORDS,
    ConversationRow,
    ConversationWord,
    why_not,
)
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.fleet.start_tasks import FAILED, SLOW_AFTER
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.conversations import (
    COLUMNS,
    counts,
    detail,
    family_title,
    so_far,
    title_of,
    wanting,
    word,
)
from quarterdeck.tui.commands import Command, Place, bindings_at, command_at
from quarterdeck.tui.copying import conversation_copies
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.external import open_address
from quarterdeck.tui.lists.conversation_commands import ConversationCommands, title_words
from quarterdeck.tui.lists.listing import ListDefinition
from quarterdeck.tui.lists.sandbox_commands import refusal
from quarterdeck.tui.lists.screen import ListScreen
from quarterdeck.tui.widgets.bars import Hint
from quarterdeck.tui.widgets.filter_bar import FilterBar

THERE = (SandboxStatus.STARTING, SandboxStatus.RUNNING, SandboxStatus.PAUSED)
DISMISS = command_at(Place.CONVERSATIONS, "delete")._replace(
    label="Dismiss", help="Dismiss the failed start, or all marked"
)
SETTLED = 0.4
"""Seconds without a key after which the server is searched for the typed title."""


def _sandbox(session: Session, row: ConversationRow) -> SandboxRow | None:
    """Return its sandbox, as one that is asked for because of it; None if that is not listed."""
    sandbox = session.sandbox_row(row.sandbox_id or "")
    return sandbox._replace(chosen=(row.title,)) if sandbox is not None else None


def _why_not(session: Session, name: str, row: ConversationRow, now: datetime) -> str | None:
    """Return why a command cannot be applied to a conversation or its sandbox."""
    if name not in ("pause", "resume", "other"):
        return why_not(name, row)
    # This runs at every key press, so it builds no row.
    memory = session.memories.by_id.get(row.sandbox_id or "")
    if memory is not None:
        return refusal(name, memory.state(now), subject="Its sandbox")
    starts = row.task is not None and row.state.word != FAILED
    if row.sandbox_id is None:
        return "It has no sandbox yet." if starts else "It has no sandbox."
    if starts or (row.record is not None and row.record.sandbox_status in THERE):
        return "Its sandbox has not been read yet; it will be in a moment."  # the server may name it only here
    return "Its sandbox is not there."


def _changes_at(session: Session, row: ConversationRow, now: datetime) -> datetime | None:
    """Return when a start, or what is under way for its sandbox, becomes overdue."""
    if row.task is not None:
        slow_at = row.created + SLOW_AFTER if row.created is not None else None
        return slow_at if slow_at is not None and slow_at >= now else None
    memory = session.memories.by_id.get(row.sandbox_id or "")
    return memory.changes_at(now) if memory is not None else None


CREATE = "n creates one; 2 shows the sandboxes they live in."
NOBODY_ANSWERS = "n creates one; no agent runs in the local service."

CONVERSATIONS: ListDefinition[ConversationRow] = ListDefinition(
    About.CONVERSATIONS,
    none_yet=lambda server: NOBODY_ANSWERS if server is not None and server.local else CREATE,
    status="state",
    statuses=(*STATE_WORDS, FAILED),
    grammar=CONVERSATION_GRAMMAR,
    columns=COLUMNS,
    watch=lambda session: session.conversations,
    ids=lambda session: [*session.start_tasks.records, *session.conversations.records],
    row=Session.conversation_row,
    word=lambda row, now: word(row),
    changes_at=_changes_at,
    detail=lambda session, row, now: detail(row, now),
    title=title_of,
    copies=conversation_copies,
    sandbox=_sandbox,
    conversation=lambda row: row.record,
    why_not=_why_not,
    parent=lambda row: row.record.parent_conversation_id if row.record is not None else None,
)


class ConversationsScreen(ListScreen[ConversationRow]):
    """The list of conversations."""

    PLACE = Place.CONVERSATIONS
    BINDINGS = bindings_at(Place.CONVERSATIONS)

    def __init__(self) -> None:
        columns = [each._replace(cell=self._title) if each.key == "title" else each for each in COLUMNS]
        super().__init__(CONVERSATIONS._replace(columns=columns))
        self._conversation_commands = ConversationCommands(self)
        self.helpers = (self._conversation_commands, *self.helpers)

    def _title(self, row: ConversationRow, now: datetime) -> Cell:
        folding = self.listing.folding
        folded = [self.rows[each] for each in folding.hidden.get(row.id, ()) if each in self.rows]
        return family_title(row, now, folded, is_part=folding.head(row.id) != row.id)

    def on_screen_resume(self) -> None:
        """Offer what an earlier run did not create."""
        self._conversation_commands.unsent.recall()

    def on_news(self, news: News) -> None:
        """Handle news: another connection has other words that were not sent, and a lost creation may be found."""
        super().on_news(news)
        self._conversation_commands.unsent.recall()
        if news.about is About.CONVERSATIONS and self.app.session is not None:
            self._conversation_commands.unsent.look(self.app.session, news.wanted)

    def why_not(self, command: Command) -> str | None:
        """Return why a command cannot be done with these rows or on this server."""
        row_id, folding = self.table.cursor_id or "", self.listing.folding
        if command.name == "open_url" and self.app.endpoint.embedded:
            return "Conversations of the local service have no address: it runs inside the deck."
        if (reason := super().why_not(command)) is not None:
            return reason
        match command.name:
            case "mark_read" if not self._unread:
                return "Nothing is unread."
            case "unfold" if self.listing.filter:
                return "The filter decides which of them are shown; esc shows all."
            case "unfold" if not folding.hidden.get(row_id):
                return "Nothing is folded under it."
            case "fold" if not folding.is_open(row_id):
                return "Nothing is open under it."
            case "delete" if self._are_only_starts():
                return None
        return self._conversation_commands.why_not_offered(command.name)

    def hints(self) -> tuple[Hint, ...]:
        """The keys of the screen; for starts only those that do something."""
        if not self._are_only_starts():
            return super().hints()
        hints = (hint for hint in super().hints() if hint[2])
        return tuple((key, DISMISS.label if key == DISMISS.key else label, works) for key, label, works in hints)

    def row_commands(self) -> Iterator[Command]:
        """The commands of the row's menu; what deletes conversations dismisses starts."""
        starts, label = self._are_only_starts(), command_at(self.PLACE, DISMISS.name).label
        for each in super().row_commands():
            dismisses = starts and each.name == DISMISS.name
            yield DISMISS._replace(label=each.label.replace(label, DISMISS.label)) if dismisses else each

    def _are_only_starts(self) -> bool:
        """Whether a command is only for start tasks, which no longer concern the server."""
        rows, _ = self.targets()
        return bool(rows) and all(row.task is not None for row in rows)

    @property
    def _unread(self) -> Set[str]:
        """The ids of unread rows."""
        session = self.app.session
        return session.unread.ids & self.rows.keys() if session is not None else frozenset()

    # The line above the list

    def counts(self) -> Cell:
        """The marks, for commands go by them; how many are read, need a person and are unread; the other counts."""
        session = self.app.session
        read = so_far(len(session.conversations.records), session.conversations_left) if session is not None else ()
        words = self.listing.counts
        wants = wanting(words[ConversationWord.NEEDS_YOU], len(self._unread))
        return (*super().counts(), *read, *wants, *counts(words))

    async def action_open(self) -> None:
        """Open the conversation itself; a start that has not become a conversation has only a detail page."""
        if (at := self.at_cursor()) is None:
            return
        session, row = at
        conversation_id = session.current_id(row.id)
        if row.record is not None or conversation_id != row.id:
            await self.app.show_conversation(session, conversation_id)
        else:
            await self.action_detail()

    # Unread

    def mark_read(self, row_id: str) -> None:
        """Mark a row as read."""
        if self.app.session is not None:
            self.app.session.unread.mark_read((row_id,), self.app.clock())

    def action_mark_read(self) -> None:
        """Mark all rows that match the filter as read; hidden ones stay unread."""
        session, unread = self.app.session, self._unread
        seen = [row_id for row_id in self.listing.ids if row_id in unread]
        hidden = len(unread) - len(seen)
        if session is None or not seen:
            self.say(f"Nothing is unread among these; the filter hides {hidden:,}.", Tone.WARN)
            return
        session.unread.mark_read(seen, self.app.clock())
        rest = f" {hidden:,} that the filter hides stay unread." if hidden else ""
        self.say(f"{len(seen):,} marked as read.{rest}", Tone.GOOD)

    # Titles of conversations not read yet

    @on(FilterBar.Changed)
    @work(exclusive=True, group="titles")
    async def _ask_for_titles(self) -> None:
        """Search the server for the typed title, while not all conversations have been read."""
        await asyncio.sleep(SETTLED)
        session, wanted = self.app.session, title_words(self.listing.filter)
        if session is None or not session.conversations_left or not wanted:
            return
        with self.saying_errors():
            found, more = await session.find_titles(wanted)
            said = f"many; the newest were read, {found} of them new here" if more else f"{found or 'no'} more"
            self.say(f"The server searched its titles for the word \u201c{wanted}\u201d and found {said}.")

    # Sub-conversations

    def action_unfold(self) -> None:
        """Show the sub-conversations of the row."""
        row_id = self.table.cursor_id
        if row_id is not None and self.listing.folding.open(row_id):
            self.show_rows(anew=True)

    def action_fold(self) -> None:
        """Fold the sub-conversations of the row, and go to their parent."""
        row_id = self.table.cursor_id
        if row_id is not None:
            self.table.move_to(self.listing.folding.close(row_id))
            self.show_rows(anew=True)

    # Links

    def action_open_url(self) -> None:
        """Open the address of the conversation."""
        row = self.table.cursor_row
        if row is not None and row.record is not None and row.record.conversation_url is not None:
            self.mark_read(row.id)
            address = row.record.conversation_url.get_secret_value()
            self.say(open_address(self.app, address, "the conversation's address"))

    async def action_other(self) -> None:
        """Go to its sandbox."""
        if (at := self.at_cursor()) is not None and (sandbox := _sandbox(*at)) is not None:
            await self.go_to(Place.SANDBOXES, sandbox.id)

    async def action_back(self) -> None:
        """Ask whether to quit, because there is no screen behind this one."""
        said = (cell("Sandboxes keep running.", Tone.MUTED),)
        await ask(self.app, ConfirmDialog("Quit Quarterdeck?", said), lambda yes: self.app.leave())
