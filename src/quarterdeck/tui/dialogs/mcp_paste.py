"""MCP servers from pasted JSON: what it contains is shown while it is typed."""

from collections.abc import Iterable
from dataclasses import replace

from textual import on
from textual.widget import Widget
from textual.widgets import Static, TextArea

from quarterdeck.settings.fields import Problem
from quarterdeck.settings.mcp import Servers
from quarterdeck.settings.mcp_json import MergedPaste, PasteError, merge_pasted, pasted
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.form import FieldsDialog, InputField
from quarterdeck.tui.paint import lines
from quarterdeck.tui.widgets.inputs import PlainArea

MOST_NOTES = 4
LONGEST_NOTE = 300
ASKED = "The mcpServers object of another tool, or what this deck copies with y. Nothing is sent before the save."


class PasteServersDialog(FieldsDialog[MergedPaste]):
    """Asks for JSON; the answer is the list with the servers added; `nested` is passed to `pasted`."""

    def __init__(self, servers: Servers, *, nested: bool) -> None:
        field = InputField("pasted", "", control=PlainArea(soft_wrap=False))
        super().__init__("Paste MCP servers as JSON", [field], said=[cell(ASKED, Tone.MUTED)], verb="take over")
        self._servers = servers
        self._nested = nested
        self._taken: MergedPaste | None = None

    def foot(self) -> Iterable[Widget]:
        """What was found in the text, in sight on any screen."""
        yield Static(id="found")

    @on(TextArea.Changed)
    def _typed(self) -> None:
        """Show what the text contains."""
        self.complain(None)
        self._taken = None
        said: Iterable[Cell] = ()
        try:
            if self.fields["pasted"].value:
                found = pasted(self.fields["pasted"].value, nested=self._nested)
                taken = merge_pasted(self._servers, found.servers, found.off)
                notes = (*(f"Left out: {each}" for each in found.left_out), *found.notes, *taken.notes)
                self._taken = replace(taken, notes=notes)
                said = [cell(f"{self._taken.words}.", Tone.GOOD), *_notes(notes)]
        except PasteError as error:
            said = [cell(str(error), Tone.WARN)]
        self.query_one("#found", Static).update(lines(said))

    def problems(self) -> list[Problem]:
        """Return why nothing can be accepted."""
        if self._taken is not None:
            return []
        if self.fields["pasted"].value:
            return [Problem("Nothing can be taken over yet; the line above says why.")]
        return [Problem("Paste or type the JSON first.")]

    def take(self) -> None:
        """Answer with the list."""
        self.dismiss(self._taken)


def _notes(notes: tuple[str, ...]) -> Iterable[Cell]:
    """Yield only the first notes, because they are painted again with each key."""
    for note in notes[:MOST_NOTES]:
        yield cell(note[:LONGEST_NOTE], Tone.WARN)
    if len(notes) > MOST_NOTES:
        yield cell(f"and {len(notes) - MOST_NOTES} more notes like these, shown once it is taken over.", Tone.MUTED)
