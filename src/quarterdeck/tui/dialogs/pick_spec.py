"""Which spec to start a sandbox from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from quarterdeck.tui import text
from quarterdeck.tui.cells import Cell, Tone
from quarterdeck.tui.dialogs.base import Dialog
from quarterdeck.tui.paint import lines
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.client.models.sandbox import SandboxSpec


def spec_lines(spec: SandboxSpec) -> list[Cell]:
    """What is known of a spec; values of its environment are never shown."""
    command = text.line(" ".join(spec.command)) if spec.command else Shown("its own")
    names = text.line(", ".join(sorted(spec.initial_env))) if spec.initial_env else Shown("none")
    return [
        ((Shown("command      "), Tone.MUTED), (command, Tone.PLAIN)),
        ((Shown("folder       "), Tone.MUTED), (text.line(spec.working_dir or "-"), Tone.PLAIN)),
        ((Shown("environment  "), Tone.MUTED), (names, Tone.PLAIN)),
    ]


class PickSpecDialog(Dialog[str]):
    """Choose a spec; the first one is the server's default. Dismisses with its id."""

    HINTS = (("enter", "start"), ("↑ ↓", "choose"), ("esc", "cancel"))

    def __init__(self, specs: Sequence[SandboxSpec], forecast: Iterable[Cell] = ()) -> None:
        super().__init__(Shown("Start a sandbox"))
        self._specs = specs
        self._forecast = tuple(forecast)

    def body(self) -> Iterable[Widget]:
        """The specs, and what is known of the one under the cursor."""
        yield OptionList(*(Option(self._prompt(at)) for at in range(len(self._specs))), id="specs", markup=False)
        yield Static(lines(spec_lines(self._specs[0])), id="about")
        if self._forecast:
            yield Static(lines(self._forecast), id="forecast")

    def _prompt(self, at: int) -> Shown:
        return Shown(text.line(self._specs[at].id) + ("  (default)" if at == 0 else ""))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say what the spec under the cursor is."""
        self.query_one("#about", Static).update(lines(spec_lines(self._specs[event.option_index])))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the spec under the cursor."""
        self.dismiss(self._specs[event.option_index].id)
