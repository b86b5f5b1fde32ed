"""Settings as a file: written without secrets, read as edits. Each is a small conversation of dialogs."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck.settings import files as settings_files
from quarterdeck.tui import files, text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.file_path import FilePathDialog
from quarterdeck.tui.files import FileRefusedError
from quarterdeck.tui.text import Shown
from quarterdeck.tui.written_text import save_text

if TYPE_CHECKING:
    from quarterdeck.settings.draft import Draft
    from quarterdeck.settings.files import Imported
    from quarterdeck.tui.connected import ConnectedApp

_WRITTEN: tuple[Cell, ...] = (
    cell(Shown("What is stored, with your edits: TOML, or JSON for a name in .json.")),
    cell(Shown("No secret is in it: keys, tokens and values of variables stay out.")),
)
_READ: tuple[Cell, ...] = (
    cell(Shown("A file that was exported, from this server or another one.")),
    cell(Shown("It becomes edits: ctrl+s shows them, and nothing is sent before."), Tone.MUTED),
)


async def export(app: ConnectedApp, draft: Draft) -> Path | None:
    """Ask for a path and write the settings there; None when the person thought better of it."""
    release = app.session.release if app.session is not None else ""

    def written(path: Path) -> str:
        said = settings_files.exported(draft, release=release)
        return settings_files.as_json(said) if path.suffix.casefold() == ".json" else settings_files.as_toml(said)

    usual = Path(_usual_name(app.endpoint.name))
    return await save_text(app, "Export the settings", _WRITTEN, usual, written)


async def read(app: ConnectedApp, draft: Draft) -> tuple[Path, Imported] | None:
    """Ask for a path and read a file as edits of a draft; None when the person thought better of it."""
    typed, problem = "", None
    while True:
        path = await app.push_screen_wait(FilePathDialog(Shown("Import settings"), _READ, typed, problem))
        if path is None:
            return None
        typed = str(path)
        try:
            return path, settings_files.imported(await asyncio.to_thread(files.read, path), draft)
        except (FileRefusedError, settings_files.ImportRefused) as error:
            problem = text.line(str(error))


def _usual_name(connection: str) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", connection).strip("-.")
    return f"settings-{name or 'deck'}.toml"
