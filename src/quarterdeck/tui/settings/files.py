"""Settings as a file: written without secrets, read as edits."""

import asyncio
import re
from pathlib import Path

from quarterdeck.settings import files as settings_files
from quarterdeck.settings.draft import Draft
from quarterdeck.settings.files import Imported
from quarterdeck.tui import files
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.file_path import path_dialog, save_dialog
from quarterdeck.tui.dialogs.form import FormDialog
from quarterdeck.tui.files import FileRefusedError
from quarterdeck.tui.text import Shown

_WRITTEN: tuple[Cell, ...] = (
    cell(Shown("What is stored, with your edits: TOML, or JSON for a name in .json.")),
    cell(Shown("No secret is in it: keys, tokens and values of variables stay out.")),
)
_READ: tuple[Cell, ...] = (
    cell(Shown("A file that was exported, from this server or another one.")),
    cell(Shown("It becomes edits: ctrl+s shows them, and nothing is sent before."), Tone.MUTED),
)


def export_dialog(app: Deck, draft: Draft) -> FormDialog[Path]:
    """Ask for a path and write the settings there."""
    release = app.session.server.release if app.session is not None else ""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", app.endpoint.name).strip("-.")

    def written(path: Path) -> str:
        said = settings_files.exported(draft, release=release)
        return settings_files.as_json(said) if path.suffix.casefold() == ".json" else settings_files.as_toml(said)

    return save_dialog(app, "Export the settings", _WRITTEN, Path(f"settings-{name or 'deck'}.toml"), written)


def import_dialog(draft: Draft) -> FormDialog[tuple[Path, Imported]]:
    """Ask for a path and read the file as edits of a draft."""

    async def read(path: Path) -> tuple[Path, Imported]:
        try:
            return path, settings_files.imported(await asyncio.to_thread(files.read, path), draft)
        except settings_files.ImportRefused as error:
            raise FileRefusedError(str(error)) from None

    return path_dialog("Import settings", _READ, "", read)
