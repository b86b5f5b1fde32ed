"""Runs commands in this process, on a local service of the test's own, and leaves no sandbox behind."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli.main import main
from tests.cli.serving import KEY, simulating
from tests.local.conftest import folder as folder


@dataclass(frozen=True)
class Ended:
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line, with `typed` on its standard input, that ends with this status."""

    def run_command(*arguments: str, typed: str | bytes | None = None, status: int = 0) -> Ended:
        monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
        given = io.BytesIO(typed.encode() if isinstance(typed, str) else typed or b"")
        monkeypatch.setattr(sys, "stdin", None if typed is None else io.TextIOWrapper(given, "utf-8"))
        capsys.readouterr()
        try:
            ended = main(arguments)
        except SystemExit as leaving:
            ended = int(leaving.code or 0)
        printed = capsys.readouterr()
        assert ended == status, printed
        return Ended(printed.out, printed.err)

    return run_command


@pytest.fixture
def on(run: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Run]:
    """Run a command line on a simulation of 100 sandboxes, or of its parameter, in which nothing changes by itself."""
    monkeypatch.setenv("QUARTERDECK_API_KEY", KEY)
    with simulating(getattr(request, "param", 100)) as url:
        monkeypatch.setenv("QUARTERDECK_URL", url)
        yield run
