"""`quarterdeck settings import FILE`: the settings of an export as edits of what is stored, saved like any others."""

import sys
from pathlib import Path

from quarterdeck.cli import settings_reading
from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import note
from quarterdeck.cli.settings_saving import save_and_report
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.settings import files as settings_files
from quarterdeck.tui import files

FROM_INPUT = "-"


def run(arguments: CommandLine, config: Config) -> int:
    """Store what the file holds; 0 only when all of it was read back."""
    said = _read(arguments.file or FROM_INPUT)

    async def take(client: Client) -> int:
        server, draft = await settings_reading.read(client)
        try:
            found = settings_files.imported(said, draft)
        except settings_files.ImportRefused as error:
            raise CommandError(str(error), "Nothing was changed.", status=2) from None
        for each in found.notes:
            note(each)
        return await save_and_report(client, server, found.draft, arguments, config)

    return with_client(arguments, config, take)


def _read(name: str) -> str:
    if name == FROM_INPUT:
        return sys.stdin.read() if sys.stdin is not None else ""
    try:
        return files.read(Path(name))
    except files.FileRefusedError as error:
        raise CommandError(str(error), status=2) from None
