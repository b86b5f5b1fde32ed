"""Opens the deck in a terminal and leaves that terminal as it was."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from quarterdeck.cli.command_line import CommandLine
from quarterdeck.cli.connect import Connector
from quarterdeck.cli.failure import CommandError
from quarterdeck.cli.kept_notes import KeptNotes
from quarterdeck.cli.known import KnownConnections
from quarterdeck.cli.leaving import Terminal, end_within, leaving_on_signals
from quarterdeck.cli.output import note
from quarterdeck.cli.target import LastConnectionGoneError, Target, choose
from quarterdeck.config.connections import LOCAL
from quarterdeck.config.edit import remember
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import Config
from quarterdeck.tui import garbage
from quarterdeck.tui.kept_state import KeptState

CLEANUP = 1.0
"""Seconds that tasks and threads still get when the terminal is back."""


def run(arguments: CommandLine, config: Config) -> int:
    """Open the deck and end the process with its exit status; raises CommandError (status 2) for an unfit terminal."""
    refuse_unfit_terminal(os.environ)
    garbage.wait()
    home = str(Path.home())
    notices = [f"{problem}.".replace(home, "~") for problem in config.problems]
    target = _target(arguments, config, notices)
    failures: dict[str, None] = {}
    status = asyncio.run(_open(target, config, notices, failures, quiet=arguments.quiet))
    with suppress(OSError):  # a terminal that was closed takes no more words
        for words in failures:
            note(f"{words}.")
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)  # everything is closed; taking the interpreter apart would only hold up the shell's prompt


def refuse_unfit_terminal(environ: Mapping[str, str]) -> None:
    """Raise CommandError (status 2) where the deck could not be drawn or typed in."""
    advice = "Commands such as `quarterdeck sandboxes list` work without a terminal."
    if not all(stream is not None and stream.isatty() for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__)):
        raise CommandError("The deck needs a terminal for its input, output and errors.", advice, status=2)
    if environ.get("TERM", "") in ("", "dumb"):
        raise CommandError("This terminal cannot place text on the screen (TERM is not set or dumb).", advice, status=2)
    if sys.__stderr__ is not None and sys.__stderr__.encoding.replace("-", "").lower() != "utf8":
        raise CommandError("The deck needs a terminal that writes UTF-8.", "Set LANG to one such as C.UTF-8.", status=2)


def _target(arguments: CommandLine, config: Config, notices: list[str]) -> Target:
    """What the arguments mean; for a last connection that is gone, the local service, and a sentence that says so."""
    try:
        return choose(arguments, config, os.environ)
    except LastConnectionGoneError as error:
        notices.append(f"{error.words} The local service was opened.")
        note(notices[-1])
        return Target(replace(LOCAL, read_only=arguments.read_only), read_only=arguments.read_only)


async def _open(
    target: Target, config: Config, notices: Sequence[str], failures: dict[str, None], *, quiet: bool
) -> int:
    from quarterdeck.tui.app import Deck
    from quarterdeck.tui.theme import THEMES

    keep = partial(_remember, config, failures)
    known = KnownConnections(config, target, os.environ, on_open=lambda name: keep(last_connection=name))
    themes = [theme.name for theme in THEMES]
    chosen = config.preferences.theme
    deck = Deck(
        target.connection,
        Connector(config, target, os.environ, known),
        connections=known,
        notes=KeptNotes(config.folders.notebook),
        state=KeptState(config.folders.kept),
        notices=notices,
        quiet=quiet,
        theme=chosen if chosen in themes else themes[0],
        on_theme=lambda name: keep(theme=name),
        crash_folder=config.folders.state,
    )
    with leaving_on_signals(lambda status: deck.exit(status, status), Terminal()):
        await deck.run_async()
    status = deck.return_code or 0
    end_within(CLEANUP, status)  # a name look-up in a thread cannot be called off, and Python would wait for it
    if closing := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(closing)
    return status


def _remember(config: Config, failures: dict[str, None], **what: str) -> None:
    try:
        remember(config.folders.preferences, **what)
    except ConfigError as error:
        failures[str(error)] = None
