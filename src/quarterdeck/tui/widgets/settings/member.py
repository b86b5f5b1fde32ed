"""One member of an MCP server in its dialog: label, control, and the sentence about what is wrong."""

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from quarterdeck.settings.fields import Problem
from quarterdeck.tui import text
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.paint import plain
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.secret_control import SecretControl


class Member(Horizontal):
    """A labelled control; its id is the name of the member."""

    note = getters.query_one(".member-note", Static)

    def __init__(self, name: str, label: str, control: Widget, hint: str = "") -> None:
        super().__init__(id=f"member-{name}", classes="member")
        self._label = Shown(label)
        self._hint = Shown(hint)
        self.control = control

    def compose(self) -> ComposeResult:
        """Label at the left; control, hint and sentence at the right."""
        yield Static(plain(self._label, Tone.MUTED), classes="member-label")
        with Vertical(classes="member-right"):
            yield self.control
            if self._hint:
                yield Static(plain(self._hint, Tone.MUTED), classes="member-hint")
            note = Static(classes="member-note")
            note.display = False
            yield note

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(SecretControl.Changed)
    def _forget_problem(self) -> None:
        """A sentence goes as soon as its member is changed."""
        self.say(None)

    def say(self, problem: Problem | None) -> None:
        """Show what is wrong, or take the sentence away."""
        self.note.display = problem is not None
        if problem is not None:
            tone = Tone.BAD if problem.stops else Tone.WARN
            self.note.update(plain(text.line(f"! {problem.words}"), tone))
