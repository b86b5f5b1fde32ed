"""`quarterdeck settings show`: everything stored, secrets only as stored or not."""

from collections.abc import Iterator

from quarterdeck.cli import settings_reading
from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, note, say, table
from quarterdeck.cli.plain import settings_plain
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.settings import words
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Field


def run(arguments: CommandLine, config: Config) -> int:
    """Print the settings; a server that has none stored yet is said to have none."""

    async def show(client: Client) -> int:
        _, draft = await settings_reading.read(client)
        if arguments.json:
            as_json(None if draft.base is None else settings_plain(draft.base))
        elif draft.base is None:
            say("No settings are stored on this server yet; it uses its defaults.")
        else:
            shown = [entry for entry in draft.fields.fields if _is_there(draft, entry)]
            listed = [entry for entry in shown if arguments.all or _is_listed(draft, entry)]
            table(("SETTING", "VALUE"), [row for entry in listed for row in _rows(draft, entry)])
            if len(listed) < len(shown):
                note(f"{len(shown) - len(listed)} less used settings stand at their defaults; --all lists them too.")
        return 0

    return with_client(arguments, config, show)


def _is_there(draft: Draft, entry: Field) -> bool:
    return not entry.absent and (not entry.extra or hasattr(draft.base, entry.key))


def _is_listed(draft: Draft, entry: Field) -> bool:
    return not entry.minor or draft.was(entry.key) != entry.unset_to or draft.stored(entry.key) is True


def _rows(draft: Draft, entry: Field) -> Iterator[tuple[str, str]]:
    """A field with its value in words, MCP servers one by one below theirs."""
    yield entry.key, words.current(draft, entry.key)
    for server in draft.servers.left if entry.key == MCP else ():
        facts = (words.server_details(server.server), words.key_words(server.server))
        yield f"  {words.server_title(server.server)}", ", ".join(fact for fact in facts if fact)
