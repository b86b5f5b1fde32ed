"""Which server a command line means, and which key goes there."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from quarterdeck.cli.arguments import parse
from quarterdeck.cli.output import CommandError
from quarterdeck.cli.target import LastConnectionGoneError, choose
from quarterdeck.config import edit
from quarterdeck.config.connections import LOCAL, Connection
from quarterdeck.config.keys import Keys
from quarterdeck.config.load import load
from tests.conftest import Home

CONNECTIONS = """
[connections.work]
url = "https://work.example"
key_env = "WORK_KEY"
[connections.open]
url = "http://open.example"
"""
BY_URL = ("--url", "http://arg.example")
KEYS = {"QUARTERDECK_API_KEY": "key-of-url", "WORK_KEY": "key-of-work"}


@pytest.fixture(autouse=True)
def written(home: Home) -> None:
    home.write("connections.toml", CONNECTIONS)


def target(*words: str, environ: Mapping[str, str] | None = None) -> Connection:
    return choose(parse(words), load(os.environ), environ or {})


def remember(name: str) -> None:
    edit.remember(load(os.environ).folders.preferences, {"last_connection": name})


def test_an_argument_wins_over_the_environment_and_that_over_the_last_connection() -> None:
    assert target() == LOCAL
    remember("work")
    environ = {"QUARTERDECK_URL": "http://env.example/"}
    assert target(*BY_URL, environ=environ).url == "http://arg.example"
    assert target("--connection", "open", environ=environ).url == "http://open.example"
    assert target(environ=environ).url == "http://env.example"
    assert target(environ={"QUARTERDECK_URL": ""}).name == "work"
    assert target("--connection", "local") == LOCAL


def test_a_server_may_be_named_before_or_after_the_command() -> None:
    named, command = ("--connection", "work", "--read-only"), ("settings", "show")
    for words in ((*named, *command), (*command, *named)):
        assert (target(*words).name, target(*words).read_only) == ("work", True)


def test_a_connection_that_is_not_there_is_wrong_usage_and_a_last_one_that_is_gone_is_not_replaced_silently() -> None:
    with pytest.raises(CommandError, match="'play'") as caught:
        target("--connection", "play")
    assert caught.value.status == 2
    remember("gone")
    with pytest.raises(LastConnectionGoneError, match="'gone'"):
        target()


@pytest.mark.parametrize(
    ("text", "why"), [("[connections.bad]\nurl = 5\n", "url is missing"), ("broken\n", ".*line 1: not TOML")]
)
def test_why_a_connection_was_left_out_is_said_where_it_is_named(home: Home, text: str, why: str) -> None:
    home.write("connections.toml", text)
    with pytest.raises(CommandError, match=f"The connection 'bad' cannot be used: {why}"):
        target("--connection", "bad")
    remember("bad")
    with pytest.raises(LastConnectionGoneError, match=f"'bad', cannot be used: {why}"):
        target()


async def key_for(tmp_path: Path, connection: Connection, environ: Mapping[str, str] = KEYS) -> str | None:
    found = await Keys(tmp_path / "keys.toml", environ).find(connection)
    return None if found.key is None else found.key.get_secret_value()


async def test_the_key_of_the_environment_goes_to_the_url_alone(tmp_path: Path) -> None:
    given = target(*BY_URL)
    assert await key_for(tmp_path, given) == "key-of-url"
    assert not given.kept
    assert await key_for(tmp_path, target("--connection", "work")) == "key-of-work"
    assert await key_for(tmp_path, target("--connection", "open")) is None
    assert await key_for(tmp_path, LOCAL) is None
    for value, key in ((" key\n", "key"), ("", None), (" ", None)):
        assert await key_for(tmp_path, given, {"QUARTERDECK_API_KEY": value}) == key
