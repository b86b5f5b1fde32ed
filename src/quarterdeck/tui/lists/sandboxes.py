"""The list of sandboxes: its columns, counts and details."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quarterdeck.fleet.ages import age_of, calm_age
from quarterdeck.fleet.conversation_state import conversation_state
from quarterdeck.fleet.health import Health
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.fleet.sandboxes import SandboxRow, attention, by_sandbox, count_words, sandbox_row
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.lists.listing import counted, fact, heading, moment_fact, text_fact
from quarterdeck.tui.look import glyph
from quarterdeck.tui.news import About
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.live_table import Column

if TYPE_CHECKING:
    from quarterdeck.tui.session import Session

DASH = cell(Shown("-"), Tone.MUTED)


def status(row: SandboxRow, now: datetime) -> Cell:
    """Glyph and words of its state."""
    state = row.state(now)
    sign, tone = glyph(state.word)
    if state.slow or state.silent:
        tone = Tone.WARN
    return ((sign, tone), (Shown(" "), tone), (text.line(state.words), tone))


def conversation(row: SandboxRow, now: datetime) -> Cell:
    """The newest title that lives in it and how many more, or that nobody does."""
    if not row.conversations:
        return cell(Shown("none, orphan"), Tone.MUTED)
    first = text.line(row.conversation_titles[0]) or Shown("(untitled)")
    more: Cell = ((Shown(f" +{len(row.conversations) - 1}"), Tone.MUTED),) if len(row.conversations) > 1 else ()
    return (*cell(first), *more)


def lasted(row: SandboxRow, now: datetime) -> Cell:
    """How long it has been in its state."""
    return cell(text.line(row.state(now).lasted(now)), Tone.MUTED)


def agent(row: SandboxRow, now: datetime) -> Cell:
    """The word for the newest conversation in it."""
    word = _agent_word(row)
    return cell(text.line(word), glyph(word)[1]) if word else DASH


def _agent_word(row: SandboxRow) -> str | None:
    return conversation_state(row.conversations[0]).word if row.conversations else None


def cost(row: SandboxRow, now: datetime) -> Cell:
    """US dollars spent by the conversations in it."""
    spent = _spent(row)
    return cell(Shown(f"${spent:.2f}")) if spent else DASH


def _spent(row: SandboxRow) -> float:
    metrics = (conversation.metrics for conversation in row.conversations)
    return sum(each.accumulated_cost or 0.0 for each in metrics if each is not None)


COLUMNS: tuple[Column[SandboxRow], ...] = (
    Column("status", "STATUS", 18, status, sort=lambda row: row.memory.settled.word),
    Column("sandbox", "SANDBOX", 8, lambda row, now: cell(text.line(row.short_id)), sort=lambda row: row.id),
    Column("conversation", "CONVERSATION", 16, conversation, sort=lambda row: row.conversation_titles, flex=3),
    Column("for", "FOR", 7, lasted, sort=lambda row: row.memory.settled.since, right=True),
    Column("agent", "AGENT", 12, agent, sort=_agent_word, priority=1),
    Column("cost", "COST", 7, cost, sort=_spent, priority=2, right=True),
    Column(
        "spec",
        "SPEC",
        12,
        lambda row, now: cell(text.line(row.record.sandbox_spec_id or "-"), Tone.MUTED),
        sort=lambda row: row.record.sandbox_spec_id,
        flex=1,
        priority=3,
    ),
    Column(
        "age",
        "AGE",
        6,
        lambda row, now: cell(Shown(calm_age(row.record.created_at, now)), Tone.MUTED),
        sort=lambda row: row.record.created_at,
        priority=4,
        right=True,
    ),
)

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
    also = frozenset({About.CONVERSATIONS})
    columns: Sequence[Column[SandboxRow]] = COLUMNS
    tokens = "status:  spec:  id:"
    fields: Mapping[str, Callable[[SandboxRow], str]] = {
        "status": lambda row: row.memory.settled.words,
        "spec": lambda row: row.record.sandbox_spec_id or "",
        "id": lambda row: row.id,
    }

    def __init__(self) -> None:
        self._groups: Mapping[str, Any] = {}
        self._grouped: object = None

    def ids(self, session: Session) -> Iterable[str]:
        """The ids of all sandboxes, with the conversations sorted into them."""
        self._groups = by_sandbox(session.conversations.records.values())
        return session.sandboxes.records

    def row(self, session: Session, row_id: str, now: datetime, before: SandboxRow | None) -> SandboxRow | None:
        """The row of a sandbox."""
        record = session.sandboxes.records.get(row_id)
        memory = session.memories.by_id.get(row_id)
        if record is None or memory is None:
            return None
        return sandbox_row(record, memory, self._groups.get(row_id, ()), before)

    def health(self, session: Session) -> Health:
        """How the readings of the sandboxes are going."""
        return session.sandboxes.health

    def attention(self, row: SandboxRow, now: datetime) -> tuple[int, float]:
        """Trouble first, then what runs, the longest in its state first."""
        state = row.state(now)
        return attention(state), state.since.timestamp()

    def counts(self, rows: Iterable[SandboxRow], now: datetime) -> Cell:
        """How many sandboxes are in which state."""
        counts = count_words(rows, now)
        words = [*COUNTED, *sorted(counts.keys() - set(COUNTED))]
        return tuple(span for word in words if counts[word] for span in counted(word, counts[word]))

    def nothing(self, session: Session | None) -> tuple[Shown, Shown]:
        """What to do when there are no sandboxes."""
        if session is None or session.sandboxes.health.read_at is None:
            return Shown("Reading the sandboxes…"), Shown("")
        return Shown("No sandboxes."), Shown("n starts one from a spec of the server.")

    def detail(self, row: SandboxRow, now: datetime) -> list[Cell]:
        """Everything known about a sandbox; its key and the queries of its addresses stay unseen."""
        state, record, memory = row.state(now), row.record, row.memory
        said = [
            fact("status", *status(row, now)),
            text_fact("for", state.lasted(now)),
            text_fact("server says", record.status, Tone.MUTED),
            text_fact("id", row.id),
            text_fact("spec", record.sandbox_spec_id),
            moment_fact("created", record.created_at, age_of(record.created_at, now)),
            text_fact("owner", record.created_by_user_id),
            fact("key", (Shown("known, not shown" if memory.key is not None else "not known"), Tone.MUTED)),
        ]
        if state.note:
            said += [EMPTY, cell(text.line(state.note), Tone.WARN if state.slow or state.silent else Tone.MUTED)]
        said += [EMPTY, heading("Addresses")]
        urls = memory.urls if state.known is StateWord.RUNNING else ()
        said += [text_fact(url.name.lower(), url.address) for url in urls] or [
            cell(Shown("none while it does not run"), Tone.MUTED)
        ]
        said += [EMPTY, heading("Conversations")]
        said += [cell(text.line(title) or Shown("(untitled)")) for title in row.conversation_titles] or [
            cell(Shown("none: an orphan"), Tone.MUTED)
        ]
        return said
