"""Shared parts of all one-shot commands: a client for the chosen server, errors as one line, filters, tables."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.connect import connect
from quarterdeck.cli.output import CommandError, heeded
from quarterdeck.cli.target import choose
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import Config
from quarterdeck.fleet.ages import utc_now
from quarterdeck.fleet.filters import Filter, Grammar, R, parse, unknown_texts
from quarterdeck.fleet.session import Session
from quarterdeck.tui.text import Shown, line

NOTHING_MATCHED = 3
"""The exit status if a filter matches nothing."""
ENDINGS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""The signals that end a command in an orderly way."""


@asynccontextmanager
async def client_for(arguments: CommandLine, config: Config) -> AsyncIterator[Client]:
    """Open a client for the chosen server; raises CommandError if a request inside the block fails."""
    connection = choose(arguments, config)
    keys = Keys(config.folders.keys, os.environ)
    try:
        async with connect(config.folders.data, keys, connection) as client:
            yield client
    except ServiceError as error:
        source = f" Key: {await keys.source(connection)}." if error.kind is ErrorKind.AUTH else ""
        raise CommandError(words_of(error), f"{error.advice}{source}") from error


@asynccontextmanager
async def session_for(arguments: CommandLine, config: Config) -> AsyncIterator[Session]:
    """Open a session for the chosen server, which reads only what is requested."""
    async with client_for(arguments, config) as client:
        yield Session(client, lambda news: None, utc_now)


def words_of(error: ServiceError) -> str:
    """Return the words of an error, with those of the server's errors about single fields that they do not hold."""
    return " ".join((error.words, *(told for told in map(str, error.problems) if told not in error.words)))


def typed_filter(typed: str | None, grammar: Grammar[R]) -> Filter[R]:
    """Parse a filter; raises CommandError (status 2) if any part of it is invalid."""
    wanted = parse(typed or "", grammar, finished=True)
    if wanted.problems:
        raise CommandError(f"--filter: {' '.join(wanted.problems)}", status=2)
    return wanted


def refuse_unknown_status(wanted: Filter[R], words: Iterable[str], rows: Iterable[R]) -> None:
    """Raise CommandError (status 2) for a status of a filter that is neither among the known `words` nor in a row.

    With `!` in front, a misspelt one would let everything through.
    """
    now, asked = utc_now(), [term for term in wanted.terms if term.name in ("status", "state")]
    there = (str(asked[0].token.of(row, now)) for row in rows if asked)
    if unknown := unknown_texts(asked, (*words, *there)):
        advice = f"There are {', '.join(words)}."
        raise CommandError(f"--filter: No {asked[0].name} is called {' or '.join(unknown)}.", advice, status=2)


def table(titles: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Iterator[Shown]:
    """Yield rows as lines under their titles, in aligned columns; a missing value is a dash."""
    cells = [[Shown(title) for title in titles], *([line(value or "") or Shown("-") for value in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        yield Shown("  ".join(padded).rstrip())


def utc_minute(when: datetime | None) -> str:
    """Format a time in UTC to the minute; empty if there is none."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M") if when is not None else ""


async def until_signal(work: Coroutine[Any, Any, int | None]) -> int:
    """Run work to its end and return its exit status, or 0 if it has none or as soon as a signal asks to end.

    Raises BrokenPipeError as soon as the reader of standard output has closed the pipe.
    """
    loop, pipe = asyncio.get_running_loop(), _output_pipe()
    task = asyncio.create_task(work)
    unread = False

    def nobody_reads(number: int) -> None:
        nonlocal unread
        unread = True
        loop.remove_reader(number)
        task.cancel()

    for number in heeded(ENDINGS):
        loop.add_signal_handler(number, task.cancel)
    if pipe is not None:
        # The write end of a pipe becomes readable only when its reader has closed it.
        loop.add_reader(pipe, nobody_reads, pipe)
    try:
        return await task or 0
    except asyncio.CancelledError:
        if unread:
            raise BrokenPipeError from None
        return 0
    finally:
        if pipe is not None:
            loop.remove_reader(pipe)
        for number in ENDINGS:
            loop.remove_signal_handler(number)


def _output_pipe() -> int | None:
    """Return the file descriptor of standard output if it is a pipe."""
    try:
        number = sys.stdout.fileno()
        return number if stat.S_ISFIFO(os.fstat(number).st_mode) else None
    except (OSError, ValueError):  # standard output is not a file, as in a test
        return None
