"""`--filter`: the same words and tokens as over the lists of the deck, typed to the end."""

from quarterdeck.cli.failure import CommandError
from quarterdeck.fleet.filters import Filter, Grammar, R, parse

NOTHING_MATCHED = 3
"""The exit status of a command whose filter lets nothing through."""


def typed_filter(typed: str | None, grammar: Grammar[R]) -> Filter:
    """Read a filter; raises CommandError (status 2) for one that cannot be understood whole."""
    wanted = parse(typed or "", grammar, finished=True)
    if wanted.problems:
        raise CommandError(f"--filter: {' '.join(wanted.problems)}", status=2)
    return wanted
