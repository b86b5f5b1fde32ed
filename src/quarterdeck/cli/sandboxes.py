"""`quarterdeck sandboxes list`, `specs` and `start`, and how commands read sandboxes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.oneshot import NOTHING_MATCHED, every, moment, table, typed_filter, utc_now, with_client
from quarterdeck.cli.output import CommandError, as_json, note, say
from quarterdeck.client.client import Client
from quarterdeck.client.models.base import plain
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.enums import SandboxStatus
from quarterdeck.client.models.sandbox import Sandbox, SandboxSpec
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import ServerClock, age
from quarterdeck.fleet.filters import Filter, Kind, kept
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, Residents, SandboxRow, sandbox_row

GRAMMAR = SANDBOX_GRAMMAR.without("for", "slow")
"""What a filter of a command knows: not what takes watching, which a command that has just begun has not done."""
_OF_CONVERSATIONS = frozenset({"repo", "quiet", "cost", "no-conversation"})


@dataclass(frozen=True)
class Reading:
    """Sandboxes of a server, and how many records could not be read: a filter has not seen these."""

    rows: tuple[SandboxRow, ...]
    unreadable: int = 0
    unknown: tuple[str, ...] = ()
    """Ids that were named and that the server does not know."""


def asks_about_conversations(wanted: Filter) -> bool:
    """Whether a filter cannot be answered from the sandboxes alone; words also look into titles."""
    return any(term.kind is Kind.WORD or term.name in _OF_CONVERSATIONS for term in wanted.terms)


async def read_all(client: Client, *, conversations: bool) -> Reading:
    """Read the list of sandboxes, and that of conversations if it is wanted."""
    sandboxes, unreadable = await every(client.sandboxes.pages())
    if not conversations:
        return Reading(rows_of(client, sandboxes, None), unreadable)
    inhabitants, unread = await every(client.conversations.pages())
    # One that could not be read may live in any of them: which one has no conversation is not known then.
    return Reading(rows_of(client, sandboxes, inhabitants, complete=not unread), unreadable + unread)


def rows_of(
    client: Client, sandboxes: Iterable[Sandbox], conversations: Iterable[Conversation] | None, *, complete: bool = True
) -> tuple[SandboxRow, ...]:
    """The rows of records that were read just now by a client; `conversations` is None where they were not read."""
    memories, now = SandboxMemories(), utc_now()
    records = tuple(sandboxes)
    memories.observe(records, now, beginning=False)
    residents, living = Residents(), {each.id: each for each in conversations or ()}
    residents.update(living, living)
    return tuple(
        sandbox_row(
            record,
            memories.by_id[record.id],
            residents.of(record.id),
            complete=complete and conversations is not None,
            clock=ServerClock(now, client.clock_offset),
        )
        for record in records
    )


def row_plain(row: SandboxRow, now: datetime) -> dict[str, Any]:
    """A row for scripts, without secrets; what comes from conversations is null where they were not read."""
    quiet = row.quiet(now)
    living = [{"id": each.id, "title": each.title} for each in row.conversations]
    return sandbox_plain(row.record) | {
        "state": row.state(now).words,
        "conversations": living if row.complete else None,
        "orphan": row.unlinked if row.complete else None,
        "spent": round(float(row.spent), 4) if row.complete else None,
        "quiet_seconds": round(quiet.total_seconds()) if row.complete and quiet is not None else None,
    }


def sandbox_plain(sandbox: Sandbox) -> dict[str, Any]:
    """A sandbox without its key; addresses without their queries."""
    addresses = [{"name": url.name, "address": url.address, "port": url.port} for url in sandbox.exposed_urls]
    return plain(sandbox, "session_api_key", "exposed_urls") | {"exposed_urls": addresses}


async def read_some(client: Client, ids: Sequence[str]) -> dict[str, Sandbox | None]:
    """The sandboxes of these ids, None for one the server does not know; reads the list where no batch can be read.

    It takes its turn among what is asked for meanwhile, so that what was asked for first comes to its end soon.
    """
    answer = await client.sandboxes.read(ids)
    if answer is not None:
        return dict(zip(ids, answer, strict=True))
    found: dict[str, Sandbox | None] = dict.fromkeys(ids)
    async for page in client.sandboxes.pages():
        found.update((sandbox.id, sandbox) for sandbox in page.items if sandbox.id in found)
    return found


def show(arguments: CommandLine, config: Config) -> int:
    """Print the sandboxes the filter lets through in the words of the deck, newest first.

    Without a filter an empty list is status 0, with one 3.
    """
    wanted = typed_filter(arguments.filter, GRAMMAR)

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
    """Say what it would be started from; start nothing."""
    known = await client.sandboxes.specs()
    spec = next((one for one in known if arguments.spec in (None, one.id)), None)
    if spec is None:
        words = f"There is no spec {arguments.spec}." if known else "The server has nothing to start a sandbox from."
        raise CommandError(words, "List them with: quarterdeck sandboxes specs.")
    if arguments.json:
        as_json(_spec_plain(spec))
    else:
        say(f"would start from {spec.id}: {' '.join(spec.command or ())}")
    note("Nothing was started.")
    return 0


def _spec_plain(spec: SandboxSpec) -> dict[str, Any]:
    """A spec; of its environment only the names."""
    return spec.model_dump(mode="json", exclude={"initial_env"}) | {"initial_env_set": sorted(spec.initial_env)}
