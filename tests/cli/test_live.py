"""Commands on a real server: QUARTERDECK_LIVE_URL with its key in QUARTERDECK_LIVE_KEY. They only read."""

import os

import pytest

from tests.cli.conftest import Run

pytestmark = pytest.mark.live


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("QUARTERDECK_API_KEY", os.environ["QUARTERDECK_LIVE_KEY"])
    return os.environ["QUARTERDECK_LIVE_URL"]


def test_doctor_finds_it_healthy_and_names_its_release(run: Run, url: str) -> None:
    ended = run("doctor", "--url", url)
    assert ended.status == 0, ended.out + ended.err
    assert "release " in ended.out


def test_doctor_sees_a_wrong_key_although_old_releases_list_without_one(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", "surely-not-the-key")
    ended = run("doctor", "--url", url)
    assert ended.status == 1
    assert "refused" in ended.out


@pytest.mark.parametrize(
    "command", [("settings", "show"), ("sandboxes", "list"), ("sandboxes", "specs"), ("conversations", "list")]
)
def test_everything_can_be_read(run: Run, url: str, command: tuple[str, str]) -> None:
    assert run(*command, "--url", url, "--read-only").status == 0
    data = run(*command, "--url", url, "--read-only", "--json").json
    assert data is None or isinstance(data, dict | list)
