"""`quarterdeck sandboxes list`."""

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.filtering import NOTHING_MATCHED, typed_filter
from quarterdeck.cli.oneshot import with_client
from quarterdeck.cli.output import as_json, moment, note, table
from quarterdeck.cli.sandbox_rows import GRAMMAR, asks_about_conversations, read_all, row_plain, utc_now
from quarterdeck.cli.sandboxes_watch import watch
from quarterdeck.client.client import Client
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import age
from quarterdeck.fleet.filters import kept
from quarterdeck.fleet.sandboxes import SandboxRow


def run(arguments: CommandLine, config: Config) -> int:
    """Print the sandboxes the filter lets through with the status their server reports, newest first; or what changes.

    Without a filter an empty list is status 0, with one 3.
    """
    wanted = typed_filter(arguments.filter, GRAMMAR)
    if arguments.watch:
        return with_client(arguments, config, lambda client: watch(client, wanted, json=arguments.json))

    async def show(client: Client) -> int:
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

    return with_client(arguments, config, show)


def _print(rows: list[SandboxRow]) -> None:
    """Print a table; what comes from conversations has columns only where they were read."""
    cells = [(row.id, row.record.status, row.record.sandbox_spec_id, moment(row.record.created_at)) for row in rows]
    titles = ("ID", "STATUS", "SPEC", "CREATED (UTC)")
    if rows and rows[0].complete:
        extra = [_from_conversations(row) for row in rows]
        table((*titles, "QUIET", "SPENT", "CONVERSATION"), [(*a, *b) for a, b in zip(cells, extra, strict=True)])
    else:
        table(titles, cells)


def _from_conversations(row: SandboxRow) -> tuple[str, str, str]:
    quiet = row.quiet(utc_now())
    titles = "orphan" if row.orphan else "; ".join(title or "untitled" for title in row.conversation_titles)
    return age(quiet.total_seconds()) if quiet is not None else "", f"${row.spent:.2f}", titles
