"""The local service on a port, as a process of its own."""

import signal
from pathlib import Path

import httpx
import pytest

from quarterdeck.cli.main import main
from tests.cli.serving import KEY, serving
from tests.local.conftest import processes


def test_it_ends_cleanly_and_leaves_sandboxes_running(folder: Path) -> None:
    with serving(QUARTERDECK_API_KEY=KEY) as (url, process):
        headers = {"X-Session-API-Key": KEY}
        answer = httpx.post(f"{url}/api/v1/sandboxes", headers=headers, trust_env=False, timeout=20)
        assert answer.json()["status"] == "RUNNING"
        process.terminate()
        assert process.stdout
        assert (process.wait(10), process.stdout.read()) == (0, "")
    assert len(processes(folder)) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_right_after_the_first_line_ends_it_cleanly(number: signal.Signals) -> None:
    with serving() as (_, process):
        process.send_signal(number)
        assert process.wait(10) == 0


@pytest.mark.parametrize("key", ["with\nnewline", "with blank", "ключ"])
def test_a_key_that_no_header_can_carry_is_refused(
    folder: Path, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", key)
    assert main(["serve", "--port", "0"]) == 1
    assert "cannot be sent" in capsys.readouterr().err


def test_it_answers_to_names_of_loopback_only() -> None:
    with serving() as (url, _), httpx.Client(base_url=url, trust_env=False) as client:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:80", "[::1]:3000"):
            assert client.get("/alive", headers={"Host": host}).status_code == 200, host
        strangers = "example.com 127.8.8.8 127.0.0.1.example.com:3000 localhost.example.com 10.0.0.1 [::1"
        for host in (*strangers.split(), ""):
            for path in ("/alive", "/api/settings", "/nowhere"):
                assert client.get(path, headers={"Host": host}).status_code == 400, (host, path)
