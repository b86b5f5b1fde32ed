"""Output of commands: a server's text made safe, JSON in ASCII."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.tui.text import Shown, line


class CommandError(Exception):
    """A command that cannot continue: the error, the advice, and the exit status (2 for wrong usage)."""

    def __init__(self, words: str, advice: str = "", *, status: int = 1) -> None:
        super().__init__(words)
        self.words = words
        self.advice = advice
        self.status = status


def columns(*words: str) -> Shown:
    """Return one line, with two blanks between its columns; a missing word is a dash."""
    return Shown("  ".join(line(word) or "-" for word in words))


def say(*words: str) -> None:
    """Print one line on standard output, its columns apart."""
    print(columns(*words))


def note(words: str, advice: str = "") -> None:
    """Print one line on standard error; if nobody takes it, what is under way goes on all the same."""
    try:
        print(line(f"quarterdeck: {words} {advice}"), file=sys.stderr)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Drop what is written to a stream that has failed, so that flushing the rest at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def heeded(signals: Iterable[signal.Signals]) -> list[signal.Signals]:
    """Return those of some signals that are not ignored from outside, as nohup has it."""
    return [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def if_interrupted(words: str, advice: str) -> Iterator[None]:
    """Print a line if an interrupt or SIGTERM ends the program while a request made inside the block is under way."""
    loop = asyncio.get_running_loop()

    def terminate() -> None:
        note(words, advice)
        loop.remove_signal_handler(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)  # which ends the program at once, as it does elsewhere

    loop.add_signal_handler(signal.SIGTERM, terminate)
    try:
        yield
    except asyncio.CancelledError:
        note(words, advice)
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print JSON, on one line if `indent` is None; control characters are escaped."""
    print(json.dumps(value, indent=indent, default=str).replace("\x7f", "\\u007f"))


def answer(arguments: CommandLine, data: Any, words: Iterable[Shown]) -> None:
    """Print the result of a command: its data as JSON with --json, else its lines."""
    if arguments.json:
        print_json(data)
    else:
        for each in words:
            print(each)


STANDARD = "-"
"""An argument that means standard input, or standard output as the file to write."""


def typed_message(typed: str | None) -> str | None:
    """Return the message of an argument, or standard input if it says so; raises CommandError (status 2) if blank."""
    text = from_input("message") if typed == STANDARD else typed
    if text is not None and not text.strip():
        raise CommandError("The message is empty.", "Nothing was sent.", status=2)
    return text


def from_input(what: str) -> str:
    """Return standard input; raises CommandError (status 2) if it is closed, a terminal or not text."""
    if sys.stdin is None or sys.stdin.isatty():
        words = f"Standard input is {'closed' if sys.stdin is None else 'a terminal'}."
        raise CommandError(words, f"Pipe the {what} in; nothing is asked for here.", status=2)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise CommandError(f"Standard input is not text in {sys.stdin.encoding.upper()}.", status=2) from None
    except OSError as error:  # for example behind nohup, which opens it only to be written
        raise CommandError(f"Standard input cannot be read: {error.strerror}.", status=2) from None
