"""What came changed from the server, for those who look at a form: fields, and MCP servers one by one."""

from collections.abc import Iterator

from quarterdeck.settings.draft import MCP, Draft
from quarterdeck.settings.mcp.servers import Identity
from quarterdeck.settings.merge import Merged


def news_of(old: Draft, merged: Merged) -> Iterator[str | Identity]:
    """What a merge brought to a draft that was not edited there: keys of fields, identities of MCP servers."""
    yield from (key for key in merged.arrived if key != MCP)
    before = {entry.origin: entry.was for entry in old.stored_servers.entries}
    for entry in merged.draft.stored_servers.entries:
        if entry.origin is not None and before.get(entry.origin) != entry.was:
            yield entry.origin
