"""Runs one command line: every command is a function of a module of this room, which is imported only here."""

import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

from quarterdeck.cli.arguments import CommandLine, parse
from quarterdeck.cli.output import CommandError, note
from quarterdeck.config.load import Config, load
from quarterdeck.tui.crash_report import farewell

Command = Callable[[CommandLine, Config], int]
"""Runs a command and returns its exit status; raises CommandError."""


def run(words: Sequence[str]) -> int:
    """Run a command and return its exit status; everything foreseen that fails is one line on standard error."""
    arguments = parse(words)
    config = load(os.environ)
    report_crashes_to(config.folders.state)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    for problem in config.problems:
        note(f"{problem}.")
    module, _, name = arguments.command.partition(".")
    command: Command = getattr(import_module(f"quarterdeck.cli.{module}"), name)
    try:
        status = command(arguments, config)
        sys.stdout.flush()
    except CommandError as error:
        note(error.words, error.advice)
        return error.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read this left; what is still buffered must not fail again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return status


def report_crashes_to(folder: Path) -> None:
    """Answer any unforeseen error from now on with one line and a report: tracebacks and logs quote values.

    That the terminal is gone is none: the thread that reads it ends the deck.
    """

    def report(error: BaseException | None) -> None:
        if error is not None and not (isinstance(error, OSError) and error.errno == errno.EIO):
            print(farewell(error, folder), file=sys.stderr)

    sys.excepthook = lambda kind, error, trace: report(error)
    threading.excepthook = lambda failure: report(failure.exc_value)
    logging.getLogger().addHandler(logging.NullHandler())
