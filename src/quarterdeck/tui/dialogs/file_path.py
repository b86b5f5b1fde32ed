"""The path of a file to write or to read."""

from collections.abc import Iterable
from pathlib import Path

from textual.widget import Widget
from textual.widgets import Input, Static

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.settings.line_input import LineInput


class FilePathDialog(Dialog[Path]):
    """Ask for a path; `problem` says what was wrong with the one before."""

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    HINTS = (("enter", "go on"), ("esc", "cancel"))

    def __init__(self, title: Shown, said: Iterable[Cell], path: str, problem: Shown | None = None) -> None:
        super().__init__(title)
        self._said = tuple(said)
        self._path = path
        self._problem = problem

    def body(self) -> Iterable[Widget]:
        """What is done with the file, and its path."""
        yield Static(lines(self._said), classes="value")
        yield LineInput(text.line(self._path), placeholder=text.line(self._path) or "settings.toml")

    def on_mount(self) -> None:
        """Say what was wrong before."""
        self.complain(self._problem)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the path."""
        typed = event.value.strip()
        if typed:
            self.dismiss(Path(typed).expanduser())
        else:
            self.complain(Shown("Type the path of a file."))
