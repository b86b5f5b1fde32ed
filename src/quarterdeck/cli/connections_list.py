"""`quarterdeck connections list`: what `--connection` can name. No server is asked anything."""

import asyncio
import os
from typing import Any

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.known import KnownConnections
from quarterdeck.cli.output import as_json, table
from quarterdeck.cli.target import Target
from quarterdeck.config.connections import LOCAL, LOCAL_NAME, Connection
from quarterdeck.config.load import Config


def run(arguments: CommandLine, config: Config) -> int:
    """Print the connections, and where the key of each is; 1 when something in the file could not be used."""
    listed = asyncio.run(_with_sources(config))
    if arguments.json:
        as_json([_plain(endpoint, source) for endpoint, source in listed])
    else:
        rows = [
            (_name(endpoint), endpoint.url or "inside the deck", "read-only" if endpoint.read_only else "", source)
            for endpoint, source in listed
        ]
        table(("NAME", "ADDRESS", "CHANGES", "KEY FROM"), rows)
    return 1 if config.problems else 0


async def _with_sources(config: Config) -> list[tuple[Connection, str]]:
    known = KnownConnections(config, Target(LOCAL), os.environ)
    connections = (LOCAL, *config.connections.values())
    return [(each, await known.key_source(each)) for each in connections]


def _name(endpoint: Connection) -> str:
    return LOCAL_NAME if endpoint.embedded else endpoint.name


def _plain(endpoint: Connection, source: str) -> dict[str, Any]:
    return {
        "name": _name(endpoint),
        "url": endpoint.url,
        "header": endpoint.header,
        "key_from": source,
        "read_only": endpoint.read_only,
        "ca_file": endpoint.ca_file,
        "colour": endpoint.colour,
    }
