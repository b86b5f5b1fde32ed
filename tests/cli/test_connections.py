"""Connections of the file from the command line: listed, and opened with their own keys."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.serving import KEY, answering, keeping
from tests.conftest import Home


def keep_key(home: Home, name: str, url: str) -> None:
    home.write("keys.toml", f'[keys.{name}]\norigin = "{url}"\nkey = "{KEY}"\n').chmod(0o600)


def test_the_local_service_and_the_file_are_listed_with_where_their_keys_are_and_what_is_left_out(
    run: Run, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write(
        "connections.toml",
        '[connections.work]\nurl = "https://work.example"\nkey_env = "WORK_KEY"\nread_only = true\ncolour = "red"\n'
        '[connections.play]\nurl = "http://play.example"\nheader = "bearer"\n[connections.bad]\nurl = 5\n',
    )
    monkeypatch.setenv("WORK_KEY", KEY)
    keep_key(home, "play", "http://play.example")
    shown, data = (run("connections", "list", *more, status=1) for more in ((), ("--json",)))
    assert KEY not in shown.out + shown.err + data.out
    local, work, play = data.json
    assert (local["name"], local["url"]) == ("local", None)
    told = {"name": "work", "url": "https://work.example", "header": "session", "ca_file": None}
    assert work == told | {"key_from": "environment variable WORK_KEY", "read_only": True, "colour": "red"}
    assert (play["header"], play["key_from"]) == ("bearer", "key file")
    assert "https://work.example" in shown.out
    assert "connections.toml, line 9, connection 'bad'" in shown.err


def test_a_key_of_the_file_opens_the_connection_of_its_name_at_its_own_address_alone(run: Run, home: Home) -> None:
    with answering(keeping(home.data)) as url:
        home.write("connections.toml", f'[connections.mine]\nurl = "{url}"\n')
        keep_key(home, "mine", "http://127.0.0.1:9")
        assert "for another address" in run("doctor", "--connection", "mine", status=1).out
        keep_key(home, "mine", url)
        found = run("doctor", "--connection", "mine")
        assert "from: key file" in found.out
        run("settings", "set", "language=fr", "--connection", "mine")
        run("sandboxes", "list", "--connection", "mine")
        (home.config / "keys.toml").chmod(0o644)
        refused = run("doctor", "--connection", "mine", status=1)
        listing = run("sandboxes", "list", "--connection", "mine", status=1)
    assert "chmod 600" in refused.out
    assert "chmod 600" in listing.err
    assert KEY not in found.out + found.err + refused.out + refused.err + listing.err


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "No such file"), ("", "holds no certificate"), ("not a certificate", "holds no certificate")],
)
def test_a_file_without_a_certificate_is_named(
    content: str | None, words: str, run: Run, home: Home, tmp_path: Path
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    home.write("connections.toml", f'[connections.work]\nurl = "https://127.0.0.1:9"\nca_file = "{path}"\n')
    ended = run("doctor", "--connection", "work", "--json", status=1)
    found = [finding["words"] for finding in ended.json["findings"] if finding["good"] is False]
    assert any(str(path) in each and words in each for each in found)
