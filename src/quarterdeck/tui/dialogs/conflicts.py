"""Edits that somebody else made too: mine or theirs, one by one."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static

from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP
from quarterdeck.settings.fields import Field
from quarterdeck.settings.form_fields import FormFields
from quarterdeck.settings.merge import Conflict, Side
from quarterdeck.settings.words import differences
from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines, plain
from quarterdeck.tui.text import Shown

NAMES = {Side.MINE: "mine", Side.THEIRS: "theirs"}


def conflict_lines(conflict: Conflict, side: Side, fields: FormFields) -> Iterable[Cell]:
    """What is contested, and both values; the taken one has a dot."""
    entry = fields.by_key[conflict.key]
    label = words.server_title(conflict.mine or conflict.theirs or conflict.base) if conflict.key == MCP else ""
    was = "" if conflict.key == MCP else f"  was {_value_words(conflict, Side.THEIRS, conflict.base, entry)}"
    yield (
        (text.line(label or entry.label), Tone.STRONG),
        (Shown("  "), Tone.PLAIN),
        (text.line(was), Tone.MUTED),
    )
    for one, value in ((Side.MINE, conflict.mine), (Side.THEIRS, conflict.theirs)):
        taken = one is side
        yield (
            (Shown("  (•) " if taken else "  ( ) "), Tone.KEY if taken else Tone.MUTED),
            (Shown(f"{NAMES[one]:<7}"), Tone.STRONG if taken else Tone.MUTED),
            (text.line(_value_words(conflict, one, value, entry)), Tone.EDITED if taken else Tone.MUTED),
        )


def _value_words(conflict: Conflict, side: Side, value: Any, entry: Field) -> str:
    if conflict.key == MCP:
        return _server_words(conflict, value)
    if not entry.secret:
        return words.value_words(entry, value)
    if side is Side.THEIRS:
        return "stored" if value else "not stored"
    return "cleared" if value is None else "new value"


def _server_words(conflict: Conflict, server: Any) -> str:
    if server is None:
        return "deleted" if conflict.base is not None else "not there"
    if conflict.base is None:
        return words.server_details(server) or words.key_words(server)
    return ", ".join(differences(conflict.base, server)[1]) or "as it was"


class ConflictsDialog(Dialog[tuple[Side, ...]]):
    """Ask for a side in each conflict; mine is taken at first."""

    CSS_PATH = ["dialog.tcss", "settings_dialogs.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,left,right", "other_side", "Other side", show=False),
        Binding("m", "take('mine')", "Mine", show=False),
        Binding("t", "take('theirs')", "Theirs", show=False),
        Binding("ctrl+s", "accept", "Go on", show=False),
    ]
    HINTS = (("m", "mine"), ("t", "theirs"), ("enter", "go on to the review"), ("escape", "go on editing"))

    def __init__(self, conflicts: Sequence[Conflict], fields: FormFields) -> None:
        super().__init__(Shown("Changed here and on the server"))
        self._conflicts = conflicts
        self._fields = fields
        self._sides = [Side.MINE] * len(conflicts)

    def body(self) -> Iterable[Widget]:
        """Why, and the conflicts."""
        yield Static(plain(Shown("Somebody saved these since you loaded them. Which value is to be kept?"), Tone.MUTED))
        yield OptionList(*(self._prompt(number) for number in range(len(self._sides))), markup=False)

    def _prompt(self, number: int) -> Content:
        return lines(conflict_lines(self._conflicts[number], self._sides[number], self._fields))

    def action_other_side(self) -> None:
        """Take the other side of the conflict under the cursor."""
        number = self.query_one(OptionList).highlighted or 0
        self._take_side(number, Side.THEIRS if self._sides[number] is Side.MINE else Side.MINE)

    def action_take(self, side: str) -> None:
        """Take a side of the conflict under the cursor, and go to the next one."""
        options = self.query_one(OptionList)
        number = options.highlighted or 0
        self._take_side(number, Side(side))
        options.highlighted = min(number + 1, len(self._sides) - 1)

    def _take_side(self, number: int, side: Side) -> None:
        self._sides[number] = side
        self.query_one(OptionList).replace_option_prompt_at_index(number, self._prompt(number))

    def on_option_list_option_selected(self) -> None:
        """Enter goes on."""
        self.action_accept()

    def action_accept(self) -> None:
        """Answer with the sides."""
        self.dismiss(tuple(self._sides))
