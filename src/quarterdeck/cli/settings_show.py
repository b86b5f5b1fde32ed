"""`quarterdeck settings show`: everything stored, secrets only as stored or not."""

from collections.abc import Iterator

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, say, table
from quarterdeck.cli.plain import settings_plain
from quarterdeck.config import Config
from quarterdeck.draft import words
from quarterdeck.draft.catalogue import CATALOGUE
from quarterdeck.draft.draft import Draft
from quarterdeck.service.client import ServiceClient


def run(arguments: CommandLine, config: Config) -> int:
    """Print the settings; a server that has none stored yet is said to have none."""

    async def show(client: ServiceClient) -> int:
        await client.describe()
        settings = await client.settings.load()
        if arguments.json:
            as_json(None if settings is None else settings_plain(settings))
        elif settings is None:
            say("No settings are stored on this server yet; it uses its defaults.")
        else:
            table(("SETTING", "VALUE"), list(rows(Draft(settings))))
        return 0

    return with_client(arguments, config, show)


def rows(draft: Draft) -> Iterator[tuple[str, str]]:
    """Each field of the record with its value in words, MCP servers one by one below their field."""
    for entry in CATALOGUE:
        if entry.extra and not hasattr(draft.base, entry.key):
            continue
        yield entry.key, words.current(draft, entry.key)
        if entry.key == "mcp_config":
            for server in draft.servers.left:
                facts = (words.server_details(server.server), words.key_words(server.server))
                yield f"  {words.server_title(server.server)}", ", ".join(fact for fact in facts if fact)
