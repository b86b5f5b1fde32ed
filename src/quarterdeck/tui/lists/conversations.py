"""The list of conversations: its columns, counts and details."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from quarterdeck.fleet.ages import age_of, calm_age
from quarterdeck.fleet.conversation_state import Category
from quarterdeck.fleet.conversations import ConversationRow, attention, conversation_row, start_row
from quarterdeck.fleet.health import Health
from quarterdeck.fleet.start_task import worth_showing
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Span, Tone, cell
from quarterdeck.tui.lists.listing import counted, fact, heading, moment_fact, text_fact
from quarterdeck.tui.look import glyph
from quarterdeck.tui.news import About
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.live_table import Column

if TYPE_CHECKING:
    from quarterdeck.tui.session import Session

DASH = cell(Shown("-"), Tone.MUTED)
TONES = {Category.TROUBLE: Tone.BAD, Category.BUSY: Tone.BUSY}


def state(row: ConversationRow, now: datetime) -> Cell:
    """Glyph and words of its state."""
    sign, tone = glyph(row.state.word)
    if row.task is not None:
        sign, tone = Shown("✕" if row.state.category is Category.TROUBLE else "◔"), TONES[row.state.category]
    return ((sign, tone), (Shown(" "), tone), (text.line(row.state.word), tone))


def marked_state(row: ConversationRow, now: datetime) -> Cell:
    """The state, an exclamation mark before it where a person should look."""
    mark: Span = (Shown("!" if row.state.attention else " "), Tone.WARN)
    return (mark, *state(row, now))


def title(row: ConversationRow, now: datetime) -> Cell:
    """Its title, quoted while it is only being started."""
    shown = text.line(row.title) or Shown("(untitled)")
    return cell(shown, Tone.MUTED if row.task is not None or row.state.category is Category.GONE else Tone.PLAIN)


def place(row: ConversationRow, now: datetime) -> Cell:
    """Repository and branch."""
    return cell(text.line(row.place), Tone.MUTED) if row.place else DASH


def cost(row: ConversationRow, now: datetime) -> Cell:
    """US dollars so far."""
    return cell(Shown(f"${row.cost:.2f}")) if row.cost else DASH


COLUMNS: tuple[Column[ConversationRow], ...] = (
    Column("state", "STATE", 18, marked_state, sort=lambda row: row.state.word),
    Column("title", "TITLE", 18, title, sort=lambda row: row.title.casefold(), flex=3),
    Column("repository", "REPO@BRANCH", 16, place, sort=lambda row: row.place, flex=2, priority=1),
    Column(
        "updated",
        "UPDATED",
        8,
        lambda row, now: cell(Shown(calm_age(row.updated_at, now)), Tone.MUTED),
        sort=lambda row: row.updated_at,
        right=True,
    ),
    Column("cost", "COST", 7, cost, sort=lambda row: row.cost, priority=2, right=True),
    Column(
        "model",
        "MODEL",
        16,
        lambda row, now: cell(text.line((row.record and row.record.llm_model) or "-"), Tone.MUTED),
        sort=lambda row: row.record and row.record.llm_model,
        flex=1,
        priority=3,
    ),
    Column(
        "created",
        "CREATED",
        8,
        lambda row, now: cell(Shown(calm_age(row.created_at, now)), Tone.MUTED),
        sort=lambda row: row.created_at,
        priority=4,
        right=True,
    ),
)


class ConversationListing:
    """Conversations, and on top the start tasks that are about to be one."""

    about = About.CONVERSATIONS
    also = frozenset({About.START_TASKS})
    columns: Sequence[Column[ConversationRow]] = COLUMNS
    tokens = "status:  repo:  model:  id:"
    fields: Mapping[str, Callable[[ConversationRow], str]] = {
        "status": lambda row: row.state.word,
        "repo": lambda row: row.place,
        "model": lambda row: (row.record and row.record.llm_model) or "",
        "id": lambda row: row.id,
    }

    def ids(self, session: Session) -> Iterable[str]:
        """Start tasks that are not conversations yet, then the conversations."""
        return [*session.start_tasks.records, *session.conversations.records]

    def row(
        self, session: Session, row_id: str, now: datetime, before: ConversationRow | None
    ) -> ConversationRow | None:
        """The row of a conversation, or of a start task worth showing."""
        record = session.conversations.records.get(row_id)
        if record is not None:
            return conversation_row(record, session.last_statuses.get(row_id), before)
        task = session.start_tasks.records.get(row_id)
        if task is None or not worth_showing(
            task, now, listed=session.conversations.records, followed=session.followed, dismissed=session.dismissed
        ):
            return None
        return start_row(task, now, before)

    def health(self, session: Session) -> Health:
        """How the readings of the conversations are going."""
        return session.conversations.health

    def attention(self, row: ConversationRow, now: datetime) -> tuple[int, float]:
        """Start tasks, then who needs you, then the newest update."""
        return attention(row)

    def counts(self, rows: Iterable[ConversationRow], now: datetime) -> Cell:
        """How many conversations are in which state."""
        rows = list(rows)
        words = Counter(row.state.word for row in rows if row.task is None)
        starting = sum(row.task is not None for row in rows)
        first: Cell = ((Shown(f"◔ {starting} starting  "), Tone.BUSY),) if starting else ()
        return first + tuple(span for word, count in words.most_common() for span in counted(word, count))

    def nothing(self, session: Session | None) -> tuple[Shown, Shown]:
        """What to do when there are no conversations."""
        if session is None or session.conversations.health.read_at is None:
            return Shown("Reading the conversations…"), Shown("")
        return Shown("No conversations."), Shown("n creates one; 2 shows the sandboxes they live in.")

    def detail(self, row: ConversationRow, now: datetime) -> list[Cell]:
        """Everything known about a conversation or a start task."""
        said = [fact("state", *state(row, now)), text_fact("title", row.title)]
        if row.state.note:
            tone = Tone.BAD if row.state.category is Category.TROUBLE else Tone.MUTED
            said += [EMPTY, *(cell(text.line(line), tone) for line in row.state.note.splitlines()), EMPTY]
        if row.task is not None:
            said += _task_facts(row)
        said += [
            text_fact("id", row.id),
            text_fact("repository", row.repository),
            text_fact("branch", row.branch),
            moment_fact("created", row.created_at, age_of(row.created_at, now)),
            moment_fact("updated", row.updated_at, age_of(row.updated_at, now)),
        ]
        return said + (_record_facts(row) if row.record is not None else [])


def _task_facts(row: ConversationRow) -> list[Cell]:
    task = row.task
    assert task is not None
    return [text_fact("server says", task.status, Tone.MUTED), text_fact("sandbox", task.sandbox_id)]


def _record_facts(row: ConversationRow) -> list[Cell]:
    record = row.record
    assert record is not None
    said = [
        text_fact("provider", record.git_provider),
        text_fact("model", record.llm_model),
        text_fact("trigger", record.trigger),
        text_fact("pull requests", ", ".join(f"#{number}" for number in record.pr_number)),
        text_fact("public", None if record.public is None else ("yes" if record.public else "no")),
        text_fact("agent", record.agent_kind),
        text_fact("owner", record.created_by_user_id),
        text_fact("parent", record.parent_conversation_id),
        text_fact("children", ", ".join(record.sub_conversation_ids)),
        EMPTY,
        heading("Sandbox"),
        text_fact("id", record.sandbox_id),
        text_fact("server says", record.sandbox_status, Tone.MUTED),
        text_fact("agent says", record.execution_status, Tone.MUTED),
    ]
    return said + _metrics_facts(row)


def _metrics_facts(row: ConversationRow) -> list[Cell]:
    metrics = row.record.metrics if row.record is not None else None
    if metrics is None:
        return [EMPTY, cell(Shown("No cost or token counts yet."), Tone.MUTED)]
    usage = metrics.accumulated_token_usage
    said = [EMPTY, heading("Cost"), fact("so far", (Shown(f"${metrics.accumulated_cost or 0:.4f}"), Tone.PLAIN))]
    if usage is not None:
        said += [
            fact("tokens in", (Shown(f"{usage.prompt_tokens:,}"), Tone.PLAIN)),
            fact("tokens out", (Shown(f"{usage.completion_tokens:,}"), Tone.PLAIN)),
            fact("cache read", (Shown(f"{usage.cache_read_tokens:,}"), Tone.PLAIN)),
        ]
    return said
