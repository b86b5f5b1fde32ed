"""What stands where the settings will be while they are imported, which takes long the first time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from importlib import import_module
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.commands import Command, Place, bindings_at
from quarterdeck.tui.paint import plain
from quarterdeck.tui.screens.base import DeckScreen
from quarterdeck.tui.text import Shown

SETTINGS = (
    "pydantic.main",
    "quarterdeck.client.models.settings",
    "quarterdeck.settings.draft",
    "quarterdeck.tui.widgets.form.form",
    "quarterdeck.tui.screens.settings",
    "quarterdeck.client.settings",
    "quarterdeck.client.options",
)
"""What the settings need, 13 MB that a person who only watches a list never asks for; in steps of about a twentieth of
a second, for whoever leaves meanwhile waits until one is done."""
IMPORTED_WITHIN = 10.0
"""Seconds that keys wait for the form: many times what a slow machine needs."""


class SettingsOpening(DeckScreen):
    """Says that the settings are being opened, and has them shown as soon as they are imported."""

    PLACE = Place.SETTINGS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_at(Place.EVERYWHERE),
        Binding("escape,q", "command('back')", "Back", show=False),
    ]

    def parts(self) -> Iterable[Widget]:
        """One sentence."""
        yield Static(plain(Shown("Opening the settings…"), Tone.BUSY), id="opening")

    def on_screen_resume(self) -> None:
        """Somebody waits for the settings, for the first time or again."""
        self._open()

    @work(exclusive=True, group="settings")
    async def _open(self) -> None:
        painted = asyncio.Event()
        self.call_after_refresh(painted.set)
        await painted.wait()  # an import in a thread would take every other turn from the painting
        for name in SETTINGS:
            await asyncio.to_thread(import_module, name)
        if self.app.screen is self:
            self.app.settings_imported()

    def health(self) -> Cell:
        """Nothing is read yet."""
        return cell(Shown("loading…"), Tone.BUSY)

    def why_not(self, command: Command) -> str | None:
        """There are no settings to do anything with, but there is a way back."""
        if command.place is Place.SETTINGS and command.name != "back":
            return f"{command.label}: the settings are not loaded."
        return super().why_not(command)

    def action_back(self) -> None:
        """Go back to the conversations."""
        self.app.show(Place.CONVERSATIONS)
