"""MCP servers out of pasted JSON: what is found in it is said while it is typed."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static, TextArea

from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_json import Pasted, PasteError, TakenIn, take_in
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown
from quarterdeck.tui.widgets.form.inputs import PlainArea

MOST_NOTES = 4
LONGEST_NOTE = 300
ASKED = "The mcpServers object of another tool, or what this deck copies with y. Nothing is sent before the save."


class PasteServersDialog(Dialog[TakenIn]):
    """Ask for JSON; the answer is the list with the servers in it. `read` is handed the text."""

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "accept", "Take over", show=False, priority=True)]
    HINTS = (("ctrl+s", "take over"), ("escape", "cancel"))

    def __init__(self, servers: Servers, read: Callable[[str], Pasted]) -> None:
        super().__init__(Shown("Paste MCP servers as JSON"))
        self._servers = servers
        self._read = read
        self._warned = False

    def body(self) -> Iterable[Widget]:
        """A field of several lines, and what is found in it."""
        yield Static(lines([cell(Shown(ASKED), Tone.MUTED)]), classes="value")
        yield PlainArea(id="pasted")
        yield Static(id="found")

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._look()
        self._warned = False
        self.complain(None)

    def _look(self) -> TakenIn | None:
        """Say what is in the text; None when nothing can be taken over."""
        said = self.query_one("#found", Static)
        typed = self.query_one(PlainArea).text
        if not typed.strip():
            said.update("")
            return None
        try:
            found = self._read(typed)
        except PasteError as error:
            said.update(lines([cell(text.line(str(error)), Tone.WARN)]))
            return None
        taken = take_in(self._servers, found.servers)
        said.update(lines([cell(text.line(f"{taken.words}."), Tone.GOOD), *_notes(found.notes)]))
        return taken

    def action_accept(self) -> None:
        """Answer with the list, if there is a server in the text."""
        taken = self._look()
        if taken is not None:
            self.dismiss(taken)
        elif not self.query_one(PlainArea).text.strip():
            self.complain(Shown("Paste or type the JSON first."))
        else:
            self.complain(Shown("Nothing can be taken over yet; the line above says why."))

    def action_cancel(self) -> None:
        """Leave; where something was typed only at the second time."""
        if self._warned or not self.query_one(PlainArea).text.strip():
            self.dismiss(None)
        self._warned = True
        self.say(Shown("esc again drops the text; ctrl+s takes it over."), Tone.WARN)


def _notes(notes: tuple[str, ...]) -> Iterable[Cell]:
    for note in notes[:MOST_NOTES]:
        yield cell(text.line(note[:LONGEST_NOTE]), Tone.WARN)
    if len(notes) > MOST_NOTES:
        yield cell(Shown(f"and {len(notes) - MOST_NOTES} more notes like these."), Tone.MUTED)
