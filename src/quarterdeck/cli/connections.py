"""`quarterdeck connections`: the names for `--connection`. No server is contacted."""

import os
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import table
from quarterdeck.cli.output import answer
from quarterdeck.config.connections import LOCAL, LOCAL_NAME
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import Config


async def show(arguments: CommandLine, config: Config) -> int:
    """Print the connections and where the key of each is; 1 if something in the file could not be used."""
    keys = Keys(config.folders.keys, os.environ)
    listed: list[dict[str, Any]] = [
        {
            "name": LOCAL_NAME if each.embedded else each.name,
            "url": each.url,
            "header": each.header,
            "key_from": await keys.source(each),
            "read_only": each.read_only,
            "ca_file": each.ca_file,
            "colour": each.colour,
        }
        for each in (LOCAL, *config.connections.values())
    ]
    rows = [
        (each["name"], each["url"] or "inside the deck", "read-only" if each["read_only"] else "", each["key_from"])
        for each in listed
    ]
    answer(arguments, listed, table(("NAME", "ADDRESS", "CHANGES", "KEY FROM"), rows))
    return 1 if config.problems else 0
