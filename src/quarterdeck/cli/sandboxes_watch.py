"""`quarterdeck sandboxes list --watch`: a line for each change of a state, until a signal or a closed pipe."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from quarterdeck.cli.oneshot import words_of
from quarterdeck.cli.output import json_line, note, say
from quarterdeck.cli.status_watch import Begun, News, StatusChange, StatusWatch
from quarterdeck.client.client import Client
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.fleet.filters import Filter

_ENDINGS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


async def watch(client: Client, wanted: Filter, *, json: bool) -> int:
    """Print changes until told to end, which is status 0; raises ServiceError when nothing can be read at all.

    Raises BrokenPipeError as soon as whoever read the lines has left.
    """
    news: asyncio.Queue[News | BrokenPipeError | None] = asyncio.Queue()
    begun = False
    reading = asyncio.create_task(StatusWatch(client, wanted, news.put_nowait).run())
    reading.add_done_callback(lambda _: news.put_nowait(None))
    try:
        with _ending(news.put_nowait):
            while (one := await news.get()) is not None:
                if isinstance(one, BrokenPipeError) or (isinstance(one, ServiceError) and not _passing(one, begun)):
                    raise one
                begun = begun or isinstance(one, Begun)
                _print(one, json=json)
        if reading.done():
            reading.result()
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
    return 0


def _passing(error: ServiceError, begun: bool) -> bool:
    """Whether an error may be over at the next try: not a refused key, and not before anything was read."""
    return begun and error.kind is not ErrorKind.AUTH


def _print(news: News, *, json: bool) -> None:
    """Print a change on standard output, everything else on standard error."""
    if isinstance(news, Begun):
        note(f"watching {news.sandboxes} sandboxes.")
    elif isinstance(news, ServiceError):
        note(f"{words_of(news)} It is tried again.")
    else:
        if json:
            json_line(_plain(news))
        else:
            say(f"{_moment(news)}  {news.id}  {news.before or 'new'} -> {news.after or 'gone'}  {news.cause}")
        sys.stdout.flush()


def _plain(change: StatusChange) -> dict[str, str | None]:
    return {
        "time": _moment(change),
        "id": change.id,
        "from": change.before,
        "to": change.after,
        "cause": change.cause,
        "why": change.why,
    }


def _moment(change: StatusChange) -> str:
    return change.seen_at.isoformat(timespec="seconds").replace("+00:00", "Z")


@contextmanager
def _ending(tell: Callable[[BrokenPipeError | None], None]) -> Iterator[None]:
    """Tell None when a signal asks to end, and BrokenPipeError when the pipe that standard output is was closed."""
    loop = asyncio.get_running_loop()

    def closed(pipe: int) -> None:
        loop.remove_reader(pipe)
        tell(BrokenPipeError())

    for number in _ENDINGS:
        loop.add_signal_handler(number, tell, None)
    pipe = _output_pipe()
    if pipe is not None:
        # A pipe that is written to is never ready to be read; it says so only when nobody reads it any more.
        loop.add_reader(pipe, closed, pipe)
    try:
        yield
    finally:
        if pipe is not None:
            loop.remove_reader(pipe)
        for number in _ENDINGS:
            loop.remove_signal_handler(number)


def _output_pipe() -> int | None:
    """The number of standard output if it is a pipe."""
    try:
        number = sys.stdout.fileno()
        return number if stat.S_ISFIFO(os.fstat(number).st_mode) else None
    except (OSError, ValueError):  # standard output is no file, as under a test
        return None
