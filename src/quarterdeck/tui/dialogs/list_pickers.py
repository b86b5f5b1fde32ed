"""The dialogs of both lists: which columns in which order, which statuses, and which unlinked row to go to."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from rich.cells import cell_len

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.session import Session
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell, indented
from quarterdeck.tui.columns.details import title_or_untitled
from quarterdeck.tui.columns.sandboxes import status
from quarterdeck.tui.commands import Place
from quarterdeck.tui.dialogs.pick import Item, PickDialog, PickSeveralDialog
from quarterdeck.tui.glyphs import signed
from quarterdeck.tui.text import Shown

NOTE = (
    "A column is left out while no row in sight has anything in it, or where there is no room: the least needed ones "
    "or, once you have moved any, the last ones. The first always stays."
)
WORD_WIDE = 20
STATUS_WIDE = len("◔ Resuming")
"""Cells of the longest status that a list of sandboxes shows often."""


def pick_columns(titles: Mapping[str, str], chosen: Sequence[str] | None) -> PickSeveralDialog:
    """Return a dialog to show, hide and move columns; `chosen` are the shown ones, None for all."""

    def line(name: str, is_on: bool) -> Cell:
        return cell(titles[name], Tone.PLAIN if is_on else Tone.MUTED)

    return PickSeveralDialog(
        "Columns",
        tuple(titles),
        tuple(titles) if chosen is None else chosen,
        line,
        usual="default",
        ordered=True,
        at_least_one="A list needs a column; space shows one.",
        note=NOTE,
    )


def pick_statuses(noun: str, counts: Counter[str], shown: Collection[str], asked: Collection[str]) -> PickSeveralDialog:
    """Return a dialog to show and hide statuses, called `noun`, with counts; no row has one of those `asked` for."""
    words = [*(word for word, _ in counts.most_common()), *asked]

    def line(word: str, is_on: bool) -> Cell:
        return (*signed(word, Shown(f"{text.line(word):<{WORD_WIDE}}")), (Shown(f"{counts[word]:>6,}"), Tone.MUTED))

    return PickSeveralDialog(
        f"Show rows by {noun}",
        words,
        (*shown, *asked),
        line,
        usual="all",
        at_least_one=f"A list shows at least one {noun}; d chooses all.",
    )


LISTED = 300
"""How many rows of one kind are listed; a filter of the list shows all."""
TITLE = "No conversation, or no sandbox"


RowPlace = tuple[Place, str]
"""The list that a row is in, and its id."""


def pick_unlinked(session: Session, clock: Callable[[], datetime]) -> PickDialog[RowPlace]:
    """Return a dialog with the unlinked rows of both kinds and their counts; its answer is where to go."""

    def items() -> list[Item[RowPlace]]:
        now, complete = clock(), session.all_listed
        boxes, talks = session.sandboxes_without_conversation, session.conversations_without_sandbox
        sandboxes = filter(None, map(session.sandbox_row, boxes[:LISTED]))
        conversations = filter(None, map(session.conversation_row, talks[:LISTED]))
        by_rank = sorted(conversations, key=lambda row: row.rank(now))
        of_sandboxes = [Item(_sandbox(row, now), (Place.SANDBOXES, row.id)) for row in sandboxes]
        of_conversations = [Item(_conversation(row, now), (Place.CONVERSATIONS, row.id)) for row in by_rank]
        return [
            *_headed("Sandboxes that no conversation lives in", len(boxes), of_sandboxes, complete=complete),
            *_headed("Conversations whose sandbox is gone", len(talks), of_conversations, complete=complete),
        ]

    def title() -> str:
        return TITLE if session.all_listed else f"{TITLE}: so far, not everything is read"

    return PickDialog(title, items, take="go to it", wide=True, gone="It is gone by now.")


def _headed(title: str, count: int, listed: Sequence[Item[RowPlace]], *, complete: bool) -> list[Item[RowPlace]]:
    heading = Item[RowPlace](((Shown(f"{count:,}  {title}"), Tone.STRONG),), None)
    if not count:
        return [heading, Item(indented(Shown("none" if complete else "none so far"), Tone.MUTED), None)]
    if count <= LISTED:
        return [heading, *listed]
    more = Shown(f"and {count - LISTED:,} more: a filter of the list shows them all")
    return [heading, *listed, Item(indented(more, Tone.MUTED), None)]


def _sandbox(row: SandboxRow, now: datetime) -> Cell:
    shown = status(row, now)
    padding = " " * (STATUS_WIDE - cell_len("".join(words for words, _ in shown)))
    return (
        (Shown(f"  {text.line(row.short_id):<8}"), Tone.PLAIN),
        *shown,
        (Shown(f"{padding}  {row.state(now).lasted(now):>6}"), Tone.MUTED),
        (Shown("  "), Tone.MUTED),
        (text.line((row.record.sandbox_spec_id or "").rpartition("/")[2]), Tone.MUTED),
    )


def _conversation(row: ConversationRow, now: datetime) -> Cell:
    return (
        (Shown("  "), Tone.MUTED),
        (title_or_untitled(row.title), Tone.PLAIN),
        (Shown("  "), Tone.MUTED),
        (text.line(row.state.word), Tone.MUTED),
        (Shown(f"  changed {calm_age(row.updated, now)} ago"), Tone.MUTED),
    )
