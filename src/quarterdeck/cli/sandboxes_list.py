"""`quarterdeck sandboxes list`."""

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import every, with_client
from quarterdeck.cli.output import as_json, moment, note, table
from quarterdeck.cli.plain import sandbox_plain
from quarterdeck.config import Config
from quarterdeck.service.client import ServiceClient


def run(arguments: CommandLine, config: Config) -> int:
    """Print all sandboxes with the status their server reports, newest first."""

    async def show(client: ServiceClient) -> int:
        found, unreadable = await every(client.sandboxes.pages())
        if arguments.json:
            as_json([sandbox_plain(sandbox) for sandbox in found])
        else:
            rows = [(each.id, each.status, each.sandbox_spec_id, moment(each.created_at)) for each in found]
            table(("ID", "STATUS", "SPEC", "CREATED (UTC)"), rows)
        if unreadable:
            note(f"{unreadable} of {unreadable + len(found)} records could not be read.")
        return 1 if unreadable else 0

    return with_client(arguments, config, show)
