"""`quarterdeck settings undo`: take back the last save that was made from this machine, as far as that can be done."""

import os

from quarterdeck.cli import settings_reading
from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import note
from quarterdeck.cli.settings_saving import save_and_report
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.settings import journal
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.notes import about


def run(arguments: CommandLine, config: Config) -> int:
    """Store the reverse of the last save; 0 only when all of it was read back."""

    async def undo(client: Client) -> int:
        connection = choose(arguments, config, os.environ).connection
        saved = journal.last(await KeptState(config.folders.kept).read(journal.Journal, about(connection)))
        if saved is None:
            raise CommandError("No save from here is noted, so there is nothing to undo.")
        server, draft = await settings_reading.read(client)
        back = journal.undone(saved, draft)
        for label in back.cannot:
            note(f"{label}: cannot be brought back, for secrets are not kept.")
        for label in back.moved:
            note(f"{label}: changed again since, and left alone.")
        if not back.draft.edited:
            raise CommandError("Nothing of the last save can be undone.")
        return await save_and_report(client, server, back.draft, arguments, config)

    return with_client(arguments, config, undo)
