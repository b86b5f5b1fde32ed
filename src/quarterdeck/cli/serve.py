"""`quarterdeck serve`: the local service on loopback."""

import asyncio

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.config import Config
from quarterdeck.local.errors import LocalServiceError
from quarterdeck.local.serve import serve


def run(arguments: CommandLine, config: Config) -> int:
    """Serve until a signal asks to stop; raises CommandError where it cannot."""
    if arguments.url or arguments.connection or arguments.read_only:
        words = "`serve` runs the local service; it takes no server and has no read-only mode."
        raise CommandError(words, "Leave out --url, --connection and --read-only.", status=2)
    try:
        asyncio.run(serve(config.folders.data, arguments.port))
    except LocalServiceError as error:
        raise CommandError(str(error)) from error
    return 0
