"""`quarterdeck settings show` and `export`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import client_for, table
from quarterdeck.cli.output import STANDARD, CommandError, answer, note
from quarterdeck.client.client import Client
from quarterdeck.client.models.mcp import LISTS, McpServer, ShttpServer, StdioServer, listed
from quarterdeck.client.models.settings import LOAD_ONLY, SECRET_FIELDS, Settings
from quarterdeck.config.files import ConfigError, write_named
from quarterdeck.config.load import Config
from quarterdeck.settings import files as settings_files
from quarterdeck.settings import masks, words
from quarterdeck.settings.catalogue import CATALOGUE
from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.fields import Field
from quarterdeck.settings.form_fields import fields_on, kind_in
from quarterdeck.tui.text import Shown


async def show(arguments: CommandLine, config: Config) -> int:
    """Print the settings, or that the server has none stored yet."""
    async with client_for(arguments, config) as client:
        draft = await read_draft(client)
        if draft.base is None:
            answer(arguments, None, [Shown("No settings are stored on this server yet; it uses its defaults.")])
            return 0
        shown = [entry for entry in draft.fields.fields if draft.has(entry)]
        listed = [entry for entry in shown if arguments.all or _is_listed(draft, entry)]
        rows = [row for entry in listed for row in _rows(draft, entry)]
        answer(arguments, _plain(draft.base), table(("SETTING", "VALUE"), rows))
        if len(listed) < len(shown) and not arguments.json:
            note(f"{len(shown) - len(listed)} less used settings stand at their defaults; --all lists them too.")
        return 0


def _is_listed(draft: Draft, entry: Field) -> bool:
    return not entry.minor or draft.was(entry.key) != entry.unset_to or draft.stored(entry.key) is True


def _rows(draft: Draft, entry: Field) -> Iterator[tuple[str, str]]:
    """Yield a field with its value in words, and below it each MCP server."""
    yield entry.key, words.former(draft, entry.key)
    if entry.key != MCP or draft.base is None:
        return
    for server in listed(draft.base.mcp_config):
        key = words.key_words(server, hidden=draft.fields.nested)
        facts = (words.server_details(server), key and f"key: {key}")
        yield f"  {words.server_title(server)}", ", ".join(fact for fact in facts if fact)


async def export(arguments: CommandLine, config: Config) -> int:
    """Write the settings to a new file of mode 0600, or to standard output."""
    as_data = arguments.json or settings_files.is_json(arguments.file or STANDARD)
    if as_data is None:
        raise CommandError(f"{arguments.file} is not named .toml or .json.", "Name it so, or give no name.", status=2)
    async with client_for(arguments, config) as client:
        draft = await read_draft(client)
        if draft.base is None:
            raise CommandError("No settings are stored on this server yet.", "There is nothing to export.")
        data = settings_files.exported(draft)
        written = settings_files.as_json(data) if as_data else settings_files.as_toml(data)
        _write(written, arguments.file, "JSON" if as_data else "TOML")
        return 0


def _write(text: str, name: str | None, form: str) -> None:
    if name in (None, STANDARD):
        sys.stdout.write(text)
        return
    try:
        write_named(Path(name), text, over=False)
    except FileExistsError:
        raise CommandError(f"{name} is there already.", "Name another file, or move it away.", status=2) from None
    except ConfigError as error:
        raise CommandError(f"{error}.", status=2) from None
    note(f"written to {name} as {form}, without secrets; only you can open it.")


async def read_draft(client: Client) -> Draft:
    """Return a draft without edits, based on what the server has; raises ServiceError."""
    server = await client.describe()
    base = await client.settings.load()
    schema = await client.settings.schema()
    return Draft(base, fields=fields_on(server, schema, kind_in(base)))


def _plain(settings: Settings) -> dict[str, Any]:
    """Return the known fields of a record; for secrets, only whether they are stored, if the server tells."""
    record = settings.model_dump(exclude={"mcp_config", "secrets_store", "leaves", *SECRET_FIELDS})
    known = {entry.key for entry in CATALOGUE} | set(LOAD_ONLY) | set(type(settings).model_fields)
    plain = {
        key: masks.address(value) if isinstance(value, str) else value for key, value in record.items() if key in known
    }
    if settings.leaves:
        plain["leaves"] = {place: masks.document(value, place) for place, value in settings.leaves.items()}
    config, hidden = settings.mcp_config, bool(settings.leaves)
    plain["mcp_config"] = config and {
        name: [_server_plain(server, hidden=hidden) for server in getattr(config, name)] for name in LISTS
    }
    return plain


def _server_plain(server: McpServer, *, hidden: bool) -> dict[str, Any]:
    """Return a server; `hidden` means that the service tells neither keys nor variables."""
    if isinstance(server, StdioServer):
        names = None if hidden and not server.env else sorted(server.env)
        arguments = masks.arguments(server.args)
        return {"name": server.name, "command": server.command, "args": arguments, "env_set": names}
    told = {"url": masks.address(server.url), "api_key_set": None if hidden else words.has_secret(server)}
    return told | ({"timeout": server.timeout} if isinstance(server, ShttpServer) else {})
