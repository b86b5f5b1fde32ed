"""The command line: arguments become one of the deck, `serve`, `doctor` or a one-shot command."""

import sys
from collections.abc import Sequence

from quarterdeck.cli.command_line import CommandLine


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status: 0 done and verified, 1 failed, 2 wrong usage, 3 no match."""
    words = sys.argv[1:] if argv is None else argv
    arguments = _read(words) if words else CommandLine()
    from quarterdeck.cli.run import run

    return run(arguments)


def _read(words: Sequence[str]) -> CommandLine:
    # Opening the deck without arguments need not wait for a parser.
    from quarterdeck.cli.arguments import parse

    return parse(words)
