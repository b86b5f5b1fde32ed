"""The header of a conversation: its state, its cost, the running tool, and the source of its events."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from rich.cells import cell_len

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import ExecutionStatus, SandboxStatus
from quarterdeck.fleet.ages import JUST_NOW, age_of
from quarterdeck.fleet.conversations import conversation_row, conversation_state
from quarterdeck.fleet.entries import POLICIES
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone, cell
from quarterdeck.tui.columns.details import money
from quarterdeck.tui.conversation.entry_lines import took
from quarterdeck.tui.glyphs import signed
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.strips import clip

SHORTEST = 12
"""Minimum cells that a title is cut to."""
SILENT_AFTER = 20.0
"""Seconds without an event after which a working agent is called silent."""
AS_IT_SHOULD_BE = {Origin.LIVE: Tone.GOOD, Origin.POLLING: Tone.BUSY, Origin.OPENING: Tone.MUTED}


def origin_cell(following: Following, now: datetime) -> Cell:
    """Return where the events come from, and since when nothing was received."""
    silent, origin = following.silent_for(now).total_seconds(), following.origin
    if following.reached and silent > SILENT_AFTER:
        return cell(f"{origin}, silent for {took(silent)}", Tone.WARN)
    if origin in AS_IT_SHOULD_BE:
        return cell(origin, AS_IT_SHOULD_BE[origin])
    if origin is Origin.COPY:
        at = following.moment(following.transcript.latest_at)
        since = f", to {at.astimezone():%H:%M}" if at is not None else ""
    else:
        old = age_of(following.as_of, now)
        since = f", log as of {old if old == JUST_NOW else f'{old} ago'}" if following.as_of is not None else ""
    return cell(f"{origin}{since}", Tone.WARN)


def about_line(
    following: Following, conversation_id: str, record: Conversation | None, now: datetime, width: int
) -> Cell:
    """Return state, title, repository, cost, policy and running tool, as far as they fit."""
    transcript, record = following.transcript, record or Conversation(id=conversation_id)
    status = ExecutionStatus.RUNNING if transcript.running else transcript.status or record.execution_status
    known = replace(record, execution_status=status)
    state = conversation_state(known, SandboxStatus.RUNNING if following.reached else None)
    parts: dict[str, Span] = {
        "state": signed(state.word)[0] if following.origin is not Origin.GONE else (Shown(""), Tone.PLAIN),
        "title": (text.line(record.title or conversation_id), Tone.STRONG),
        "place": (text.line(conversation_row(record).place), Tone.MUTED),
    }
    if (stats := transcript.stats) is not None:
        used, window = stats.context
        of = f"/{_thousands(window)}" if window else ""
        parts["cost"] = (money(stats.cost), Tone.PLAIN)
        parts["context"] = (text.line(f"ctx {_thousands(used)}{of}" if used else ""), Tone.MUTED)
    if (policy := transcript.policy) is not None and policy.kind:
        parts["asks"] = (text.line(f"asks: {POLICIES.get(policy.kind, policy.kind)}"), Tone.MUTED)
    if (action := transcript.under_way) is not None and following.reached:
        since = following.moment(transcript.under_way_since)
        seconds = f" {took(max((now - since).total_seconds(), 0))}" if since is not None else ""
        parts["tool"] = (text.line(f"{action.who}{seconds}"), Tone.BUSY)
    for name in ("place", "context", "cost"):
        if _too_wide(parts, width) > 0:
            parts.pop(name, None)
    title, tone = parts["title"]
    shown, _ = clip(title, max(cell_len(title) - _too_wide(parts, width), SHORTEST))
    parts["title"] = (Shown(shown), tone)
    return tuple(span for part in parts.values() if part[0] for span in (part, (Shown("  "), Tone.PLAIN)))


def _too_wide(parts: Mapping[str, Span], width: int) -> int:
    """Return by how many cells the parts are too wide, with two spaces between them."""
    return sum(cell_len(words) + 2 for words, _ in parts.values() if words) - 2 - width


def _thousands(count: int) -> str:
    return f"{(count + 500) // 1000}k" if count >= 1000 else str(count)
