"""The line above the form: what is edited and what became of the last save."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from quarterdeck.settings import words
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.paint import content
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.view import FormView


class SettingsBar(Horizontal):
    """Edits at the left, the outcome of a save at the right, where it stays."""

    def compose(self) -> ComposeResult:
        """Both sides, empty at first."""
        yield Static(id="settings-summary")
        yield Static(id="settings-result")

    def show(self, view: FormView | None) -> None:
        """Say how much is edited; nothing while nothing is loaded."""
        said = content(summary(view)) if view is not None else ""
        self.query_one("#settings-summary", Static).update(said, layout=False)

    def say(self, result: Cell) -> None:
        """Say what became of a save."""
        self.query_one("#settings-result", Static).update(content(result))


def summary(view: FormView) -> Cell:
    """`3 edited · 1 error`, or that all is as stored."""
    errors = sum(problem.stops for problem in view.problems.values())
    if not view.draft.edited:
        known = view.draft.base is not None
        return cell(Shown("As stored" if known else "Nothing stored yet: defaults apply until you save"), Tone.MUTED)
    edited: Cell = cell(Shown(f"{view.draft.count} edited"), Tone.EDITED)
    if not errors:
        return (*edited, (Shown(" · not saved yet"), Tone.MUTED))
    return (*edited, (Shown(" · "), Tone.MUTED), (Shown(words.counted(errors, "error")), Tone.BAD))
