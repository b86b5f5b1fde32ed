"""The columns of the list of conversations, kept first to dropped first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.conversations import Category, ConversationRow
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.tui import text
from quarterdeck.tui.cells import DASH, Cell, Span, Tone, cell
from quarterdeck.tui.look import WATCHED, drawn, glyph
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation

TONES = {Category.TROUBLE: Tone.BAD, Category.BUSY: Tone.BUSY}


def state(row: ConversationRow, now: datetime) -> Cell:
    """Glyph and words of its state."""
    sign, tone = glyph(row.state.word)
    if row.task is not None:
        sign, tone = Shown("✕" if row.state.category is Category.TROUBLE else "◔"), TONES[row.state.category]
    return ((sign, tone), (Shown(" "), tone), (text.line(row.state.word), tone))


def marked_state(row: ConversationRow, now: datetime) -> Cell:
    """The state; before it `+` where nobody has looked since, and `!` where a person should do something."""
    unseen: Span = (Shown("+" if row.unread else " "), Tone.KEY)
    attention: Span = (Shown("!" if row.state.attention else " "), Tone.WARN)
    return (unseen, attention, *state(row, now))


def title(row: ConversationRow, now: datetime) -> Cell:
    """Its title, quiet while it is only being started; before it the sign of what is watched."""
    shown = text.line(row.title) or Shown("(untitled)")
    said = cell(shown, Tone.MUTED if row.task is not None or row.state.category is Category.GONE else Tone.PLAIN)
    return (drawn(WATCHED), (Shown(" "), Tone.PLAIN), *said) if row.watched else said


def place(row: ConversationRow, now: datetime) -> Cell:
    """Repository and branch."""
    return cell(text.line(row.place), Tone.MUTED) if row.place else DASH


def cost(row: ConversationRow, now: datetime) -> Cell:
    """US dollars so far."""
    return cell(Shown(f"${row.cost:.2f}")) if row.cost else DASH


def sandbox(row: ConversationRow, now: datetime) -> Cell:
    """The short id of its sandbox, and that it is no more."""
    if row.sandbox_id is None:
        return DASH
    return cell(text.line(short_id(row.sandbox_id) + (" gone" if row.unlinked else "")), Tone.MUTED)


def pull_requests(row: ConversationRow, now: datetime) -> Cell:
    """The numbers of its pull requests."""
    numbers = row.record.pr_number if row.record is not None else ()
    return cell(Shown(" ".join(f"#{number}" for number in numbers)), Tone.MUTED) if numbers else DASH


def _quiet(words: str) -> Cell:
    return cell(Shown(words), Tone.MUTED)


def _model(record: Conversation) -> str | None:
    return record.llm_model


def _trigger(record: Conversation) -> str | None:
    return record.trigger


def _by(of: Callable[[Conversation], str | None]) -> Callable[[ConversationRow], str | None]:
    """The sort key made of a text of the record."""
    return lambda row: of(row.record) if row.record is not None else None


def _told(of: Callable[[Conversation], str | None]) -> Callable[[ConversationRow, datetime], Cell]:
    """The cell that shows a text of the record."""

    def said(row: ConversationRow, now: datetime) -> Cell:
        value = of(row.record) if row.record is not None else None
        return cell(text.line(value), Tone.MUTED) if value else DASH

    return said


COLUMNS: tuple[Column[ConversationRow], ...] = (
    Column("state", "STATE", 20, marked_state, sort=lambda row: row.state.word),
    Column("title", "TITLE", 24, title, sort=lambda row: row.title.casefold() or None, flex=3),
    Column("repository", "REPO@BRANCH", 16, place, sort=lambda row: row.place or None, flex=2, priority=1),
    Column(
        "updated", "UPDATED", 8, lambda row, now: _quiet(row.updated(now)), sort=lambda row: row.updated_at, right=True
    ),
    Column("cost", "COST", 7, cost, sort=lambda row: row.cost or None, priority=2, right=True),
    Column("model", "MODEL", 16, _told(_model), sort=_by(_model), flex=1, priority=3),
    Column("sandbox", "SANDBOX", 9, sandbox, sort=lambda row: row.sandbox_id, priority=4),
    Column("trigger", "TRIGGER", 10, _told(_trigger), sort=_by(_trigger), priority=6),
    Column("pr", "PR", 7, pull_requests, sort=lambda row: (row.record and row.record.pr_number) or None, priority=7),
    Column(
        "created",
        "CREATED",
        9,
        lambda row, now: _quiet(row.created(now)),
        sort=lambda row: row.created_at,
        priority=5,
        right=True,
    ),
)
