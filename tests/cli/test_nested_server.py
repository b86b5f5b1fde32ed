"""The settings commands on a server of the nested generation, which tells no secret of an MCP server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.local.service import LocalService
from tests.cli.conftest import Run
from tests.cli.serving import answering
from tests.servers import open_server

SERVERS = {
    "shttp_servers": [{"url": "https://tools.example/mcp", "api_key": "sentinel-2"}],
    "stdio_servers": [{"name": "files", "command": "npx", "env": {"TOKEN": "sentinel-3"}}],
}
SLOWER = {"shttp_servers": [{"url": "https://tools.example/mcp", "timeout": 90}]}


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Its address; its key is in the environment."""

    async def opening() -> LocalService:
        service = await open_server(tmp_path / "nested", "nested")
        monkeypatch.setenv("QUARTERDECK_API_KEY", service.key.get_secret_value())
        return service

    with answering(opening) as url:
        yield url


def test_lesser_settings_are_shown_where_all_are_asked_for(run: Run, nested: str) -> None:
    run("--url", nested, "settings", "set", "language=fr")
    some, everything = (run("--url", nested, "settings", "show", *more) for more in ((), ("--all",)))
    assert "less used settings stand at their defaults; --all lists them too" in some.err
    assert everything.err == ""
    assert len(everything.out.splitlines()) > len(some.out.splitlines())


def test_what_the_server_does_not_take_is_refused_before_it_is_asked(run: Run, nested: str) -> None:
    run("--url", nested, "settings", "set", "max_iterations=30")
    for assignment, words in (
        ("max_iterations=", "keeps the stored value when it is cleared; replace it instead.\n"),
        ("enable_solvability_analysis=on", "lists those of a server.\n"),
    ):
        assert run("--url", nested, "settings", "set", assignment, status=2).err.endswith(words)


def test_secrets_of_servers_are_lost_only_where_somebody_says_so(run: Run, nested: str) -> None:
    run("--url", nested, "settings", "set", "mcp_config=-", typed=json.dumps(SERVERS))
    assert "key: not told" in run("--url", nested, "settings", "show").out
    told = json.loads(run("--url", nested, "settings", "show", "--json").out)["mcp_config"]
    assert told["shttp_servers"][0]["api_key_set"] is told["stdio_servers"][0]["env_set"] is None
    change = ("--url", nested, "settings", "set", "mcp_config=-")
    assert "--accept-losses" in run(*change, typed=json.dumps(SLOWER), status=2).err
    assert "90" not in run("--url", nested, "settings", "show", "--json").out
    assert "loses something" in run(*change, "--accept-losses", typed=json.dumps(SLOWER)).err
    assert "90" in run("--url", nested, "settings", "show", "--json").out
