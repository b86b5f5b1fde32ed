"""What a command line says, whoever read it."""

from collections.abc import Sequence


class CommandLine:
    """The words of one command line; what was not said is as it stands here."""

    command: str = "deck"
    """The module of `quarterdeck.cli` that runs it."""
    url: str | None = None
    connection: str | None = None
    read_only: bool = False
    quiet: bool = False
    json: bool = False
    all: bool = False
    dry_run: bool = False

    port: int = 3000
    simulate: int | None = None
    churn: float | None = None
    faults: bool = False
    assignments: Sequence[tuple[str, str]] = ()
    accept_losses: bool = False
    file: str | None = None
    spec: str | None = None
    verb: str = ""
    ids: Sequence[str] = ()
    filter: str | None = None
    yes: bool = False
    watch: bool = False
    message: str | None = None
    title: str | None = None
    repository: str | None = None
    branch: str | None = None
    sandbox: str | None = None


def plain(words: Sequence[str]) -> CommandLine | None:
    """Read a line that says nothing but where to open the deck and how; None for any other, which takes a parser.

    The deck is on the screen the sooner for it: argparse and the parsers of all commands take as long as its own frame.
    """
    line, rest = CommandLine(), iter(words)
    for word in rest:
        if word == "--read-only":
            line.read_only = True
        elif word == "--quiet":
            line.quiet = True
        elif word in ("--url", "--connection") and line.url is None and line.connection is None:
            value = next(rest, "-")
            if value.startswith("-"):
                return None
            setattr(line, word[2:], value)
        else:
            return None
    return line
