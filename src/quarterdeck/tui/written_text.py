"""A file that the person names, for what is written to it later."""

from collections.abc import Iterable
from pathlib import Path

from quarterdeck.tui.app import Deck
from quarterdeck.tui.cells import Cell
from quarterdeck.tui.dialogs.file_path import choose_dialog


async def choose_file(app: Deck, title: str, said: Iterable[Cell], path: Path) -> tuple[Path, bool] | None:
    """Ask for the path, and whether the file that is there may go; None for neither. Runs inside a worker."""
    return await app.push_screen_wait(choose_dialog(app, title, said, path))
