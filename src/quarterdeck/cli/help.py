"""`quarterdeck help`: references generated from the deck's own declarations. No server is contacted."""

from collections.abc import Iterator
from itertools import groupby
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import Any

from quarterdeck.cli import conversations, sandboxes
from quarterdeck.cli.arguments import CommandLine, usage
from quarterdeck.config.load import Config
from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR
from quarterdeck.fleet.filters import Grammar, Kind, example
from quarterdeck.fleet.sandboxes import SANDBOX_GRAMMAR
from quarterdeck.settings.catalogue import CATALOGUE, servers_with, takes
from quarterdeck.tui.commands import COMMANDS, Place, shown_key
from quarterdeck.tui.dialogs.page import MOVES

WIDEST = 80
"""Maximum columns of a line, where the terminal has them."""
INDENT = 22
"""Columns for the left part of an entry."""
_PLACES = {
    Place.EVERYWHERE: "Everywhere",
    Place.CONVERSATIONS: "In the list of conversations",
    Place.CONVERSATION: "In one conversation",
    Place.SANDBOXES: "In the list of sandboxes",
    Place.SETTINGS: "In the settings",
}
_FORMS = {
    "word": "It stands anywhere in the row, in any case; an id is found by its beginning.",
    "NAME:TEXT": "The text is part of it, in any case. NAME:this,that asks for either.",
    "NAME>AMOUNT": (
        f"It is more; <, >= and <= too. A time is written {example(Kind.DURATION)}, a number {example(Kind.NUMBER)}."
    ),
    "NAME": "It is so.",
    "!...": "In front of any of these: it is not so.",
    '"two words"': "A blank between quotes belongs to the text.",
}


def run(arguments: CommandLine, config: Config) -> int:
    """Print one reference, or the usage, which lists them."""
    references = {"keys": _keys, "settings": _settings, "filters": _filters}
    if arguments.topic:
        print("\n".join(references[arguments.topic]()))
    else:
        print(usage(), end="")
    return 0


def _wrapped(words: str, indent: int = 0, about: str = "") -> list[str]:
    """Return words as lines, the first of them beside what they are about."""
    first, blanks, width = about.ljust(indent), " " * indent, min(WIDEST, get_terminal_size().columns)
    return TextWrapper(width, initial_indent=first, subsequent_indent=blanks, break_on_hyphens=False).wrap(words)


def _entry(name: str, words: str) -> list[str]:
    """Return the lines of an entry: a name, and its words beside it."""
    return _wrapped(words, INDENT, f"  {name}")


def _keys() -> Iterator[str]:
    yield from _wrapped("The keys of the deck. What has no key is in the menu (f2), or in the palette (:) by its name.")
    for place, title in _PLACES.items():
        yield from ("", title)
        for command in COMMANDS[place]:
            keys = " ".join(map(shown_key, filter(None, command.keys.split(","))))
            yield from _entry(keys or ":", f"{command.help}." if keys else f"{command.label}: {command.help}.")
        if place is Place.EVERYWHERE:
            for keys, words in MOVES:
                yield from _entry(keys, f"{words}.")


def _settings() -> Iterator[str]:
    yield from _wrapped(
        "The settings that the deck knows, for `quarterdeck settings set KEY=VALUE` and the form (3). "
        "Servers have flat or nested settings; `quarterdeck doctor` says which."
    )
    for section, entries in groupby(CATALOGUE, lambda entry: entry.group):
        yield from ("", section)
        for entry in entries:
            yield f"  {entry.key}"
            for words in (
                f"{entry.label}. {entry.help}",
                f"Takes: {takes(entry)}.",
                f"Servers: {servers_with(entry)}.",
            ):
                yield from _wrapped(words, 6)


def _filters() -> Iterator[str]:
    yield from _wrapped(
        "What / takes in the deck, and --filter on the command line: words and tokens, of which all have to hold."
    )
    yield ""
    for form, meaning in _FORMS.items():
        yield from _entry(form, meaning)
    yield from ("", "Sandboxes", *_tokens(SANDBOX_GRAMMAR, sandboxes.GRAMMAR))
    yield from ("", "Conversations", *_tokens(CONVERSATION_GRAMMAR, conversations.GRAMMAR))


def _tokens(grammar: Grammar[Any], of_commands: Grammar[Any]) -> Iterator[str]:
    """Yield the tokens of a list; tokens that commands lack are marked."""
    for name, token in grammar.tokens.items():
        also = f" Also: {', '.join(token.also)}." if token.also else ""
        deck_only = "" if name in of_commands.tokens else " Only in the deck."
        yield from _entry(grammar.beginnings[name], f"{token.help}{also}{deck_only}")
