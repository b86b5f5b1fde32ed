"""`quarterdeck sandboxes list`, `specs` and `start`."""

from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import NOTHING_MATCHED, moment, table, typed_filter, with_client
from quarterdeck.cli.output import CommandError, as_json, note, say
from quarterdeck.cli.sandbox_rows import (
    GRAMMAR,
    asks_about_conversations,
    read_all,
    read_some,
    row_plain,
    sandbox_plain,
    tell_displacement,
    utc_now,
)
from quarterdeck.cli.sandboxes_watch import watch
from quarterdeck.client.client import Client
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.sandbox import SandboxSpec
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import age
from quarterdeck.fleet.filters import kept
from quarterdeck.fleet.sandboxes import SandboxRow


def show(arguments: CommandLine, config: Config) -> int:
    """Print the sandboxes the filter lets through in the words of the deck, newest first; or what changes.

    Without a filter an empty list is status 0, with one 3.
    """
    wanted = typed_filter(arguments.filter, GRAMMAR)
    if arguments.watch:
        return with_client(arguments, config, lambda client: watch(client, wanted, json=arguments.json))

    async def read_and_print(client: Client) -> int:
        read = await read_all(client, conversations=asks_about_conversations(wanted))
        found = kept(read.rows, wanted, utc_now(), GRAMMAR)
        if arguments.json:
            as_json([row_plain(row, utc_now()) for row in found])
        else:
            _print(found)
        if read.unreadable:
            note(f"{read.unreadable} records could not be read.")
            return 1
        return NOTHING_MATCHED if wanted and not found else 0

    return with_client(arguments, config, read_and_print)


def _print(rows: list[SandboxRow]) -> None:
    """Print a table; what comes from conversations has columns only where they were read."""
    now = utc_now()
    cells = [(row.id, row.state(now).words, row.record.sandbox_spec_id, moment(row.record.created_at)) for row in rows]
    titles = ("ID", "STATE", "SPEC", "CREATED (UTC)")
    if rows and rows[0].complete:
        extra = [_from_conversations(row) for row in rows]
        table((*titles, "QUIET", "SPENT", "CONVERSATION"), [(*a, *b) for a, b in zip(cells, extra, strict=True)])
    else:
        table(titles, cells)


def _from_conversations(row: SandboxRow) -> tuple[str, str, str]:
    quiet = row.quiet(utc_now())
    titles = "no conversation" if row.unlinked else "; ".join(title or "untitled" for title in row.conversation_titles)
    return age(quiet.total_seconds()) if quiet is not None else "", f"${row.spent:.2f}", titles


def specs(arguments: CommandLine, config: Config) -> int:
    """Print what a sandbox can be started from; the first is the default."""

    async def read_and_print(client: Client) -> int:
        found = await client.sandboxes.specs()
        if arguments.json:
            as_json([_spec_plain(spec) for spec in found])
        else:
            table(("ID", "COMMAND"), [(spec.id, " ".join(spec.command or ())) for spec in found])
        return 0

    return with_client(arguments, config, read_and_print)


def start(arguments: CommandLine, config: Config) -> int:
    """Start a sandbox; 0 only when it is listed afterwards and has not failed."""

    async def send(client: Client) -> int:
        if arguments.dry_run:
            return await _foretell(client, arguments)
        started = await client.sandboxes.start(arguments.spec)
        found = (await read_some(client, (started.id,)))[started.id]
        if found is None or found.status in (SandboxStatus.ERROR, SandboxStatus.MISSING):
            status = "not listed" if found is None else found.status
            raise CommandError(f"The sandbox {started.id} was started, but is {status}.", "Look at the server's log.")
        if arguments.json:
            as_json(sandbox_plain(found))
        else:
            say(f"{found.id}  {found.status}")
        return 0

    return with_client(arguments, config, send)


async def _foretell(client: Client, arguments: CommandLine) -> int:
    """Say what it would be started from, and what that is likely to cost; start nothing."""
    known = await client.sandboxes.specs()
    spec = next((one for one in known if arguments.spec in (None, one.id)), None)
    if spec is None:
        words = f"There is no spec {arguments.spec}." if known else "The server has nothing to start a sandbox from."
        raise CommandError(words, "List them with: quarterdeck sandboxes specs.")
    if arguments.json:
        as_json(_spec_plain(spec))
    else:
        say(f"would start from {spec.id}: {' '.join(spec.command or ())}")
    await tell_displacement(client, 1)
    note("Nothing was started.")
    return 0


def _spec_plain(spec: SandboxSpec) -> dict[str, Any]:
    """A spec; of its environment only the names."""
    return spec.model_dump(mode="json", exclude={"initial_env"}) | {"initial_env_set": sorted(spec.initial_env)}
