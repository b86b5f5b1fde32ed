"""The list of sandboxes: which rows there are, in which order they stand, and how they are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.health import Health
from quarterdeck.fleet.news import About, News
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, SandboxRow, in_trouble, urgency
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.lists.listing import counted, unread
from quarterdeck.tui.lists.sandbox_cells import sandbox_columns
from quarterdeck.tui.lists.sandbox_detail import detail
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from quarterdeck.fleet.session import Session

COUNTED = (
    StateWord.RUNNING,
    StateWord.STARTING,
    StateWord.RESUMING,
    StateWord.PAUSING,
    StateWord.PAUSED,
    StateWord.ERROR,
    StateWord.MISSING,
)


class SandboxListing:
    """Sandboxes, with the conversations that live in them."""

    about = About.SANDBOXES
    grammar = SANDBOX_GRAMMAR
    status_name = "status"
    noun = "sandboxes"

    def __init__(self) -> None:
        self._told: Mapping[str, str | None] = {}
        self._in_transition: frozenset[str] = frozenset()
        self.columns: Sequence[Column[SandboxRow]] = sandbox_columns(self._last_told)

    def _last_told(self, conversation_id: str) -> str | None:
        return self._told.get(conversation_id)

    def ids(self, session: Session) -> Iterable[str]:
        """The ids of all sandboxes, in the server's order."""
        return session.sandboxes.records

    def row(self, session: Session, row_id: str, now: datetime, before: SandboxRow | None) -> SandboxRow | None:
        """The row of a sandbox."""
        self._told = session.last_statuses
        return session.sandbox_row(row_id, before)

    def touched(self, session: Session, news: News) -> Iterable[str]:
        """The sandboxes of which something was read, or whose conversations were."""
        return news.ids if news.about is About.SANDBOXES else ()

    def passing(self, session: Session, now: datetime) -> Iterable[str]:
        """What is in transition, and what just ceased to be."""
        before, self._in_transition = self._in_transition, session.memories.transitional(now)
        return before | self._in_transition

    def health(self, session: Session) -> Health:
        """How the readings of the sandboxes are going."""
        return session.sandboxes.health

    def attention(self, row: SandboxRow, now: datetime) -> tuple[int, float]:
        """Trouble first, then what runs, the longest quiet first."""
        return urgency(row, now)

    def pressing(self, row: SandboxRow, now: datetime) -> bool:
        """Trouble."""
        return in_trouble(row.state(now))

    def word(self, row: SandboxRow, now: datetime) -> str:
        """The word of its state."""
        return row.state(now).word

    def unseen(self, row: SandboxRow) -> bool:
        """Nobody notes down what was looked at here."""
        return False

    def counts(self, words: Counter[str]) -> Cell:
        """How many sandboxes are in which state."""
        known = [*COUNTED, *sorted(words.keys() - set(COUNTED))]
        return tuple(span for word in known if words[word] for span in counted(word, words[word]))

    def nothing(self, session: Session | None) -> tuple[Shown, Shown]:
        """What to do when there are no sandboxes."""
        health = session.sandboxes.health if session is not None else None
        none = Shown("No sandboxes."), Shown("n starts one from a spec of the server.")
        return unread(session, health, self.noun) or none

    def detail(self, row: SandboxRow, now: datetime) -> list[Cell]:
        """Everything the server tells of a sandbox; its key and the queries of its addresses stay unseen."""
        return detail(row, now, self._last_told)
