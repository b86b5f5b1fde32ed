"""`quarterdeck connections`: what `--connection` can name. No server is asked anything."""

import asyncio
import os
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import table
from quarterdeck.cli.output import as_json
from quarterdeck.config.connections import LOCAL, LOCAL_NAME, Connection
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import Config


def show(arguments: CommandLine, config: Config) -> int:
    """Print the connections, and where the key of each is; 1 when something in the file could not be used."""
    listed = asyncio.run(_with_key_sources(config))
    if arguments.json:
        as_json([_plain(connection, source) for connection, source in listed])
    else:
        rows = [
            (_name(each), each.url or "inside the deck", "read-only" if each.read_only else "", source)
            for each, source in listed
        ]
        table(("NAME", "ADDRESS", "CHANGES", "KEY FROM"), rows)
    return 1 if config.problems else 0


async def _with_key_sources(config: Config) -> list[tuple[Connection, str]]:
    keys = Keys(config.folders.keys, os.environ)
    return [(each, await keys.source(each)) for each in (LOCAL, *config.connections.values())]


def _name(connection: Connection) -> str:
    return LOCAL_NAME if connection.embedded else connection.name


def _plain(connection: Connection, source: str) -> dict[str, Any]:
    return {
        "name": _name(connection),
        "url": connection.url,
        "header": connection.header,
        "key_from": source,
        "read_only": connection.read_only,
        "ca_file": connection.ca_file,
        "colour": connection.colour,
    }
