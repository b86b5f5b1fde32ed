"""A conversation or start task as cells of a list and as lines of a detail."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from quarterdeck.client.models.conversation import Conversation
from quarterdeck.fleet.conversations import BEING_STARTED, Category, ConversationRow, ConversationWord
from quarterdeck.fleet.sandboxes import short_id
from quarterdeck.fleet.start_tasks import FAILED
from quarterdeck.tui import text
from quarterdeck.tui.cells import DASH, EMPTY, Cell, Span, Tone, cell
from quarterdeck.tui.columns.details import (
    age_column,
    cost_column,
    counts_by_word,
    fact,
    heading,
    moment_fact,
    text_column,
    text_fact,
    title_or_untitled,
)
from quarterdeck.tui.glyphs import WATCHED, drawn, signed
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.table_layout import Column


def state(row: ConversationRow, now: datetime) -> Cell:
    """Glyph and words of its state."""
    if row.task is None:
        return signed(row.state.word)
    failed = row.state.category is Category.TROUBLE
    return signed("failed" if failed else "Starting", text.line(row.state.word))


def marked_state(row: ConversationRow, now: datetime) -> Cell:
    """Its state, after `+` if it is unread and `!` if a person should act."""
    unread: Span = (Shown("+" if row.unread else " "), Tone.KEY)
    attention: Span = (Shown("!" if row.state.attention else " "), Tone.WARN)
    return (unread, attention, *state(row, now))


def title(row: ConversationRow, now: datetime) -> Cell:
    """Its title, muted during a start, after a sign if it is watched."""
    tone = Tone.MUTED if row.task is not None or row.state.category is Category.GONE else Tone.PLAIN
    said = cell(title_or_untitled(row.title), tone)
    return (drawn(WATCHED), (Shown(" "), Tone.PLAIN), *said) if row.watched else said


def family_title(row: ConversationRow, now: datetime, folded: Sequence[ConversationRow], *, is_part: bool) -> Cell:
    """A title in its family: indented below its parent, or with the number of folded sub-conversations.

    A sign after the number shows whether one of them needs attention or is unread.
    """
    if is_part:
        return ((Shown("└ "), Tone.MUTED), *title(row, now))
    if not folded:
        return title(row, now)
    sign, tone = ("+", Tone.KEY) if any(each.unread for each in folded) else ("", Tone.MUTED)
    sign, tone = ("!", Tone.WARN) if any(each.state.attention for each in folded) else (sign, tone)
    return ((Shown(f"+{len(folded)}{sign}"), tone), (Shown(" "), Tone.PLAIN), *title(row, now))


def sandbox(row: ConversationRow, now: datetime) -> Cell:
    """The short id of its sandbox, and whether that is gone."""
    if row.sandbox_id is None:
        return DASH
    return cell(short_id(row.sandbox_id) + (" gone" if row.unlinked else ""), Tone.MUTED)


def pull_requests(row: ConversationRow, now: datetime) -> Cell:
    """The numbers of its pull requests."""
    numbers = row.record.pr_number if row.record is not None else ()
    return cell(" ".join(f"#{number}" for number in numbers), Tone.MUTED) if numbers else DASH


def _of_record(of: Callable[[Conversation], str | None]) -> Callable[[ConversationRow], str | None]:
    """Return a function that reads a text of the record, None if there is no record."""
    return lambda row: of(row.record) if row.record is not None else None


COLUMNS: tuple[Column[ConversationRow], ...] = (
    Column("state", "STATE", 20, marked_state, sort=lambda row: row.state.word.casefold(), flex=1),
    Column("title", "TITLE", 24, title, sort=lambda row: row.title.casefold() or None, flex=3),
    text_column("repository", "REPO@BRANCH", 12, lambda row: row.place or None, flex=2, priority=1),
    age_column("updated", "UPDATED", 8, lambda row: row.told.changed_at, lambda row: row.updated),
    cost_column(priority=2),
    text_column("model", "MODEL", 16, _of_record(lambda record: record.llm_model), flex=1, priority=3),
    Column("sandbox", "SANDBOX", 11, sandbox, sort=lambda row: row.sandbox_id, priority=4),
    text_column("trigger", "TRIGGER", 10, _of_record(lambda record: record.trigger), priority=6),
    Column("pr", "PR", 7, pull_requests, sort=lambda row: (row.record and row.record.pr_number) or None, priority=7),
    age_column("created", "CREATED", 9, lambda row: row.told.created_at, lambda row: row.created, priority=5),
)


def title_of(row: ConversationRow) -> Shown:
    """Return the name of a row: its title, or its id if it has none."""
    return text.line(row.title) or text.line(row.id)


# Counts by state


def wanting(need_you: int, unread: int) -> Cell:
    """How many conversations need a person and how many are unread, for the line above the list."""
    asks = signed(ConversationWord.NEEDS_YOU, Shown(f"{need_you:,} need{'s' if need_you == 1 else ''} you  "))
    news = ((Shown(f"+ {unread:,} unread  "), Tone.KEY),)
    return (*(asks if need_you else ()), *(news if unread else ()))


def so_far(read: int, left: int) -> Cell:
    """How much of a long list has been read, until it is complete."""
    return ((Shown(f"{read:,} of {read + left:,} read  "), Tone.BUSY),) if left else ()


def word(row: ConversationRow) -> str:
    """The word by which a row is counted; start tasks share one word until they fail."""
    return row.state.word if row.task is None or row.state.word == FAILED else BEING_STARTED


def counts(words: Counter[str]) -> Cell:
    """How many conversations are in each state, except those already counted by `wanting`."""
    trouble = (ConversationWord.STUCK, ConversationWord.ERROR, FAILED, ConversationWord.SANDBOX_ERROR)
    others = {word: count for word, count in words.items() if word != ConversationWord.NEEDS_YOU}
    return counts_by_word((*trouble, BEING_STARTED, *ConversationWord), Counter(others))


# Everything known about one


def detail(row: ConversationRow, now: datetime) -> list[Cell]:
    """Everything known about a conversation or a start task."""
    said = [fact("state", *state(row, now)), text_fact("title", row.title)]
    if row.state.note:
        tone = Tone.BAD if row.state.category is Category.TROUBLE else Tone.MUTED
        said += [EMPTY, *(cell(line, tone) for line in row.state.note.splitlines()), EMPTY]
    if (task := row.task) is not None:
        said += [text_fact("start status", task.status, Tone.MUTED), text_fact("sandbox", task.sandbox_id)]
        said += [text_fact("message", task.request.message)] if task.request is not None else []
    said += [
        text_fact("id", row.id),
        text_fact("repository", row.asked.selected_repository),
        text_fact("branch", row.asked.selected_branch),
        moment_fact("created", row.told.created_at, row.created, now),
        moment_fact("updated", row.told.changed_at, row.updated, now),
    ]
    return [*said, *_record_facts(row.record)] if row.record is not None else said


def _record_facts(record: Conversation) -> list[Cell]:
    public = {True: "yes", False: "no", None: None}[record.public]
    return [
        text_fact("provider", record.git_provider),
        text_fact("model", record.llm_model),
        text_fact("trigger", record.trigger),
        text_fact("pull requests", ", ".join(f"#{number}" for number in record.pr_number)),
        text_fact("public", public),
        text_fact("agent", record.agent_kind),
        text_fact("owner", record.created_by_user_id),
        text_fact("parent", record.parent_conversation_id),
        text_fact("children", ", ".join(record.sub_conversation_ids)),
        EMPTY,
        heading("Sandbox"),
        text_fact("id", record.sandbox_id),
        text_fact("sandbox status", record.sandbox_status, Tone.MUTED),
        text_fact("agent status", record.execution_status, Tone.MUTED),
        EMPTY,
        *_cost_facts(record),
    ]


def _cost_facts(record: Conversation) -> list[Cell]:
    if record.metrics is None:
        return [cell("No cost or token counts yet.", Tone.MUTED)]
    usage = record.metrics.accumulated_token_usage
    said = [heading("Cost"), text_fact("so far", f"${record.metrics.accumulated_cost or 0:.4f}")]
    if usage is not None:
        said += [
            text_fact("tokens in", f"{usage.prompt_tokens:,}"),
            text_fact("tokens out", f"{usage.completion_tokens:,}"),
            text_fact("cache read", f"{usage.cache_read_tokens:,}"),
        ]
    return said
