"""`quarterdeck sandboxes start`."""

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.foretelling import tell_displacement
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, note, say
from quarterdeck.cli.plain import sandbox_plain, spec_plain
from quarterdeck.cli.sandbox_reading import read_one
from quarterdeck.client.client import Client
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.config.load import Config


def run(arguments: CommandLine, config: Config) -> int:
    """Start a sandbox; 0 only when it is listed afterwards and has not failed."""

    async def start(client: Client) -> int:
        if arguments.dry_run:
            return await _foretell(client, arguments)
        started = await client.sandboxes.start(arguments.spec)
        found = await read_one(client, started.id)
        if found is None or found.status in (SandboxStatus.ERROR, SandboxStatus.MISSING):
            status = "not listed" if found is None else found.status
            raise CommandError(f"The sandbox {started.id} was started, but is {status}.", "Look at the server's log.")
        if arguments.json:
            as_json(sandbox_plain(found))
        else:
            say(f"{found.id}  {found.status}")
        return 0

    return with_client(arguments, config, start)


async def _foretell(client: Client, arguments: CommandLine) -> int:
    """Say what it would be started from, and what that is likely to cost; start nothing."""
    specs = await client.sandboxes.specs()
    spec = next((one for one in specs if arguments.spec in (None, one.id)), None)
    if spec is None:
        words = f"There is no spec {arguments.spec}." if specs else "The server has nothing to start a sandbox from."
        raise CommandError(words, "List them with: quarterdeck sandboxes specs.")
    if arguments.json:
        as_json(spec_plain(spec))
    else:
        say(f"would start from {spec.id}: {' '.join(spec.command or ())}")
    await tell_displacement(client, 1)
    note("Nothing was started.")
    return 0
