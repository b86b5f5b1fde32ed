"""`serve` on a real port, and what `doctor` says of it."""

import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.serving import KEY, answering, at_an_address, keeping, serving
from tests.client.fakes import NO_ROUTE, Answer
from tests.conftest import Home
from tests.local.conftest import processes


def test_doctor_tells_a_wrong_key_and_prints_none(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "runs no agent" in run("doctor").out
    with answering(keeping(home.data)) as url:
        monkeypatch.setenv("QUARTERDECK_API_KEY", KEY)
        right = run("doctor", "--url", url)
        assert run("doctor", "--url", url, "--json").json["healthy"] is True
        monkeypatch.setenv("QUARTERDECK_API_KEY", KEY + "x")
        wrong = run("doctor", "--url", url, status=1)
        monkeypatch.setenv("OWN_KEY", KEY)
        home.write("connections.toml", f'[connections.own]\nurl = "{url}"\nheader = "bearer"\nkey_env = "OWN_KEY"\n')
        bearer = run("doctor", "--connection", "own", status=1)
        monkeypatch.delenv("QUARTERDECK_API_KEY")
        none = run("doctor", "--url", url, status=1)
    assert "accepted" in right.out
    assert "environment variable QUARTERDECK_API_KEY" in right.out
    assert "refused; from: environment variable QUARTERDECK_API_KEY; sent as X-Session-API-Key\n" in wrong.out
    own = "refused; from: environment variable OWN_KEY; sent as Authorization: Bearer, not X-Session-API-Key\n"
    assert own in bearer.out
    assert "QUARTERDECK_API_KEY is not set" in none.out
    assert "sentinel" not in right.out + right.err + wrong.out + wrong.err


def test_doctor_says_that_nothing_answers(run: Run) -> None:
    ended = run("doctor", "--url", "http://127.0.0.1:9", "--json", status=1)
    assert ended.json["healthy"] is False
    found = {each["name"]: (each["good"], each["words"]) for each in ended.json["findings"]}
    assert (found["answer"][0], "127.0.0.1:9" in found["answer"][1]) == (False, True)
    words = "could not be checked; from: none (QUARTERDECK_API_KEY is not set)"
    assert found["key"] == (None, words)
    assert f"unknown  key         {words}\n" in run("doctor", "--url", "http://127.0.0.1:9", status=1).out


def test_doctor_says_no_key_is_accepted_where_none_was_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One server needs no key, and one has settings that prove nothing."""
    settings = {"/api/settings": Answer({}), "/api/v1/settings": NO_ROUTE}
    with at_an_address(lambda asked: settings.get(asked.path, Answer([]))) as url:
        open_to_all = run("doctor", "--url", url)
        settings["/api/settings"] = Answer({}, 500)
        unproven = run("doctor", "--url", url, "--json", status=1)
        monkeypatch.setenv("QUARTERDECK_API_KEY", KEY)
        with_key = run("doctor", "--url", url, status=1)
    assert "ok  key            no key is needed; from: none (QUARTERDECK_API_KEY is not set)\n" in open_to_all.out
    not_tried = "no key was tried; from: none (QUARTERDECK_API_KEY is not set)"
    assert {"name": "key", "words": not_tried, "good": None} in unproven.json["findings"]
    assert "unknown  key            nothing proves the key right or wrong; from: environment" in with_key.out


def test_doctor_says_where_a_key_travels_in_clear(run: Run) -> None:
    assert run("doctor", "--url", "http://0.0.0.0:9", status=1).out.count("unencrypted") == 1
    for address in ("https://0.0.0.0:9", "http://127.0.0.1:9"):
        assert "unencrypted" not in run("doctor", "--url", address, status=1).out


def test_serve_makes_a_key_and_shares_its_data(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as (url, program):
        word, key = program.out.readline().split()
        monkeypatch.setenv("QUARTERDECK_API_KEY", key)
        assert word == "key"
        run("doctor", "--url", url)
        run("settings", "set", "language=fr", "--url", url)
        assert run("settings", "show", "--json").json["language"] == "fr"
        run("sandboxes", "start", "--url", url)
        second = run("serve", "--port", url.rpartition(":")[2], status=1)
        assert (second.out, len(second.err.splitlines())) == ("", 1)
        assert "cannot be used: Address already in use. Name another one" in second.err
        program.process.send_signal(signal.SIGTERM)
        assert (program.out.read(), program.ended()[0]) == ("", 0)
    assert len(processes(folder)) == 2, "the sandbox runs on"
    assert run("settings", "show", "--json").json["language"] == "fr"


def test_doctor_says_that_a_simulation_is_one_and_nothing_of_it_is_kept(on: Run, home: Home) -> None:
    ended = on("doctor")
    on("settings", "set", "language=fr")
    assert "simulated" in ended.out
    assert "(100)" in ended.out
    assert not home.data.exists()
