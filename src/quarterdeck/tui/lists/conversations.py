"""The list of conversations: which rows there are, in which order they stand, and how they are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.conversations import (
    DECK_GRAMMAR,
    ConversationRow,
    ConversationWord,
    attention,
)
from quarterdeck.fleet.health import Health
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.start_tasks import FAILED, in_progress, start_row, worth_showing
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.lists.conversation_cells import COLUMNS, title
from quarterdeck.tui.lists.conversation_detail import detail
from quarterdeck.tui.lists.listing import counted, tally, unread
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session
    from quarterdeck.tui.lists.folding import Folding

BEING_STARTED = "starting"
"""What start tasks are counted by, whichever step they are in."""
COUNTED_FIRST = frozenset({BEING_STARTED, ConversationWord.NEEDS_YOU})
"""Words that stand before the others in the line above the list."""


def wanting(need_you: int, unseen: int) -> Cell:
    """How many conversations want somebody, for the line above the list."""
    sign, tone = glyph(ConversationWord.NEEDS_YOU)
    asks = Shown(f"{sign} {need_you:,} need{'s' if need_you == 1 else ''} you  ")
    news = Shown(f"+ {unseen:,} unread  ")
    return (*(cell(asks, tone) if need_you else ()), *(cell(news, Tone.KEY) if unseen else ()))


def so_far(read: int, left: int) -> Cell:
    """How much of a long list has been read, while some of it has not."""
    return cell(Shown(f"{read:,} of {read + left:,} read  "), Tone.BUSY) if left else ()


class ConversationListing:
    """Conversations, and on top the start tasks that are about to be one."""

    about = About.CONVERSATIONS
    grammar = DECK_GRAMMAR
    status_name = "state"
    noun = "conversations"

    def __init__(self) -> None:
        self.columns: Sequence[Column[ConversationRow]] = tuple(
            column._replace(cell=self._title) if column.key == "title" else column for column in COLUMNS
        )
        self.parents: dict[str, str] = {}
        """The parent of each sub-conversation that was ever listed."""
        self.folding: Folding | None = None
        """How families are shown, once there is one."""

    def _title(self, row: ConversationRow, now: datetime) -> Cell:
        said = title(row, now)
        return said if self.folding is None else self.folding.decorated(row, said)

    def ids(self, session: Session) -> Iterable[str]:
        """Start tasks that are not conversations yet, then the conversations."""
        return [*session.start_tasks.records, *session.conversations.records]

    def row(
        self, session: Session, row_id: str, now: datetime, before: ConversationRow | None
    ) -> ConversationRow | None:
        """The row of a conversation, or of a start task worth showing."""
        record = session.conversations.records.get(row_id)
        if record is not None:
            if record.parent_conversation_id is not None:
                self.parents[row_id] = record.parent_conversation_id
            return session.conversation_row(row_id, before)
        task = session.start_tasks.records.get(row_id)
        clock = session.server_clock
        if task is None or not worth_showing(
            task,
            clock.there,
            listed=session.conversations.records,
            followed=session.followed,
            dismissed=session.dismissed,
        ):
            return None
        unread = session.conversations.health.incomplete and task.id not in session.followed
        if unread and task.app_conversation_id is not None:  # it is among the conversations that are still to come
            return None
        return start_row(task, clock, before)

    def touched(self, session: Session, news: News) -> Iterable[str]:
        """The conversations something was read of; a start task ends as a row when its conversation is there."""
        if news.about is About.CONVERSATIONS:
            return [*news.ids, *session.start_tasks.records]
        return news.ids if news.about is About.START_TASKS else ()

    def passing(self, session: Session, now: datetime) -> Iterable[str]:
        """The starts that go on."""
        return in_progress(session.start_tasks.records.values(), session.server_clock.there)

    def health(self, session: Session) -> Health:
        """How the readings of the conversations are going."""
        return session.conversations.health

    def attention(self, row: ConversationRow, now: datetime) -> tuple[int, float]:
        """Start tasks, then who needs you, then the newest update."""
        return attention(row)

    def pressing(self, row: ConversationRow, now: datetime) -> bool:
        """It needs somebody, or is in trouble."""
        return row.state.attention

    def word(self, row: ConversationRow, now: datetime) -> str:
        """The word of its state; start tasks share one until they fail."""
        return row.state.word if row.task is None or row.state.word == FAILED else BEING_STARTED

    def unseen(self, row: ConversationRow) -> bool:
        """Whether it came to something since somebody looked."""
        return row.unread

    def counts(self, words: Counter[str]) -> Cell:
        """How many conversations are in which state; those that need somebody are counted by `wanting`."""
        starting = words[BEING_STARTED]
        first = tally(starting, "starting", "◔", Tone.BUSY) if starting else ()
        known = [(word, count) for word, count in words.most_common() if count and word not in COUNTED_FIRST]
        return first + tuple(span for word, count in known for span in counted(word, count))

    def nothing(self, session: Session | None) -> tuple[Shown, Shown]:
        """What to do when there are no conversations."""
        health = session.conversations.health if session is not None else None
        none = Shown("No conversations."), Shown("n creates one; 2 shows the sandboxes they live in.")
        return unread(session, health, self.noun) or none

    def detail(self, row: ConversationRow, now: datetime) -> list[Cell]:
        """Everything known about a conversation or a start task."""
        return detail(row, now)
