import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.serving import KEY, at_an_address, keyed, nohup, serving
from tests.client.fakes import NO_ROUTE, Answer
from tests.conftest import Home
from tests.local.conftest import processes


def keep_key(home: Home, name: str, url: str) -> None:
    home.write("keys.toml", f'[keys.{name}]\norigin = "{url}"\nkey = "{KEY}"\n').chmod(0o600)


def test_all_are_listed_with_where_their_keys_are(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with keyed() as url:
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


@pytest.mark.parametrize("make", [Path.absolute, os.mkfifo, lambda path: path.write_text("no such thing")])
def test_a_file_without_a_certificate_is_named(make: Callable[[Path], object], run: Run, home: Home) -> None:
    path = home.root / "ca.pem"
    make(path)
    home.write("connections.toml", f'[connections.work]\nurl = "https://127.0.0.1:9"\nca_file = "{path}"\n')
    ended = run("doctor", "--connection", "work", "--json", status=1)
    found = [finding["words"] for finding in ended.json["findings"] if finding["good"] is False]
    words = "holds no certificate" if path.is_file() else "There is no CA file"
    assert any(str(path) in each and words in each for each in found)


def test_of_what_names_a_connection_the_nearest_wins(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    work, kept, environment, argument = (f"127.0.0.1:{port}" for port in (6, 7, 8, 9))
    tables = (f'[connections.{name}]\nurl = "http://{host}"\n' for name, host in (("work", work), ("open", kept)))
    home.write("connections.toml", "".join(tables))

    def asked(*words: str) -> str:
        return run("sandboxes", "list", *words, status=1).err

    assert run("sandboxes", "list").err == ""
    home.write("preferences.toml", 'last_connection = "work"\n')
    monkeypatch.setenv("QUARTERDECK_URL", f"http://{environment}")
    assert argument in asked("--url", f"http://{argument}")
    assert kept in asked("--connection", "open")
    assert environment in asked()
    monkeypatch.setenv("QUARTERDECK_URL", "")
    assert work in asked()
    assert run("sandboxes", "list", "--connection", "local").err == ""


LEFT_OUT = {"": "", "[connections.bad]\nurl = 5\n": ",? cannot be used: url is missing"}
LEFT_OUT["broken\n"] = ",? cannot be used: .*line 1: not TOML"


@pytest.mark.parametrize(("text", "why"), LEFT_OUT.items())
def test_one_that_is_gone_or_left_out_is_said_and_not_replaced(run: Run, home: Home, text: str, why: str) -> None:
    home.write("connections.toml", text)
    home.write("preferences.toml", 'last_connection = "bad"\n')
    for named in (("--connection", "bad"), ()):
        assert re.search(f"'bad'{why}", run("sandboxes", "list", *named, status=2).err)


def test_doctor_tells_a_wrong_key_and_prints_none(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "runs no agent" in run("doctor").out
    with keyed() as url:
        monkeypatch.setenv("QUARTERDECK_API_KEY", f" {KEY}\n")
        right = run("doctor", "--url", url)
        assert run("doctor", "--url", url, "--json").json["healthy"] is True
        own = f'[connections.own]\nurl = "{url}"\nheader = "bearer"\nkey_env = "OWN_KEY"\n'
        home.write("connections.toml", f'{own}[connections.open]\nurl = "{url}"\n')
        without = run("doctor", "--connection", "open", status=1)
        monkeypatch.setenv("QUARTERDECK_API_KEY", KEY + "x")
        wrong = run("doctor", "--url", url, status=1)
        monkeypatch.setenv("OWN_KEY", KEY)
        bearer = run("doctor", "--connection", "own", status=1)
        monkeypatch.setenv("QUARTERDECK_API_KEY", " ")
        none = run("doctor", "--url", url, status=1)
    assert "accepted" in right.out
    assert "environment variable QUARTERDECK_API_KEY" in right.out
    assert "the key is missing; from: none\n" in without.out
    assert "refused; from: environment variable QUARTERDECK_API_KEY; sent as X-Session-API-Key\n" in wrong.out
    own = "refused; from: environment variable OWN_KEY; sent as Authorization: Bearer, not X-Session-API-Key\n"
    assert own in bearer.out
    assert [each.out.count("cannot be read without the right key\n") for each in (right, wrong, none)] == [0, 4, 4]
    assert "status 401" not in wrong.out + none.out
    assert "QUARTERDECK_API_KEY is not set" in none.out
    assert "sentinel" not in right.out + right.err + wrong.out + wrong.err


def test_doctor_says_that_nothing_answers_and_where_a_key_travels_in_clear(run: Run) -> None:
    ended = run("doctor", "--url", "http://127.0.0.1:9", "--json", status=1)
    assert ended.json["healthy"] is False
    found = {each["name"]: (each["good"], each["words"]) for each in ended.json["findings"]}
    assert (found["answer"][0], "127.0.0.1:9" in found["answer"][1]) == (False, True)
    words = "could not be checked; from: none (QUARTERDECK_API_KEY is not set)"
    assert found["key"] == (None, words)
    shown = {url: run("doctor", "--url", f"{url}:9", status=1).out for url in ("http://127.0.0.1", "https://a.invalid")}
    assert f"unknown  key         {words}\n" in shown["http://127.0.0.1"]
    assert not any("unencrypted" in out for out in shown.values())
    assert run("doctor", "--url", "http://a.invalid:9", status=1).out.count("unencrypted") == 1


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


def test_serve_makes_a_key_and_shares_its_data(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with nohup(), serving() as (url, program):
        word, key = program.out.readline().split()
        program.process.send_signal(signal.SIGHUP)
        monkeypatch.setenv("QUARTERDECK_API_KEY", key)
        assert word == "key"
        run("doctor", "--url", url)
        run("settings", "set", "language=fr", "--url", url)
        assert run("settings", "show", "--json").json["language"] == "fr"
        started = run("sandboxes", "start", "--json", "--url", url).json["id"]
        for verb, status in {"pause": "Paused", "resume": "Running"}.items():
            assert run("sandboxes", verb, started, "--url", url).out == f"{started}  {status}\n"
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
