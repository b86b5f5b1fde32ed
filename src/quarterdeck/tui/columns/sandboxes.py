"""A sandbox as cells of a list and as lines of a detail; its key and the queries of its addresses are never shown."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.request import LoggedRequest
from quarterdeck.fleet.ages import age, at_least, calm_age
from quarterdeck.fleet.conversations import conversation_state
from quarterdeck.fleet.sandbox_state import UP, StateWord
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.timeline import Cause, Event
from quarterdeck.tui import text
from quarterdeck.tui.cells import DASH, EMPTY, Cell, Tone, cell
from quarterdeck.tui.columns.details import (
    LABEL_WIDE,
    age_column,
    age_rank,
    cost_column,
    counts_by_word,
    fact,
    heading,
    logged_line,
    moment_fact,
    money,
    text_column,
    text_fact,
    title_or_untitled,
)
from quarterdeck.tui.glyphs import glyph, signed
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column

UNKNOWN = cell("?", Tone.MUTED)


def status(row: SandboxRow, now: datetime) -> Cell:
    """Glyph and words of its state."""
    state = row.state(now)
    return signed(state.word, text.line(state.words), Tone.WARN if state.slow or state.silent else None)


def conversation(row: SandboxRow, now: datetime) -> Cell:
    """The first title in it and how many more conversations, or that there is none."""
    if not row.conversations:
        return cell("no conversation" if row.unlinked else "…", Tone.MUTED)
    more: Cell = ((Shown(f" +{len(row.conversations) - 1}"), Tone.MUTED),) if len(row.conversations) > 1 else ()
    return (*cell(title_or_untitled(row.conversation_titles[0])), *more)


def lasted(row: SandboxRow, now: datetime) -> Cell:
    """How long it has been in its state."""
    return cell(row.state(now).lasted(now), Tone.MUTED)


def quiet(row: SandboxRow, now: datetime) -> Cell:
    """How long nothing has happened in it while it is up; without conversations, as long as it has been up."""
    if row.quiet_since is not None:
        words = calm_age(row.quiet_since, now)
        return cell(words if row.conversations or row.memory.exact else at_least(words))
    return UNKNOWN if row.state(now).known in UP and not row.working else DASH


def urls(row: SandboxRow, now: datetime) -> Cell:
    """The names of its addresses while it runs."""
    known = row.memory.urls if row.state(now).known is StateWord.RUNNING else ()
    return cell(" ".join(url.name.lower() for url in known), Tone.MUTED) if known else DASH


def agent(row: SandboxRow, now: datetime) -> Cell:
    """The status word of the agent of its first conversation."""
    word = _agent_word(row)
    return cell(word, glyph(word)[1]) if word else DASH


def _agent_word(row: SandboxRow) -> str | None:
    if not row.conversations:
        return None
    state = conversation_state(row.conversations[0], row.record.status)
    return None if state.of_sandbox else state.word


def _by_title(row: SandboxRow) -> tuple[str, ...] | None:
    return tuple(title.casefold() for title in row.conversation_titles) or None


def _by_urls(row: SandboxRow) -> int | None:
    return len(row.memory.urls) or None if row.memory.word == StateWord.RUNNING else None


COLUMNS: tuple[Column[SandboxRow], ...] = (
    Column("status", "STATUS", 24, status, sort=lambda row: row.memory.word),
    Column("for", "FOR", 7, lasted, sort=lambda row: age_rank(row.memory.since), right=True),
    Column("sandbox", "SANDBOX", 9, lambda row, now: cell(row.short_id), sort=lambda row: row.id),
    Column("conversation", "CONVERSATION", 24, conversation, sort=_by_title, flex=3, whole_end=True),
    Column("agent", "AGENT", 12, agent, sort=_agent_word, priority=1),
    Column("quiet", "QUIET", 7, quiet, sort=lambda row: age_rank(row.quiet_since), priority=2, right=True),
    cost_column(priority=3),
    text_column("spec", "SPEC", 12, lambda row: row.record.sandbox_spec_id, flex=1, priority=4),
    age_column("age", "AGE", 6, lambda row: row.record.created_at, lambda row: row.created, priority=5),
    Column("urls", "URLS", 14, urls, sort=_by_urls, flex=1, priority=6),
    text_column("owner", "OWNER", 10, lambda row: row.record.created_by_user_id, priority=7),
)


# Counts by state


def counts(words: Counter[str]) -> Cell:
    """How many sandboxes are in each state."""
    return counts_by_word((StateWord.ERROR, StateWord.MISSING, *StateWord), words)


# Everything known about one


DAY = timedelta(days=1)


def detail(row: SandboxRow, now: datetime) -> list[Cell]:
    """Everything known about a sandbox."""
    state, record = row.state(now), row.record
    said = [
        fact("status", *status(row, now)),
        text_fact("for", state.lasted(now)),
        text_fact("sandbox status", record.status, Tone.MUTED),
        fact("quiet for", *_quiet(row, now)),
        fact("cost so far", (money(row.cost), Tone.PLAIN)) if row.cost else fact("cost so far"),
        text_fact("id", row.id),
        text_fact("spec", record.sandbox_spec_id),
        moment_fact("created", row.record.created_at, row.created, now),
        text_fact("owner", record.created_by_user_id),
        fact("key", (Shown("known, not shown" if row.memory.key is not None else "not known"), Tone.MUTED)),
    ]
    if state.note:
        said += [EMPTY, cell(state.note, Tone.WARN if state.slow or state.silent else Tone.MUTED)]
    return [*said, *_addresses(row, state.known), *_conversations(row)]


LISTED = 100
"""How many of its conversations are listed, the first: some sandboxes have thousands."""
CAUSES = {Cause.YOU: Tone.KEY, Cause.SERVER: Tone.PLAIN, Cause.DISPLACED: Tone.WARN, Cause.UNKNOWN: Tone.MUTED}


def timeline(row: SandboxRow, events: Sequence[Event], now: datetime) -> list[Cell]:
    """What happened to it, the newest first: when it was observed, how long it lasted, and why."""
    lasted = calm_age(row.memory.since, now)
    goes_on = lasted if row.memory.exact else at_least(lasted)
    if row.memory.recalled and events:  # it may have changed before this run watched
        words = "; ".join(filter(None, (events[-1].words, f"seen again {lasted} ago")))
        events = (*events[:-1], events[-1]._replace(words=words))
    said = [line for event in reversed(events) for line in _event(event, now, goes_on if event is events[-1] else "")]
    return [EMPTY, heading("Timeline"), *(said or [cell("nothing seen yet", Tone.MUTED)])]


def _event(event: Event, now: datetime, goes_on: str) -> list[Cell]:
    took = goes_on or age(event.lasted)
    if event.cause is Cause.UNKNOWN and event.lasted is not None:
        took = at_least(took)
    moment = format(event.seen_at.astimezone(), "%H:%M:%S" if now - event.seen_at < DAY else "%b %d %H:%M")
    line = (
        (Shown(f"{moment:<{LABEL_WIDE - 2}}"), Tone.MUTED),
        *signed(event.what, Shown(f"{text.line(event.what):<9}")),
        (Shown(f"{took + ' ':<6}"), Tone.MUTED),
        (Shown(event.cause), CAUSES[event.cause]),
    )
    why = ((Shown(" " * LABEL_WIDE), Tone.MUTED), (text.line(event.words), Tone.MUTED))
    return [line, why] if event.words else [line]


def own_requests(row_id: str, log: Sequence[LoggedRequest]) -> list[Cell]:
    """The requests about one sandbox, newest first."""
    own = [logged_line(request, LABEL_WIDE) for request in reversed(log) if f"/{row_id}" in request.path]
    return [EMPTY, heading("Requests that name it"), *(own or [cell("none in this run", Tone.MUTED)])]


def _quiet(row: SandboxRow, now: datetime) -> Cell:
    if row.working:
        return cell("an agent is at work", Tone.MUTED)
    return quiet(row, now) if row.quiet_since is not None else ()


def _addresses(row: SandboxRow, word: StateWord | None) -> list[Cell]:
    runs = word is StateWord.RUNNING
    said = [text_fact(url.name.lower(), url.address) for url in (row.memory.urls if runs else ())]
    none = Shown("the server told none" if runs else "none while it does not run")
    return [EMPTY, heading("Addresses"), *(said or [cell(none, Tone.MUTED)])]


def _conversations(row: SandboxRow) -> list[Cell]:
    first = row.conversations[:LISTED]
    said = [_conversation(each, conversation_state(each, row.record.status).word) for each in first]
    if (more := len(row.conversations) - LISTED) > 0:
        said.append(cell(f"and {more:,} more", Tone.MUTED))
    nobody = Shown("no conversation" if row.unlinked else "none known yet")
    return [EMPTY, heading("Conversations"), *(said or [cell(nobody, Tone.MUTED)])]


def _conversation(record: Conversation, word: str) -> Cell:
    sign, tone = glyph(word)
    return ((sign, tone), (Shown(" "), tone), (title_or_untitled(record.title), Tone.PLAIN),
            (Shown("  "), Tone.MUTED), (text.line(word), Tone.MUTED))  # fmt: skip
