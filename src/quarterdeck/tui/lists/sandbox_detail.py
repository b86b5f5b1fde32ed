"""Everything known about one sandbox, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from quarterdeck.fleet.ages import age, age_of, calm_age
from quarterdeck.fleet.conversations import conversation_state
from quarterdeck.fleet.sandbox_state import StateWord
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.timeline import Cause, Event
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.lists.listing import LABEL_WIDE, fact, heading, moment_fact, text_fact
from quarterdeck.tui.lists.request_log import logged_line
from quarterdeck.tui.lists.sandbox_cells import LastTold, money, status
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.client.models.conversation import Conversation
    from quarterdeck.client.request import LoggedRequest


DAY = timedelta(days=1)


def detail(row: SandboxRow, now: datetime, last_told: LastTold) -> list[Cell]:
    """What the server tells of it; its key and the queries of its addresses stay unseen."""
    state, record = row.state(now), row.record
    said = [
        fact("status", *status(row, now)),
        text_fact("for", state.lasted(now)),
        text_fact("sandbox status", record.status, Tone.MUTED),
        fact("quiet for", *_quiet(row, now)),
        fact("cost so far", (money(row.spent), Tone.PLAIN)) if row.spent else fact("cost so far"),
        text_fact("id", row.id),
        text_fact("spec", record.sandbox_spec_id),
        moment_fact("created", record.created_at, row.created_at, now),
        text_fact("owner", record.created_by_user_id),
        fact("key", (Shown("known, not shown" if row.memory.key is not None else "not known"), Tone.MUTED)),
    ]
    if state.note:
        said += [EMPTY, cell(text.line(state.note), Tone.WARN if state.slow or state.silent else Tone.MUTED)]
    return [*said, *_addresses(row, state.known), *_conversations(row, last_told)]


LISTED = 100
"""Conversations of one sandbox that are listed, the newest: some hold thousands."""
CAUSES = {Cause.YOU: Tone.KEY, Cause.SERVER: Tone.PLAIN, Cause.DISPLACED: Tone.WARN, Cause.UNKNOWN: Tone.MUTED}


def timeline(events: Sequence[Event], now: datetime) -> list[Cell]:
    """What happened to it, the newest first: when it was seen, how long it lasted, and why."""
    said = [line for event in reversed(events) for line in _event(event, now, lasts=event is events[-1])]
    return [EMPTY, heading("Timeline"), *(said or [cell(Shown("nothing seen yet"), Tone.MUTED)])]


def _event(event: Event, now: datetime, *, lasts: bool) -> list[Cell]:
    sign, tone = glyph(event.what)
    took = calm_age(event.seen_at, now) if lasts else age(event.lasted)
    moment = format(event.seen_at.astimezone(), "%H:%M:%S" if now - event.seen_at < DAY else "%b %d %H:%M")
    line = (
        (Shown(f"{moment:<{LABEL_WIDE}}"), Tone.MUTED),
        (sign, tone),
        (Shown(f" {text.line(event.what):<10}"), tone),
        (Shown(f"{took:<7}"), Tone.MUTED),
        (Shown(event.cause), CAUSES[event.cause]),
    )
    why = ((Shown(" " * LABEL_WIDE), Tone.MUTED), (text.line(event.words), Tone.MUTED))
    return [line, why] if event.words else [line]


def own_requests(row_id: str, log: Sequence[LoggedRequest]) -> list[Cell]:
    """The requests about one sandbox, newest first."""
    own = [logged_line(request) for request in reversed(log) if f"/{row_id}" in request.path]
    return [EMPTY, heading("Requests about it"), *(own or [cell(Shown("none in this run"), Tone.MUTED)])]


def _quiet(row: SandboxRow, now: datetime) -> Cell:
    if row.working:
        return cell(Shown("an agent is at work"), Tone.MUTED)
    return cell(Shown(age_of(row.quiet_since, now))) if row.quiet_since is not None else ()


def _addresses(row: SandboxRow, word: StateWord | None) -> list[Cell]:
    urls = row.memory.urls if word is StateWord.RUNNING else ()
    said = [text_fact(url.name.lower(), url.address) for url in urls]
    return [EMPTY, heading("Addresses"), *(said or [cell(Shown("none while it does not run"), Tone.MUTED)])]


def _conversations(row: SandboxRow, last_told: LastTold) -> list[Cell]:
    newest = row.conversations[:LISTED]
    states = [conversation_state(each, last_told(each.id), row.record.status) for each in newest]
    said = [_conversation(each, state.word) for each, state in zip(newest, states, strict=True)]
    if (more := len(row.conversations) - len(newest)) > 0:
        said.append(cell(Shown(f"and {more:,} more"), Tone.MUTED))
    nobody = Shown("no conversation" if row.unlinked else "none known yet")
    return [EMPTY, heading("Conversations"), *(said or [cell(nobody, Tone.MUTED)])]


def _conversation(record: Conversation, word: str) -> Cell:
    sign, tone = glyph(word)
    return ((sign, tone), (Shown(" "), tone), (text.line(record.title or "") or Shown("(untitled)"), Tone.PLAIN),
            (Shown("  "), Tone.MUTED), (text.line(word), Tone.MUTED))  # fmt: skip
