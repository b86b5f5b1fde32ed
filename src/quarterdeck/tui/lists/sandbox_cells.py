"""The columns of the sandbox list, kept first to dropped first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.conversations import ConversationWord, conversation_state
from quarterdeck.fleet.sandbox_state import UP, StateWord
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.tui import text
from quarterdeck.tui.cells import DASH, Cell, Tone, cell
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

UNKNOWN = cell(Shown("?"), Tone.MUTED)
OF_SANDBOX = frozenset[str](
    {
        ConversationWord.SANDBOX_PAUSED,
        ConversationWord.SANDBOX_RESUMING,
        ConversationWord.SANDBOX_ERROR,
        ConversationWord.SANDBOX_MISSING,
    }
)
"""Words for a conversation that say nothing of its agent."""
LastTold = Callable[[str], str | None]
"""The last word of the agent in a conversation, by the conversation's id."""


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
        return cell(Shown("no conversation" if row.unlinked else "…"), Tone.MUTED)
    first = text.line(row.conversation_titles[0]) or Shown("(untitled)")
    more: Cell = ((Shown(f" +{len(row.conversations) - 1}"), Tone.MUTED),) if len(row.conversations) > 1 else ()
    return (*cell(first), *more)


def lasted(row: SandboxRow, now: datetime) -> Cell:
    """How long it has been in its state."""
    return cell(Shown(row.state(now).lasted(now)), Tone.MUTED)


def quiet(row: SandboxRow, now: datetime) -> Cell:
    """How long nothing has happened in it while it is up; a question mark where that is not known."""
    if row.quiet_since is not None:
        return cell(Shown(calm_age(row.quiet_since, now)))
    return UNKNOWN if row.state(now).known in UP and not row.working else DASH


def cost(row: SandboxRow, now: datetime) -> Cell:
    """US dollars spent by the conversations in it."""
    return cell(money(row.spent)) if row.spent else DASH


def money(dollars: float) -> Shown:
    """US dollars, to the cent."""
    return Shown(f"${dollars:,.2f}")


def urls(row: SandboxRow, now: datetime) -> Cell:
    """The names of its addresses while it runs."""
    known = row.memory.urls if row.state(now).known is StateWord.RUNNING else ()
    return cell(text.line(" ".join(url.name.lower() for url in known)), Tone.MUTED) if known else DASH


def agent_word(row: SandboxRow, last_told: LastTold) -> str | None:
    """The word for the agent of the newest conversation in it."""
    if not row.conversations:
        return None
    newest = row.conversations[0]
    word = conversation_state(newest, last_told(newest.id), row.record.status).word
    return None if word in OF_SANDBOX else word


def sandbox_columns(last_told: LastTold) -> tuple[Column[SandboxRow], ...]:
    """All columns."""

    def agent(row: SandboxRow, now: datetime) -> Cell:
        word = agent_word(row, last_told)
        return cell(text.line(word), glyph(word)[1]) if word else DASH

    def by_agent(row: SandboxRow) -> str | None:
        return agent_word(row, last_told)

    return (
        Column("status", "STATUS", 20, status, sort=lambda row: row.memory.settled.word),
        Column("sandbox", "SANDBOX", 9, lambda row, now: cell(text.line(row.short_id)), sort=lambda row: row.id),
        Column("conversation", "CONVERSATION", 24, conversation, sort=_by_title, flex=3),
        Column("for", "FOR", 7, lasted, sort=lambda row: row.memory.settled.since, right=True),
        Column("agent", "AGENT", 12, agent, sort=by_agent, priority=1),
        Column("quiet", "QUIET", 7, quiet, sort=lambda row: row.quiet_since, priority=2, right=True),
        Column("cost", "COST", 7, cost, sort=lambda row: row.spent or None, priority=3, right=True),
        Column("spec", "SPEC", 12, _spec, sort=lambda row: row.record.sandbox_spec_id, flex=1, priority=4),
        Column("age", "AGE", 6, _age, sort=lambda row: row.created_at, priority=5, right=True),
        Column("urls", "URLS", 14, urls, sort=lambda row: len(row.memory.urls) or None, flex=1, priority=6),
        Column("owner", "OWNER", 10, _owner, sort=lambda row: row.record.created_by_user_id, priority=7),
    )


def _by_title(row: SandboxRow) -> tuple[str, ...] | None:
    return tuple(title.casefold() for title in row.conversation_titles) or None


def _spec(row: SandboxRow, now: datetime) -> Cell:
    return _text(row.record.sandbox_spec_id)


def _owner(row: SandboxRow, now: datetime) -> Cell:
    return _text(row.record.created_by_user_id)


def _age(row: SandboxRow, now: datetime) -> Cell:
    return cell(Shown(row.created(now)), Tone.MUTED)


def _text(value: str | None) -> Cell:
    return cell(text.line(value), Tone.MUTED) if value else DASH
