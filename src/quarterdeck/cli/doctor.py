"""`quarterdeck doctor`: what responds at a connection, what it can do, and whether the key is right."""

import os
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.connect import connect
from quarterdeck.cli.oneshot import table, words_of
from quarterdeck.cli.output import answer
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.client.models.server import Generation, KeyState, Server
from quarterdeck.client.network import sends_in_clear, shown_host
from quarterdeck.client.paging import Page
from quarterdeck.config.connections import Connection
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import ServerClock
from quarterdeck.tui.connections import KEY, NO_SETTINGS


@dataclass(frozen=True)
class Finding:
    """One result, and whether it is as it should be; None if that could not be found out."""

    name: str
    words: str
    good: bool | None = True
    sign: str = "ok"
    """The word shown for a good result: "careful" if it is risky, or wrong elsewhere."""


_GENERATION_WORDS = {
    Generation.FLAT: "flat settings (/api/settings)",
    Generation.NESTED: "nested settings (/api/v1/settings)",
    Generation.NONE: NO_SETTINGS,
}

_KEY_GOOD = {KeyState.ACCEPTED: True, KeyState.REFUSED: False, KeyState.UNPROVEN: None}

_SENT = {"session": "; sent as X-Session-API-Key", "bearer": "; sent as Authorization: Bearer, not X-Session-API-Key"}
"""How the key was sent, which may be why it was refused."""


async def run(arguments: CommandLine, config: Config) -> int:
    """Print the results; 0 only if everything is as it should be. Only reads are sent."""
    connection = choose(arguments, config)
    findings = [
        Finding("connection", f"{connection.name}{' (read-only)' if connection.read_only else ''}"),
        Finding("address", connection.url or "none: the embedded local service, in this process"),
        *_in_clear(connection),
        *await _examine(config, connection),
        *(Finding("configuration", problem, sign="careful") for problem in config.problems),
    ]
    healthy = all(finding.good for finding in findings)
    found = [{"name": each.name, "words": each.words, "good": each.good} for each in findings]
    rows = [
        (each.sign if each.good else "unknown" if each.good is None else "wrong", each.name, each.words)
        for each in findings
    ]
    answer(arguments, {"healthy": healthy, "findings": found}, table(("", "CHECK", "FOUND"), rows))
    return 0 if healthy else 1


def _in_clear(connection: Connection) -> list[Finding]:
    if connection.url is None or not sends_in_clear(connection.url):
        return []
    words = f"none: everything sent to {shown_host(connection.url)} is unencrypted, the key too; use https://"
    return [Finding("encryption", words, sign="careful")]


async def _examine(config: Config, connection: Connection) -> list[Finding]:
    keys = Keys(config.folders.keys, os.environ)
    source = await keys.source(connection)
    try:
        async with connect(config.folders.data, keys, connection) as client:
            server = await client.describe()
            release = await client.release()
            hint = ServerClock(offset=client.clock_offset).hint
            sent = _SENT[connection.header] if client.has_key else ""
            # If the key was refused, a list that can be read is open to anybody.
            refused = server.key is KeyState.REFUSED
            openly = " - without the right key: anybody who reaches this server can" if refused else ""
            return [
                Finding("answer", _answer_words(server, release), server.generation is not Generation.NONE),
                Finding("key", f"{KEY[server.key, client.has_key][0]}; from: {source}{sent}", _KEY_GOOD[server.key]),
                *([await _try("settings", _stored(client))] if server.generation is not Generation.NONE else ()),
                await _try("conversations", _listed(client.conversations.pages(), openly)),
                await _try("sandboxes", _listed(client.sandboxes.pages(), openly)),
                await _try("sandbox specs", _specs(client)),
                *([Finding("clock", hint, sign="careful")] if hint else ()),
            ]
    except ServiceError as error:
        return [
            Finding("answer", _why_not(error), good=False),
            Finding("key", f"could not be checked; from: {source}", good=None),
        ]


def _answer_words(server: Server, release: str) -> str:
    words = [_GENERATION_WORDS[server.generation]]
    if server.simulated:
        words.append("Quarterdeck's simulated service: its sandboxes and conversations are simulated, in memory only")
    elif server.local:
        words.append("Quarterdeck's own local service, which runs no agent")
    else:
        words.append(f"release {release}" if release else "release not told")
    if server.generation is not Generation.NONE:
        words.append("a save keeps what it leaves out" if server.merges else "a save replaces the record")
    return "; ".join(words)


async def _stored(client: Client) -> str:
    return "none stored yet" if await client.settings.load() is None else "stored, and can be read"


async def _listed(pages: AsyncIterator[Page[Any]], openly: str) -> str:
    page = await anext(pages)
    return f"can be listed ({len(page.items)}{' or more' if page.more else ''}){openly}"


async def _specs(client: Client) -> str:
    return f"can be listed ({len(await client.sandboxes.specs())})"


async def _try(name: str, reading: Awaitable[str]) -> Finding:
    try:
        return Finding(name, await reading)
    except ServiceError as error:
        words = "cannot be read without the right key" if error.kind is ErrorKind.AUTH else _why_not(error)
        return Finding(name, words, good=False)


def _why_not(error: ServiceError) -> str:
    return f"{words_of(error)} {error.advice}".strip()
