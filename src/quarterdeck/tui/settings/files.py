"""Export of the settings to a file without secrets, and import of such a file as edits."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quarterdeck.config.files import read_named
from quarterdeck.settings import files as settings_files
from quarterdeck.settings.files import Imported
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.base import ask
from quarterdeck.tui.dialogs.file_path import path_dialog, save_dialog
from quarterdeck.tui.dialogs.form import RefusedError
from quarterdeck.tui.dialogs.page import PageDialog
from quarterdeck.tui.widgets.form.form import SettingsForm

_WRITTEN: tuple[Cell, ...] = (
    cell("What is stored, with your edits: TOML, or JSON for a name in .json."),
    cell("No secret is in it: keys, tokens and values of variables stay out."),
)
_READ: tuple[Cell, ...] = (
    cell("A file that was exported, from this server or another one."),
    cell("It becomes edits: ctrl+s shows them, and nothing is sent before.", Tone.MUTED),
)


@dataclass(frozen=True)
class SettingsFiles:
    """The commands that write the form's settings to a file and read them from one; `say` shows one sentence."""

    app: Deck
    form: SettingsForm
    say: Callable[[str, Tone], None]

    async def action_export(self) -> None:
        """Ask for a path and write the settings there."""
        draft = self.form.draft

        def written(path: Path) -> str:
            said, as_data = settings_files.exported(draft), settings_files.is_json(path.name)
            if as_data is None:
                raise RefusedError("The name has to end in .toml or .json.", "path")
            return settings_files.as_json(said) if as_data else settings_files.as_toml(said)

        dialog = save_dialog(self.app, "Export the settings", _WRITTEN, self._path, written)
        await ask(self.app, dialog, lambda said: self.say(said, Tone.GOOD))

    async def action_import(self) -> None:
        """Ask for a path and read the file there as edits."""
        dialog = path_dialog("Import settings", _READ, "", self._read, example=str(self._path))
        await ask(self.app, dialog, self._take)

    @property
    def _path(self) -> Path:
        """The file that is offered for the settings of this connection."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", self.app.endpoint.name).strip("-.")
        return Path(f"settings-{name or 'deck'}.toml")

    async def _read(self, path: Path) -> tuple[Path, Imported]:
        try:
            return path, settings_files.imported(await asyncio.to_thread(read_named, path), self.form.draft)
        except settings_files.ImportRefused as error:
            raise RefusedError(str(error), "path") from None

    async def _take(self, read: tuple[Path, Imported]) -> None:
        path, found = read
        changed = await self.form.take_over(found.draft)
        news = "ctrl+s shows the edits, ctrl+z takes them back." if changed else "It changes nothing."
        self.say(f"{path.name} is read. {news}", Tone.GOOD)
        left = (f"Left alone: {each}" for each in (*found.wrong, *found.left))
        if said := [cell(note) for note in (*left, *found.notes)]:
            await self.app.push_screen(PageDialog(f"Read from {path.name}", said))
