"""Checks of MCP servers: an address is tried from this machine, a command is looked at and never run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quarterdeck.client.models.mcp import StdioServer
from quarterdeck.settings import words
from quarterdeck.settings.fields import Severity
from quarterdeck.settings.mcp_checks import server_findings
from quarterdeck.tui.cells import Tone
from quarterdeck.tui.widgets.settings.lists import Tried

if TYPE_CHECKING:
    from quarterdeck.client.client import Client
    from quarterdeck.settings.mcp import Entry

AT_ONCE = 8
"""Addresses tried at the same time."""


@dataclass(frozen=True)
class Checked:
    """What came of one check, for its row and in a sentence."""

    tried: Tried
    sentence: str

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with it, as far as can be seen from here."""
        return self.tried.tone is Tone.GOOD


def under_way(entry: Entry) -> Tried:
    """What stands at a row until its check is done."""
    return Tried(entry.server, "checking…", Tone.BUSY)


async def check(client: Client, entry: Entry) -> Checked:
    """Check one server; only a key that is the server's own is sent, and only to its address."""
    server, title = entry.server, words.server_title(entry.server)
    wrong = next((finding for _, finding in server_findings(server) if finding.severity is Severity.ERROR), None)
    if wrong is not None:
        return Checked(Tried(server, "not tried", Tone.BAD), f"{title} was not tried: {wrong.words}")
    if isinstance(server, StdioServer):
        said = f"{title} has a good form; a command is never run from here."
        return Checked(Tried(server, "form good", Tone.GOOD), said)
    reached = await client.probe(server.url, server.api_key)
    told = f"{title} {reached.words}" if reached.words[0].islower() else f"{title}: {reached.words}"
    return Checked(Tried(server, reached.brief, Tone.GOOD if reached.good else Tone.BAD), told)


async def check_all(client: Client, entries: Iterable[Entry], done: Callable[[int, Checked], None]) -> None:
    """Check servers, a few at a time; `done` is given each row and what came of it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(entry: Entry) -> None:
        async with gate:
            done(entry.row, await check(client, entry))

    async with asyncio.TaskGroup() as group:
        for entry in entries:
            group.create_task(one(entry))


def summary(found: Iterable[Checked]) -> str:
    """What came of many checks, in a sentence."""
    found = tuple(found)
    commands = sum(isinstance(one.tried.server, StdioServer) for one in found)
    good = sum(one.good for one in found)
    told = f"{words.counted(len(found), 'server')} checked from this machine: {good} good, {len(found) - good} not"
    looked_at = f"; of {words.counted(commands, 'command')} only the form" if commands else ""
    return f"{told}{looked_at}. A sandbox's network may differ."
