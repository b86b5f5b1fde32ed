"""Which sandboxes a command is for: those named by their ids, those a filter lets through, or both at once."""

from dataclasses import dataclass

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.filtering import typed_filter
from quarterdeck.cli.sandbox_rows import GRAMMAR, Reading, asks_about_conversations, read_all, rows_of, utc_now
from quarterdeck.client.client import Client
from quarterdeck.fleet.filters import Filter, kept
from quarterdeck.fleet.sandboxes import SandboxRow


@dataclass(frozen=True)
class Wanted:
    """What a command line asks for; without ids every sandbox is looked at, without a filter those are taken."""

    ids: tuple[str, ...]
    filter: Filter

    @classmethod
    def of(cls, arguments: CommandLine) -> "Wanted":
        """Read a command line; raises CommandError (status 2) for one that names nothing: that never means all."""
        wanted = cls(tuple(dict.fromkeys(arguments.ids)), typed_filter(arguments.filter, GRAMMAR))
        if not wanted.ids and not wanted.filter:
            raise CommandError(
                "No sandbox is named.",
                "Give ids, or --filter with at least one condition, like status:running.",
                status=2,
            )
        return wanted


@dataclass(frozen=True)
class Selected:
    """The sandboxes a command is for, in the order they were named, or in their server's."""

    rows: tuple[SandboxRow, ...]
    unknown: tuple[str, ...] = ()
    """Ids that were named and that the server does not know."""
    unreadable: int = 0
    """Records that could not be read: the filter has not seen them."""

    @property
    def by_id(self) -> dict[str, SandboxRow]:
        """The rows by their ids."""
        return {row.id: row for row in self.rows}


async def select(client: Client, wanted: Wanted) -> Selected:
    """Read what is needed to find them, and find them."""
    read = await _read(client, wanted)
    found = {row.id: row for row in read.rows}
    if not wanted.ids:
        return Selected(tuple(kept(read.rows, wanted.filter, utc_now(), GRAMMAR)), (), read.unreadable)
    named = [found[one] for one in wanted.ids if one in found]
    unknown = tuple(one for one in wanted.ids if one not in found)
    return Selected(tuple(kept(named, wanted.filter, utc_now(), GRAMMAR)), unknown)


async def _read(client: Client, wanted: Wanted) -> Reading:
    """Read the sandboxes named, or all of them where there is no other way."""
    conversations = asks_about_conversations(wanted.filter)
    if wanted.ids and not conversations:
        answer = await client.sandboxes.read(wanted.ids)
        if answer is not None:
            return Reading(rows_of((one for one in answer if one is not None), None))
    return await read_all(client, conversations=conversations)
