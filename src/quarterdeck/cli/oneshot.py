"""What all one-shot commands share: a client for the chosen server, failures in one line, whole lists, filters."""

import asyncio
import os
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import TypeVar

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.connect import Connector
from quarterdeck.cli.known import choose
from quarterdeck.cli.output import CommandError
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.paging import Page
from quarterdeck.config.load import Config
from quarterdeck.fleet.filters import Filter, Grammar, parse
from quarterdeck.fleet.filters import R as Row

NOTHING_MATCHED = 3
"""The exit status of a command whose filter lets nothing through."""
R = TypeVar("R")


def with_client(arguments: CommandLine, config: Config, act: Callable[[Client], Awaitable[int]]) -> int:
    """Run `act` with a client for the server the arguments mean; raises CommandError where a call fails."""
    target = choose(arguments, config, os.environ)

    async def run() -> int:
        async with Connector(config, target, os.environ)(target.connection) as client:
            return await act(client)

    try:
        return asyncio.run(run())
    except ServiceError as error:
        raise CommandError(words_of(error), error.advice) from error


def words_of(error: ServiceError) -> str:
    """The words of an error, and what the server said of each field."""
    problems = (f"{'.'.join(map(str, problem.location))}: {problem.message}" for problem in error.problems)
    return " ".join((error.words, *problems))


async def every(pages: AsyncIterable[Page[R]]) -> tuple[list[R], int]:
    """All records of a list, and how many of it could not be read."""
    records: list[R] = []
    unreadable = 0
    async for page in pages:
        records += page.items
        unreadable += page.unreadable
    return records, unreadable


def typed_filter(typed: str | None, grammar: Grammar[Row]) -> Filter:
    """Read a filter; raises CommandError (status 2) for one that cannot be understood whole."""
    wanted = parse(typed or "", grammar, finished=True)
    if wanted.problems:
        raise CommandError(f"--filter: {' '.join(wanted.problems)}", status=2)
    return wanted
