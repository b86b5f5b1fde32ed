"""Sandboxes without a conversation and conversations without a sandbox, to go to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandboxes import SandboxRow, Unlinked
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.columns.sandboxes import status
from quarterdeck.tui.commands import Place
from quarterdeck.tui.dialogs.pick import Item, PickDialog
from quarterdeck.tui.text import Shown

LISTED = 300
"""Rows of one kind that are listed; a filter of the list shows them all."""
TITLE = "No conversation, or no sandbox"


@dataclass(frozen=True)
class RowPlace:
    """A row of one of the lists."""

    place: Place
    id: str


def pick_unlinked(found: Unlinked, now: datetime) -> PickDialog[RowPlace]:
    """Both kinds with their counts; the answer is where to go."""
    sandboxes = [Item(_sandbox(row, now), RowPlace(Place.SANDBOXES, row.id)) for row in found.sandboxes]
    conversations = [
        Item(_conversation(row, now), RowPlace(Place.CONVERSATIONS, row.id)) for row in found.conversations
    ]
    items = [
        *_headed("Sandboxes that no conversation lives in", sandboxes, complete=found.complete),
        *_headed("Conversations whose sandbox is gone", conversations, complete=found.complete),
    ]
    title = Shown(TITLE if found.complete else f"{TITLE}: so far, the lists are still being read")
    return PickDialog(title, items, take="go to it", wide=True)


def _headed(title: str, rows: Sequence[Item[RowPlace]], *, complete: bool) -> list[Item[RowPlace]]:
    heading = Item[RowPlace](cell(Shown(f"{len(rows):,}  {title}"), Tone.STRONG), None)
    if not rows:
        return [heading, Item(cell(Shown("  none" if complete else "  none so far"), Tone.MUTED), None)]
    if len(rows) <= LISTED:
        return [heading, *rows]
    more = Shown(f"  and {len(rows) - LISTED:,} more: a filter of the list shows them all")
    return [heading, *rows[:LISTED], Item(cell(more, Tone.MUTED), None)]


def _sandbox(row: SandboxRow, now: datetime) -> Cell:
    return (
        (Shown(f"  {text.line(row.short_id):<8}"), Tone.PLAIN),
        *status(row, now),
        (Shown(f"  {row.state(now).lasted(now)}"), Tone.MUTED),
        (Shown("  "), Tone.MUTED),
        (text.line((row.record.sandbox_spec_id or "").rpartition("/")[2]), Tone.MUTED),
    )


def _conversation(row: ConversationRow, now: datetime) -> Cell:
    return (
        (Shown("  "), Tone.MUTED),
        (text.line(row.title) or Shown("(untitled)"), Tone.PLAIN),
        (Shown("  "), Tone.MUTED),
        (text.line(row.state.word), Tone.MUTED),
        (Shown(f"  {calm_age(row.updated, now)} ago"), Tone.MUTED),
    )
