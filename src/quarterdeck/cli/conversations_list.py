"""`quarterdeck conversations list`."""

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import every, with_client
from quarterdeck.cli.output import as_json, moment, note, table
from quarterdeck.cli.plain import conversation_plain
from quarterdeck.config import Config
from quarterdeck.service.client import ServiceClient


def run(arguments: CommandLine, config: Config) -> int:
    """Print all conversations with the status of their sandbox, newest first."""

    async def show(client: ServiceClient) -> int:
        found, unreadable = await every(client.conversations.pages())
        if arguments.json:
            as_json([conversation_plain(conversation) for conversation in found])
        else:
            rows = [(each.id, each.sandbox_status, each.title, moment(each.updated_at)) for each in found]
            table(("ID", "SANDBOX", "TITLE", "UPDATED (UTC)"), rows)
        if unreadable:
            note(f"{unreadable} of {unreadable + len(found)} records could not be read.")
        return 1 if unreadable else 0

    return with_client(arguments, config, show)
