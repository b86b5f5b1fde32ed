"""Which server a command line means."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from quarterdeck.cli.arguments import CommandLine
from quarterdeck.cli.output import CommandError
from quarterdeck.config.connections import LOCAL, LOCAL_NAME, Connection, check_url
from quarterdeck.config.files import ConfigError
from quarterdeck.config.load import Config

URL_VARIABLE = "QUARTERDECK_URL"
KEY_VARIABLE = "QUARTERDECK_API_KEY"


class Target(NamedTuple):
    """A server, and how far it goes with it."""

    connection: Connection
    remembered: bool = True
    """Whether it may become the last connection; a bare address never does."""
    read_only: bool = False
    """Whether nothing may be changed in this run, on this server or any other."""

    @property
    def asked(self) -> Connection | None:
        """The server, where only its address was given."""
        return None if self.remembered else self.connection


class LastConnectionGoneError(CommandError):
    """The connection used last is no longer configured, and nothing else was asked for."""


def choose(arguments: CommandLine, config: Config, environ: Mapping[str, str]) -> Target:
    """Take --url, --connection, QUARTERDECK_URL, the last connection or the local service, in this order.

    Raises CommandError (status 2) when what is asked for does not exist.
    """
    target = _chosen(arguments, config, environ)
    if arguments.read_only:
        return target._replace(connection=replace(target.connection, read_only=True), read_only=True)
    return target


def _chosen(arguments: CommandLine, config: Config, environ: Mapping[str, str]) -> Target:
    if arguments.url is not None:
        return _at(arguments.url, "--url")
    if arguments.connection is not None:
        return _called(arguments.connection, config)
    if environ.get(URL_VARIABLE):
        return _at(environ[URL_VARIABLE], URL_VARIABLE)
    last = config.preferences.last_connection or LOCAL_NAME
    if last != LOCAL_NAME and last not in config.connections:
        words = f"The last connection, {last!a}, is no longer in {config.folders.connections}."
        raise LastConnectionGoneError(words, "Choose one with --connection NAME (local: the local service).", status=2)
    return _called(last, config)


def _at(url: str, source: str) -> Target:
    try:
        address = check_url(url)
    except ConfigError as error:
        raise CommandError(f"{source}: {error}.", status=2) from None
    return Target(Connection(urlsplit(address).netloc, address, key_env=KEY_VARIABLE), remembered=False)


def _called(name: str, config: Config) -> Target:
    if name == LOCAL_NAME:
        return Target(LOCAL)
    connection = config.connections.get(name)
    if connection is None:
        advice = f"Write it in {config.folders.connections}, or choose another with --connection or --url."
        raise CommandError(f"There is no connection called {name!a}.", advice, status=2)
    return Target(connection)
