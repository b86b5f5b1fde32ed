"""Commands on the real servers of a live run (tests/live). They only read."""

import pytest

from tests.cli.conftest import Run
from tests.live.conftest import PARAMS

pytestmark = pytest.mark.live


@pytest.fixture(params=PARAMS)
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    key = request.param.key
    monkeypatch.setenv("QUARTERDECK_API_KEY", key.get_secret_value() if key else "")
    return str(request.param.url)


def test_doctor_finds_it_healthy_and_names_its_release(run: Run, url: str) -> None:
    assert "release " in run("doctor", "--url", url).out


def test_doctor_sees_a_wrong_key(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUARTERDECK_API_KEY", "surely-not-the-key")
    assert "refused" in run("doctor", "--url", url, status=1).out


@pytest.mark.parametrize("command", ["settings show", "sandboxes list", "sandboxes specs", "conversations list"])
def test_everything_can_be_read(run: Run, url: str, command: str) -> None:
    run(*command.split(), "--url", url, "--read-only")
    data = run(*command.split(), "--url", url, "--read-only", "--json").json
    assert data is None or isinstance(data, dict | list)
