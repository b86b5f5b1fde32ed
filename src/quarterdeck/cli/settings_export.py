"""`quarterdeck settings export [FILE]`: what is stored, without secrets, as TOML or JSON."""

import sys
from pathlib import Path

from quarterdeck.cli import settings_reading
from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import note
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.settings import files as settings_files
from quarterdeck.tui import files


def run(arguments: CommandLine, config: Config) -> int:
    """Write the settings to a new file of mode 0600, or to standard output."""

    async def export(client: Client) -> int:
        server, draft = await settings_reading.read(client)
        if draft.base is None:
            raise CommandError("No settings are stored on this server yet.", "There is nothing to export.")
        data = settings_files.exported(draft, release=server.release or await client.release() or "")
        as_data = arguments.json or (arguments.file or "").casefold().endswith(".json")
        _write(settings_files.as_json(data) if as_data else settings_files.as_toml(data), arguments.file)
        return 0

    return with_client(arguments, config, export)


def _write(text: str, name: str | None) -> None:
    if name is None:
        sys.stdout.write(text)
        return
    try:
        files.write(Path(name), text, over=False)
    except FileExistsError:
        raise CommandError(f"{name} is there already.", "Name another file, or move it away.", status=2) from None
    except files.FileRefusedError as error:
        raise CommandError(str(error), status=2) from None
    note(f"written to {name}, without secrets; only you can open it.")
