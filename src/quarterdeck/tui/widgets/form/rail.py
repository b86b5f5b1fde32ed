"""The groups of the form: where the cursor is, and how many edits and errors each has."""

from collections.abc import Iterator
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.paint import content, lines
from quarterdeck.tui.text import Shown, line
from quarterdeck.tui.widgets.form.view import Counts, FormView

Entries = tuple[tuple[str, Counts], ...]
HERE = "▌"
BETWEEN = 2
"""Cells between two groups in one line."""


class Rail(Widget):
    """One line a group, or all groups in one line where there is no more; a click goes to a group."""

    entries: reactive[Entries] = reactive[Entries](())
    here: reactive[str | None] = reactive[str | None](None)

    @dataclass
    class Pressed(Message):
        """A group was clicked."""

        group: str

    def show(self, view: FormView, here: str | None) -> None:
        """Show the groups of a form and which one the cursor is in."""
        self.entries = tuple((group, view.counts(group)) for group in view.groups)
        self.here = here

    def render(self) -> Content:
        """The groups, line by line; in one line they begin with the one that the cursor is in."""
        if self.size.height == 1:
            gap = (Shown(" " * BETWEEN), Tone.PLAIN)
            return content(span for group, counts in self._from_here() for span in (*self._tab(group, counts), gap))
        return lines(self._line(group, counts) for group, counts in self.entries)

    def on_click(self, event: events.Click) -> None:
        """Go to the group under the mouse."""
        at = event.get_content_offset(self)
        group = self._group_at(at.x, at.y) if at is not None else None
        if group is not None:
            self.post_message(self.Pressed(group))

    def _group_at(self, x: int, y: int) -> str | None:
        if self.size.height > 1:
            return self.entries[y][0] if y < len(self.entries) else None
        edge = 0
        for group, counts in self._from_here():
            edge += sum(len(text) for text, _ in self._tab(group, counts)) + BETWEEN
            if x < edge:
                return group
        return None

    def _from_here(self) -> Entries:
        place = next((at for at, (group, _) in enumerate(self.entries) if group == self.here), 0)
        return (*self.entries[place:], *self.entries[:place])

    def _tab(self, group: str, counts: Counts) -> Cell:
        is_here = group == self.here
        mark = ((Shown(HERE), Tone.BUSY),) if is_here else ()
        return (*mark, (line(group), Tone.STRONG if is_here else Tone.MUTED), *_counts(counts))

    def _line(self, group: str, counts: Counts) -> Cell:
        is_here = group == self.here
        counted = tuple(_counts(counts))
        room = max(self.size.width - 2 - sum(len(text) for text, _ in counted), 1)
        name = line(group)[:room]
        mark = (Shown(f"{HERE if is_here else ' '} "), Tone.BUSY)
        return mark, (Shown(f"{name:<{room}}"), Tone.STRONG if is_here else Tone.MUTED), *counted


def _counts(counts: Counts) -> Iterator[tuple[Shown, Tone]]:
    """` *2 !1`: edits and errors."""
    if counts.edits:
        yield Shown(f" *{counts.edits}"), Tone.EDITED
    if counts.errors:
        yield Shown(f" !{counts.errors}"), Tone.BAD
