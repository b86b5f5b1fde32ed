"""What all one-shot commands share: open a client for the chosen server, act, and turn failures into one line."""

import asyncio
import os
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import TypeVar

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.connect import Connector
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ServiceError
from quarterdeck.client.models.page import Page
from quarterdeck.config.load import Config

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
