"""The dialog for the path of a file to read or write; after an error, the path can be corrected."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from quarterdeck.config.files import write_named
from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell, Tone, cell
from quarterdeck.tui.dialogs.base import Result
from quarterdeck.tui.dialogs.confirm import ConfirmDialog
from quarterdeck.tui.dialogs.form import FormDialog, InputField, RefusedError, Typed


def path_dialog(
    title: str, said: Sequence[Cell], path: str, use: Callable[[Path], Awaitable[Result]], *, example: str = ""
) -> FormDialog[Result]:
    """Return a dialog that asks for a path and uses it; ConfigErrors of `use` are shown."""

    async def send(typed: Typed) -> Result:
        if not typed["path"]:
            raise RefusedError("Type the path of a file.", "path")
        return await use(_path(typed["path"]))

    field = InputField("path", "Path", path, path or example)
    return FormDialog(title, [field], send, said=said, verb="go on", sending="Waiting for the disk…", blamed="path")


def _path(typed: str) -> Path:
    try:
        return Path(typed).expanduser()
    except RuntimeError:
        raise RefusedError(f"Nobody here has the home folder {Path(typed).parts[0]}.", "path") from None


def save_dialog(
    app: Deck, title: str, said: Sequence[Cell], path: Path, written: Callable[[Path], str]
) -> FormDialog[str]:
    """Return a dialog that writes what `written` returns, which contains no secret, to a path; its answer says so."""

    async def write(path: Path) -> str:
        content = written(path)
        try:
            await asyncio.to_thread(write_named, path, content, over=False)
        except FileExistsError:
            await _ask_for_leave(app, path)
            await asyncio.to_thread(write_named, path, content, over=True)
        return f"Written to {Path.cwd() / path}, without secrets; only you can open it."

    return path_dialog(title, said, str(path), write)


def choose_dialog(app: Deck, title: str, said: Sequence[Cell], path: Path) -> FormDialog[tuple[Path, bool]]:
    """Return a dialog for the path of a file to be written later; its answer includes whether to replace a file."""

    async def choose(path: Path) -> tuple[Path, bool]:
        if not await asyncio.to_thread(os.access, path.parent, os.W_OK | os.X_OK):
            raise RefusedError(f"{path.parent} is no folder that can be written to.", "path")
        if not await asyncio.to_thread(os.path.lexists, path):
            return path, False
        if not await asyncio.to_thread(path.is_file):
            raise RefusedError(f"{path} is not a file.", "path")
        await _ask_for_leave(app, path)
        return path, True

    return path_dialog(title, said, str(path), choose)


async def _ask_for_leave(app: Deck, path: Path) -> None:
    """Ask whether to replace an existing file; raises RefusedError if not."""
    lost = cell("What is in it now would be gone.", Tone.WARN)
    dialog = ConfirmDialog("Write over the file?", (cell(f"{path} is there already."), lost))
    if await app.push_screen_wait(dialog) is not True:
        raise RefusedError("The file stays as it is; another path can be typed.", "path")
