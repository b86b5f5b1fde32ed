"""Commands that go on until they are told to end."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_ENDINGS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


async def until_told(work: Coroutine[Any, Any, T]) -> T | None:
    """Do work to its end, or until a signal asks to end, which gives None.

    Raises BrokenPipeError as soon as nobody reads the pipe any more that standard output is.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[None] = loop.create_future()
    task = asyncio.create_task(work)
    pipe = _output_pipe()

    def end() -> None:
        if not told.done():
            told.set_result(None)

    def closed(number: int) -> None:
        loop.remove_reader(number)
        if not told.done():
            told.set_exception(BrokenPipeError())

    for number in _ENDINGS:
        loop.add_signal_handler(number, end)
    if pipe is not None:
        # A pipe that is written to is never ready to be read; it says so only when nobody reads it any more.
        loop.add_reader(pipe, closed, pipe)
    try:
        waited: set[asyncio.Future[Any]] = {task, told}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else told.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
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
