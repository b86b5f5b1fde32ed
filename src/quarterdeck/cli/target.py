"""Which server a command line refers to."""

import os
from dataclasses import replace
from urllib.parse import urlsplit

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.output import CommandError
from quarterdeck.config.connections import LOCAL, LOCAL_NAME, Connection, check_url
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import Config

URL_VARIABLE = "QUARTERDECK_URL"
KEY_VARIABLE = "QUARTERDECK_API_KEY"


class LastConnectionGoneError(CommandError):
    """The last connection is no longer configured, and no other was given."""


def choose(arguments: CommandLine, config: Config) -> Connection:
    """Choose --url, --connection, QUARTERDECK_URL, the last connection or the local service, in this order.

    Raises CommandError (status 2) if the chosen one does not exist.
    """
    if arguments.url is not None:
        chosen = _at(arguments.url, "--url")
    elif arguments.connection is not None:
        chosen = _called(arguments.connection, config)
    elif url := os.environ.get(URL_VARIABLE):
        chosen = _at(url, URL_VARIABLE)
    else:
        chosen = _last(config)
    return replace(chosen, read_only=True) if arguments.read_only else chosen


def _last(config: Config) -> Connection:
    last = config.preferences.last_connection or LOCAL_NAME
    if last != LOCAL_NAME and last not in config.connections:
        words = f"The last connection, {last!r}, {_why_gone(last, config)}."
        raise LastConnectionGoneError(words, "Choose one with --connection NAME (local: the local service).", status=2)
    return _called(last, config)


def _at(url: str, source: str) -> Connection:
    try:
        address = check_url(url)
    except ConfigError as error:
        raise CommandError(f"{source}: {error}.", status=2) from None
    return Connection(urlsplit(address).netloc, address, key_env=KEY_VARIABLE)


def _called(name: str, config: Config) -> Connection:
    if name == LOCAL_NAME:
        return LOCAL
    if name not in config.connections:
        words = f"The connection {name!r} {_why_gone(name, config)}."
        raise CommandError(words, "Choose another with --connection or --url.", status=2)
    return config.connections[name]


def _why_gone(name: str, config: Config) -> str:
    if why := config.left_out.get(name) or config.left_out.get(""):
        return f"cannot be used: {why}"
    return f"is not in {config.folders.connections}"
