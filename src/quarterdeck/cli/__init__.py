"""The command line: arguments become one of the deck, `serve`, `doctor` or a one-shot command."""

import gc
import sys

from quarterdeck import __version__

TYPE_CHECKING = False  # `typing` takes longer to import than all that `--version` needs
if TYPE_CHECKING:
    from collections.abc import Sequence

    from quarterdeck.cli.command_line import CommandLine


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run one command line and return its exit status: 0 done and verified, 1 failed, 2 wrong usage, 3 no match."""
    words = sys.argv[1:] if argv is None else argv
    if list(words) == ["--version"]:
        print(f"quarterdeck {__version__}")
        return 0
    gc.disable()  # what is imported stays: looking for garbage among it takes a tenth of the start
    arguments = _read(words)
    from quarterdeck.cli.run import run

    return run(arguments)


def _read(words: "Sequence[str]") -> "CommandLine":
    from quarterdeck.cli.command_line import plain

    if (line := plain(words)) is not None:
        return line
    from quarterdeck.cli.arguments import parse

    return parse(words)
