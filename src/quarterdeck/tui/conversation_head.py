"""The head of a conversation: how it is, what it has cost, what is under way, and where what is shown comes from."""

from datetime import datetime

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.fleet.ages import age_of
from quarterdeck.fleet.conversations import conversation_state
from quarterdeck.fleet.entries import POLICIES
from quarterdeck.fleet.following import Following, Origin
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Span, Tone, cell
from quarterdeck.tui.entry_lines import took
from quarterdeck.tui.look import glyph
from quarterdeck.tui.text import Shown

SILENT_AFTER = 20.0
"""Seconds without a word after which an agent that works is called silent."""


def origin_cell(following: Following, now: datetime) -> Cell:
    """Where what is shown comes from, and since when nothing was heard."""
    silent = following.silent_for(now).total_seconds()
    match following.origin:
        case Origin.LIVE | Origin.POLLING if silent > SILENT_AFTER:
            return cell(text.line(f"{following.origin}, silent for {took(silent)}"), Tone.WARN)
        case Origin.LIVE:
            return cell(Shown("live"), Tone.GOOD)
        case Origin.POLLING:
            return cell(Shown("polling"), Tone.BUSY)
        case Origin.COPY:
            at = following.moment(following.transcript.latest_at)
            told = f", to {at.astimezone():%H:%M}" if at is not None else ""
            return cell(text.line(f"{following.origin}{told}"), Tone.WARN)
        case Origin.OPENING:
            return cell(Shown("opening"), Tone.MUTED)
        case origin:
            as_of = f", as of {age_of(following.as_of, now)}" if following.as_of is not None else ""
            return cell(text.line(f"{origin}{as_of}"), Tone.WARN)


def about_line(following: Following, conversation_id: str, record: Conversation | None, now: datetime) -> Cell:
    """Its state, title, place and cost, when its agent asks, and the tool that runs."""
    transcript = following.transcript
    known = Conversation(
        id=conversation_id,
        sandbox_status=SandboxStatus.RUNNING if following.reached else record.sandbox_status if record else None,
        execution_status=transcript.status or (record.execution_status if record else None),
    )
    word = conversation_state(known).word
    sign, tone = glyph(word)
    spans: list[Span] = [(sign, tone), (Shown(" "), Tone.PLAIN), (text.line(word), tone)]
    branch = f"@{record.selected_branch}" if record and record.selected_branch else ""
    parts: list[tuple[str, Tone]] = [
        ((record.title if record else "") or conversation_id, Tone.STRONG),
        (f"{(record.selected_repository if record else '') or ''}{branch}", Tone.MUTED),
    ]
    if (stats := transcript.stats) is not None:
        used, window = stats.context
        parts.append((f"${stats.cost:.2f}", Tone.PLAIN))
        parts.append((f"ctx {_thousands(used)}" + (f"/{_thousands(window)}" if window else ""), Tone.MUTED))
    if (policy := transcript.policy) is not None and policy.kind:
        parts.append((f"asks: {POLICIES.get(policy.kind, policy.kind)}", Tone.MUTED))
    if (action := transcript.under_way) is not None:
        since = following.moment(transcript.under_way_since)
        seconds = f" {took(max((now - since).total_seconds(), 0))}" if since is not None else ""
        parts.append((f"{action.who}{seconds}", Tone.BUSY))
    for words, each in parts:
        spans += [(Shown("  "), Tone.PLAIN), (text.line(words), each)] if words else []
    return tuple(spans)


def _thousands(count: int) -> str:
    return f"{count / 1000:.0f}k" if count >= 1000 else str(count)
