"""`quarterdeck conversations list`."""

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.filtering import NOTHING_MATCHED, typed_filter
from quarterdeck.cli.oneshot import every, with_client
from quarterdeck.cli.output import as_json, moment, note, table
from quarterdeck.cli.plain import conversation_plain
from quarterdeck.cli.sandbox_rows import utc_now
from quarterdeck.client.client import Client
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.config.load import Config
from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR, ConversationRow, conversation_row
from quarterdeck.fleet.filters import kept


def run(arguments: CommandLine, config: Config) -> int:
    """Print the conversations the filter lets through with the status of their sandbox, newest first.

    Without a filter an empty list is status 0, with one 3.
    """
    wanted = typed_filter(arguments.filter, CONVERSATION_GRAMMAR)

    async def show(client: Client) -> int:
        read, unreadable = await every(client.conversations.pages())
        rows = kept(map(_row, read), wanted, utc_now(), CONVERSATION_GRAMMAR)
        found = [row.record for row in rows if row.record is not None]
        if arguments.json:
            as_json([conversation_plain(conversation) for conversation in found])
        else:
            cells = [(each.id, each.sandbox_status, each.title, moment(each.updated_at)) for each in found]
            table(("ID", "SANDBOX", "TITLE", "UPDATED (UTC)"), cells)
        if unreadable:
            note(f"{unreadable} of {unreadable + len(read)} records could not be read.")
            return 1
        return NOTHING_MATCHED if wanted and not found else 0

    return with_client(arguments, config, show)


def _row(record: Conversation) -> ConversationRow:
    """Without the list of sandboxes an orphan is one whose sandbox the server itself calls missing."""
    return conversation_row(record)
