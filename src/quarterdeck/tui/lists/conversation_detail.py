"""Everything known about one conversation or start task, line by line."""

from __future__ import annotations

from datetime import datetime

from quarterdeck.fleet.conversations import Category, ConversationRow
from quarterdeck.tui import text
from quarterdeck.tui.cells import EMPTY, Cell, Tone, cell
from quarterdeck.tui.lists.conversation_cells import state
from quarterdeck.tui.lists.listing import fact, heading, moment_fact, text_fact
from quarterdeck.tui.text import Shown


def detail(row: ConversationRow, now: datetime) -> list[Cell]:
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
        moment_fact("created", row.told_created, row.created_at, now),
        moment_fact("updated", row.told_updated, row.updated_at, now),
    ]
    return said + (_record_facts(row) if row.record is not None else [])


def _task_facts(row: ConversationRow) -> list[Cell]:
    task = row.task
    assert task is not None
    asked = task.request
    said = [text_fact("start status", task.status, Tone.MUTED), text_fact("sandbox", task.sandbox_id)]
    return [*said, text_fact("message", asked.message)] if asked is not None else said


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
        text_fact("sandbox status", record.sandbox_status, Tone.MUTED),
        text_fact("agent status", record.execution_status, Tone.MUTED),
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
