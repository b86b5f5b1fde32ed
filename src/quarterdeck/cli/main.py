"""The entry point: prints the version at once; imports what a command needs only for that command."""

import sys
from collections.abc import Sequence
from importlib import import_module

from quarterdeck import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status (the README lists them)."""
    words = sys.argv[1:] if argv is None else argv
    if list(words) == ["--version"]:
        print(f"quarterdeck {__version__}")
        return 0
    try:
        arguments = import_module("quarterdeck.cli.arguments").parse(words)
        status: int = import_module("quarterdeck.cli.run").run(arguments)
    except KeyboardInterrupt:
        return 130
    return status
