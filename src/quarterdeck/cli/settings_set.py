"""`quarterdeck settings set KEY=VALUE ...`: change some settings, keep the others, and read back what is stored."""

from quarterdeck.cli import settings_reading
from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.settings_edits import edited, refuse_seen_secrets, typed
from quarterdeck.cli.settings_saving import save_and_report
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config


def run(arguments: CommandLine, config: Config) -> int:
    """Store the changes; 0 only when all of them were read back."""
    assignments = typed(arguments.assignments)

    async def change(client: Client) -> int:
        server, draft = await settings_reading.read(client)
        refuse_seen_secrets(draft.fields, arguments.assignments)
        return await save_and_report(client, server, edited(draft, assignments), arguments, config)

    return with_client(arguments, config, change)
