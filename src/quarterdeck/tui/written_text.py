"""What is written to a file that the person names: asked for, and asked again before one that is there goes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from quarterdeck.tui import files, text
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.file_path import FilePathDialog
from quarterdeck.tui.files import FileRefusedError
from quarterdeck.tui.text import Shown

if TYPE_CHECKING:
    from quarterdeck.tui.connected import ConnectedApp


async def save_text(
    app: ConnectedApp, title: str, said: Iterable[Cell], path: Path, written: Callable[[Path], str]
) -> Path | None:
    """Ask for a path and write there what `written` makes for it; None when the person thought better of it.

    Runs inside a worker.
    """
    said = tuple(said)
    problem: Shown | None = None
    while True:
        dialog = FilePathDialog(Shown(title), said, str(path), problem)
        wanted = await app.push_screen_wait(dialog)
        if wanted is None:
            return None
        path, problem = wanted, None
        try:
            if await _write(app, path, written(path)):
                return path
        except FileRefusedError as error:
            problem = text.line(str(error))


async def choose_file(app: ConnectedApp, title: str, said: Iterable[Cell], path: Path) -> tuple[Path, bool] | None:
    """Ask for the path of a file to be written later, and whether the one that is there may go; None for neither.

    Runs inside a worker.
    """
    said = tuple(said)
    while True:
        wanted = await app.push_screen_wait(FilePathDialog(Shown(title), said, str(path)))
        if wanted is None:
            return None
        path = wanted
        if not await asyncio.to_thread(os.path.lexists, path):
            return path, False
        if await _may_go(app, path):
            return path, True


async def _may_go(app: ConnectedApp, path: Path) -> bool:
    lost = cell(Shown("What is in it now would be gone."), Tone.WARN)
    said = (cell(text.line(f"{path} is there already.")), lost)
    return await app.push_screen_wait(ConfirmDialog(Shown("Write over the file?"), said)) is True


async def _write(app: ConnectedApp, path: Path, written: str) -> bool:
    try:
        await asyncio.to_thread(files.write, path, written, over=False)
    except FileExistsError:
        if not await _may_go(app, path):
            return False
        await asyncio.to_thread(files.write, path, written, over=True)
    return True
