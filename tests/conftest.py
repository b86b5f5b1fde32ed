"""What every test stands on: folders of its own and nothing of the developer's environment."""

import gc
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No property is about time: a busy machine must not fail one.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
_LEFT_ALONE = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "TMPDIR", "HYPOTHESIS_PROFILE", "CI")
_BEGIN_SO = ("QUARTERDECK_LIVE_", "PYTEST_", "PYTHON", "COVERAGE_", "TEXTUAL_SNAPSHOT_")


def pytest_configure() -> None:
    """Settle, before Textual is imported and reads them, the variables that change what is painted.

    The programs that tests start are compiled once, as installed ones are.
    """
    for name in [*os.environ]:
        if name not in _LEFT_ALONE and not name.startswith(_BEGIN_SO):
            del os.environ[name]
    os.environ |= {"TZ": "UTC", "TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_ANIMATIONS": "none"}
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"


@pytest.fixture(autouse=True, scope="module")
def _collected() -> Iterator[None]:
    """Collect garbage once a file: while tests run, that would take a quarter of their time."""
    gc.disable()
    yield
    gc.collect()


@dataclass(frozen=True)
class Home:
    root: Path
    config: Path
    data: Path
    state: Path

    def write(self, name: str, text: str) -> Path:
        self.config.mkdir(parents=True, exist_ok=True)
        path = self.config / name
        path.write_text(text)
        return path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Keep what the program writes inside the test's own temporary folder."""
    root = tmp_path / "home"
    root.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(root))
    for name in ("config", "data", "state", "cache"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(root / name))
    return Home(root, *(root / name / "quarterdeck" for name in ("config", "data", "state")))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a program runs in, of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
