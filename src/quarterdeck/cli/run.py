"""Runs one command line: each command is a function in a module of this package, which is imported only here."""

import asyncio
import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from importlib import import_module
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.output import CommandError, discard, note
from quarterdeck.config.load import Config, load
from quarterdeck.tui.crash_report import farewell

Command = Callable[[CommandLine, Config], int | Coroutine[Any, Any, int]]
"""Runs a command and returns its exit status, at once or as a coroutine; raises CommandError."""


def run(arguments: CommandLine) -> int:
    """Run a command and return its exit status; every expected error is one line on standard error."""
    if sys.stderr is None:  # closed: what is printed there would go to standard output
        sys.stderr = StringIO()
    if sys.stdout is None:
        note("Standard output is closed.", "Send it to /dev/null if nobody reads it.")
        return 1
    config = load(os.environ)
    report_crashes_to(config.folders.state)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    module, _, name = arguments.command.partition(".")
    for problem in config.problems if module != "doctor" else ():  # it lists them among its findings
        note(f"{problem}.")
    command: Command = getattr(import_module(f"quarterdeck.cli.{module}"), name)
    try:
        ended = command(arguments, config)
        status = ended if isinstance(ended, int) else asyncio.run(ended)
        sys.stdout.flush()
    except CommandError as error:
        note(error.words, error.advice)
        return error.status
    except OSError as error:
        unread = isinstance(error, BrokenPipeError)
        if not unread and error.errno != errno.ENOSPC:
            raise
        discard(sys.stdout)  # its reader has closed the pipe, or the disk is full
        if unread:
            return 128 + signal.SIGPIPE
        note(f"Standard output could not be written: {error.strerror}.")
        return 1
    return status


def report_crashes_to(folder: Path) -> None:
    """Handle unexpected errors with one line and a report, because tracebacks and logs contain values.

    A vanished terminal is not reported: the thread that reads it ends the deck.
    """

    def report(error: BaseException | None) -> None:
        if error is not None and not (isinstance(error, OSError) and error.errno == errno.EIO):
            print(farewell(error, folder), file=sys.stderr)

    sys.excepthook = lambda kind, error, trace: report(error)
    threading.excepthook = lambda failure: report(failure.exc_value)
    logging.getLogger().addHandler(logging.NullHandler())
