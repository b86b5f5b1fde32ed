"""Sandboxes as commands see them: read once, with the conversations in them where a filter asks about those."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quarterdeck.cli.oneshot import every
from quarterdeck.cli.output import note
from quarterdeck.client.client import Client
from quarterdeck.client.models.base import plain
from quarterdeck.client.models.conversation import Conversation
from quarterdeck.client.models.sandbox import Sandbox
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.fleet.displacement import Cap, forecast, guessed
from quarterdeck.fleet.filters import Filter, Kind
from quarterdeck.fleet.memories import SandboxMemories
from quarterdeck.fleet.sandbox_state import Action
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR, Residents, SandboxRow, sandbox_row

GRAMMAR = SANDBOX_GRAMMAR._replace(
    measures={name: measure for name, measure in SANDBOX_GRAMMAR.measures.items() if name != "for"},
    flags={name: flag for name, flag in SANDBOX_GRAMMAR.flags.items() if name != "slow"},
)
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


def utc_now() -> datetime:
    """The moment it is."""
    return datetime.now(UTC)


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


async def tell_displacement(client: Client, count: int) -> None:
    """Read all sandboxes, and say which ones a server of this kind would pause for `count` more; often none."""
    rows = (await read_all(client, conversations=False)).rows
    cap = guessed(Cap(), (row.id for row in rows))
    if words := forecast(rows, utc_now(), cap.about, Action.START, count=count).words:
        note(words)
