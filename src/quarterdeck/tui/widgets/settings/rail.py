"""The groups at the left of a wide form: where the cursor is, and how many edits and errors each has."""

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.draft.field import Group
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.view import Counts, FormView

Entries = tuple[tuple[Group, Counts], ...]
NAME_WIDTH = 11


class Rail(Widget):
    """One line a group; a click goes there."""

    entries: reactive[Entries] = reactive[Entries](())
    here: reactive[Group | None] = reactive[Group | None](None)

    @dataclass
    class Pressed(Message):
        """A group was clicked."""

        group: Group

    def show(self, view: FormView, here: Group | None) -> None:
        """Show the groups of a form and which one the cursor is in."""
        groups = [group for group in Group if group is not Group.OTHER or view.has_others]
        self.entries = tuple((group, view.counts(group)) for group in groups)
        self.here = here

    def render(self) -> Content:
        """The groups, line by line."""
        return lines(self._line(group, counts) for group, counts in self.entries)

    def on_click(self, event: events.Click) -> None:
        """Go to the group under the mouse."""
        if 0 <= event.y < len(self.entries):
            self.post_message(self.Pressed(self.entries[event.y][0]))

    def _line(self, group: Group, counts: Counts) -> Cell:
        is_here = group is self.here
        spans = [
            (Shown("▌" if is_here else " "), Tone.BUSY),
            (Shown(f" {group.value:<{NAME_WIDTH}}"), Tone.STRONG if is_here else Tone.MUTED),
        ]
        if counts.edits:
            spans.append((Shown(f" *{counts.edits}"), Tone.EDITED))
        if counts.errors:
            spans.append((Shown(f" !{counts.errors}"), Tone.BAD))
        return tuple(spans)
