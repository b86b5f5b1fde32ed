"""Runs one parsed command line: every command is a module of this room with `run(arguments, config) -> exit status`."""

import errno
import gc
import logging
import os
import signal
import sys
import threading
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol, cast

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.output import note
from quarterdeck.config.load import Config, load


class Command(Protocol):
    """A module that runs one command."""

    def run(self, arguments: CommandLine, config: Config) -> int:
        """Run it and return the exit status; raises CommandError."""


def run(arguments: CommandLine) -> int:
    """Run a command and return the exit status; everything foreseen that fails is one line on standard error."""
    loaded = load(os.environ)
    report_crashes_to(loaded.folders.state)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    for problem in loaded.problems:
        note(f"{problem}.")
    command = cast("Command", import_module(f"quarterdeck.cli.{arguments.command}"))
    gc.freeze()  # so that what was imported is not looked through later either
    gc.enable()
    try:
        status = command.run(arguments, loaded)
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
    """Answer any unforeseen error from now on with one line and a report: tracebacks and logs quote values."""

    def report(error: BaseException) -> None:
        from quarterdeck.tui.crash_report import farewell

        print(farewell(error, folder), file=sys.stderr)

    def report_from_thread(failure: threading.ExceptHookArgs) -> None:
        error = failure.exc_value
        terminal_gone = isinstance(error, OSError) and error.errno == errno.EIO
        if terminal_gone:
            from quarterdeck.tui.terminal.driver import end_without_terminal

            end_without_terminal()
        elif error is not None:
            report(error)

    sys.excepthook = lambda kind, error, trace: report(error)
    threading.excepthook = report_from_thread
    logging.getLogger().addHandler(logging.NullHandler())
