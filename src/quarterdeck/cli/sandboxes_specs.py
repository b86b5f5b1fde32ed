"""`quarterdeck sandboxes specs`."""

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, table
from quarterdeck.cli.plain import spec_plain
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config


def run(arguments: CommandLine, config: Config) -> int:
    """Print what a sandbox can be started from; the first is the default."""

    async def show(client: Client) -> int:
        specs = await client.sandboxes.specs()
        if arguments.json:
            as_json([spec_plain(spec) for spec in specs])
        else:
            table(("ID", "COMMAND"), [(spec.id, " ".join(spec.command or ())) for spec in specs])
        return 0

    return with_client(arguments, config, show)
