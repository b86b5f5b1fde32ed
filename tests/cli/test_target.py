"""Which server a command line means, and which key goes there."""

import os
from collections.abc import Mapping

import pytest
from pydantic import SecretStr

from quarterdeck.cli.arguments import parse
from quarterdeck.cli.connect import Connector
from quarterdeck.cli.output import CommandError
from quarterdeck.cli.target import LastConnectionGoneError, Target, choose
from quarterdeck.client.errors import ErrorKind, ServiceError
from quarterdeck.config import edit
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.load import Config, load
from quarterdeck.tui.connections import Connections
from tests.conftest import Home

CONNECTIONS = """
[connections.work]
url = "https://work.example"
key_env = "WORK_KEY"
[connections.open]
url = "http://open.example"
"""


@pytest.fixture
def loaded(home: Home) -> Config:
    home.config.mkdir(parents=True)
    (home.config / "connections.toml").write_text(CONNECTIONS)
    return load(os.environ)


def target(loaded: Config, *arguments: str, environ: Mapping[str, str] | None = None) -> Target:
    return choose(parse(arguments), loaded, environ or {})


def remembering(loaded: Config, name: str) -> Config:
    edit.remember(loaded.folders.preferences, last_connection=name)
    return load(os.environ)


def test_without_anything_it_is_the_local_service(loaded: Config) -> None:
    assert target(loaded).connection == LOCAL


def test_an_argument_wins_over_the_environment_and_that_over_the_last_connection(loaded: Config) -> None:
    loaded = remembering(loaded, "work")
    environ = {"QUARTERDECK_URL": "http://env.example/"}
    assert target(loaded, "--url", "http://arg.example", environ=environ).connection.url == "http://arg.example"
    assert target(loaded, "--connection", "open", environ=environ).connection.url == "http://open.example"
    assert target(loaded, environ=environ).connection.url == "http://env.example"
    assert target(loaded, environ={"QUARTERDECK_URL": ""}).connection.name == "work"
    assert target(loaded, "--connection", "local").connection == LOCAL


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_server_may_be_named_before_or_after_the_command(loaded: Config, place: str) -> None:
    named = ["--connection", "work", "--read-only"]
    words = [*named, "settings", "show"] if place == "before" else ["settings", "show", *named]
    connection = target(loaded, *words).connection
    assert connection.name == "work"
    assert connection.read_only


def test_a_connection_that_is_not_there_is_wrong_usage(loaded: Config) -> None:
    with pytest.raises(CommandError, match="'play'") as caught:
        target(loaded, "--connection", "play")
    assert caught.value.status == 2


def test_a_last_connection_that_is_gone_is_not_replaced_silently(loaded: Config) -> None:
    with pytest.raises(LastConnectionGoneError, match="'gone'"):
        target(remembering(loaded, "gone"))


def key_for(loaded: Config, chosen: Target, endpoint: Connection) -> str | None:
    environ = {"QUARTERDECK_API_KEY": "key-of-url", "WORK_KEY": "key-of-work"}
    variable = Connections(loaded, environ, asked=chosen.asked).key_variable(endpoint)
    return None if variable is None else environ[variable]


def test_the_key_of_the_environment_goes_to_the_url_alone(loaded: Config) -> None:
    chosen = target(loaded, "--url", "http://arg.example")
    assert key_for(loaded, chosen, chosen.connection) == "key-of-url"
    assert key_for(loaded, chosen, Connection("elsewhere", "http://elsewhere.example")) is None
    assert key_for(loaded, chosen, Connection(chosen.connection.name, "http://elsewhere.example")) is None


def test_a_connection_gets_the_key_it_names_and_no_other(loaded: Config) -> None:
    work, unkeyed = target(loaded, "--connection", "work"), target(loaded, "--connection", "open")
    assert key_for(loaded, work, work.connection) == "key-of-work"
    assert key_for(loaded, work, Connection("typed", "https://work.example")) is None
    assert key_for(loaded, work, Connection("work", "https://elsewhere.example")) is None
    assert key_for(loaded, unkeyed, unkeyed.connection) is None
    assert key_for(loaded, target(loaded), LOCAL) is None


@pytest.mark.parametrize("value", ["two words", "line\nbreak", "schlüssel", "\x1b[31m"])
async def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(loaded: Config, value: str) -> None:
    chosen = target(loaded, "--url", "http://127.0.0.1:9")
    connector = Connector(loaded, chosen, {"QUARTERDECK_API_KEY": value})
    with pytest.raises(ServiceError, match="QUARTERDECK_API_KEY") as caught:
        await connector(chosen.connection).__aenter__()
    assert caught.value.kind is ErrorKind.LOCAL
    assert value not in str(caught.value)


@pytest.mark.parametrize(("value", "key"), [(" key\n", "key"), ("", None), (" ", None)])
async def test_blanks_around_a_key_are_not_part_of_it(loaded: Config, value: str, key: str | None) -> None:
    chosen = target(loaded, "--url", "http://127.0.0.1:9")
    known = Connections(loaded, {"QUARTERDECK_API_KEY": value}, asked=chosen.asked)
    read = await known.find_key(chosen.connection)
    assert read.key == (None if key is None else SecretStr(key))
