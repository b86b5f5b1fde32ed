"""Sandboxes without a conversation and conversations without a sandbox, to go to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from textual.widget import Widget
from textual.widgets import OptionList

from quarterdeck.fleet.ages import calm_age
from quarterdeck.fleet.conversations import ConversationRow
from quarterdeck.fleet.sandboxes import SandboxRow
from quarterdeck.fleet.unlinked import Unlinked
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Place
from quarterdeck.tui.dialogs.picking import PickingDialog, option
from quarterdeck.tui.lists.sandbox_cells import status
from quarterdeck.tui.text import Shown

LISTED = 300
"""Rows of one kind that are listed; the filter `orphan` shows them all."""
SO_FAR = Shown("Orphans so far: the lists are still being read")


@dataclass(frozen=True)
class Orphan:
    """Where to go."""

    place: Place
    id: str


class OrphansDialog(PickingDialog[Orphan]):
    """Both kinds with their counts; enter goes to the row under the cursor."""

    HINTS = (("enter", "go to it"), ("esc", "close"))

    def __init__(self, orphans: Unlinked, now: datetime) -> None:
        super().__init__(Shown("Orphans") if orphans.complete else SO_FAR)
        self._orphans = orphans
        self._now = now
        self._places: dict[str, Orphan] = {}

    def body(self) -> Iterable[Widget]:
        """One list with two headings."""
        now, orphans = self._now, self._orphans
        sandboxes = [(Orphan(Place.SANDBOXES, row.id), _sandbox(row, now)) for row in orphans.sandboxes]
        conversations = [
            (Orphan(Place.CONVERSATIONS, row.id), _conversation(row, now)) for row in orphans.conversations
        ]
        choices = OptionList(id="choices", markup=False)
        self._add(choices, "Sandboxes that no conversation lives in", sandboxes)
        self._add(choices, "Conversations whose sandbox is gone", conversations)
        yield choices

    def on_mount(self) -> None:
        """Begin at the first row, not at a heading."""
        self.choices.focus()
        self.choices.action_first()

    def _add(self, choices: OptionList, title: str, rows: Sequence[tuple[Orphan, Cell]]) -> None:
        choices.add_option(option(cell(Shown(f"{len(rows):,}  {title}"), Tone.STRONG), disabled=True))
        for where, line in rows[:LISTED]:
            key = f"{where.place}/{where.id}"
            self._places[key] = where
            choices.add_option(option(((Shown("  "), Tone.PLAIN), *line), option_id=key))
        if len(rows) > LISTED:
            more = f"  and {len(rows) - LISTED:,} more: the filter `orphan` shows all of them"
            choices.add_option(option(cell(Shown(more), Tone.MUTED), disabled=True))
        elif not rows:
            none = Shown("  none" if self._orphans.complete else "  none so far")
            choices.add_option(option(cell(none, Tone.MUTED), disabled=True))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to the row under the cursor."""
        if event.option.id is not None:
            self.dismiss(self._places[event.option.id])


def _sandbox(row: SandboxRow, now: datetime) -> Cell:
    return (
        (Shown(f"{text.line(row.short_id):<8}"), Tone.PLAIN),
        *status(row, now),
        (Shown(f"  {row.state(now).lasted(now)}"), Tone.MUTED),
        (Shown("  "), Tone.MUTED),
        (text.line((row.record.sandbox_spec_id or "").rpartition("/")[2]), Tone.MUTED),
    )


def _conversation(row: ConversationRow, now: datetime) -> Cell:
    return (
        (text.line(row.title) or Shown("(untitled)"), Tone.PLAIN),
        (Shown("  "), Tone.MUTED),
        (text.line(row.state.word), Tone.MUTED),
        (Shown(f"  {calm_age(row.updated_at, now)} ago"), Tone.MUTED),
    )
