"""Runs commands in this process, on a local service of the test's own, and leaves no sandbox behind."""

import asyncio
import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.cli.main import main
from quarterdeck.client.client import IN_PROCESS, Client
from quarterdeck.client.transport import Access
from quarterdeck.local.service import LocalService
from tests.conftest import Home


@dataclass(frozen=True)
class Ended:
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


@pytest.fixture
def run(home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a command line, with `typed` on its standard input, that ends with this status."""

    def run_command(*arguments: str, typed: str | None = None, status: int = 0) -> Ended:
        monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
        monkeypatch.setattr(sys, "stdin", None if typed is None else io.StringIO(typed))
        capsys.readouterr()
        try:
            ended = main(arguments)
        except SystemExit as leaving:
            ended = int(leaving.code or 0)
        printed = capsys.readouterr()
        assert ended == status, printed
        return Ended(printed.out, printed.err)

    yield run_command
    if any(home.data.glob("sandboxes/*")):
        asyncio.run(_delete_sandboxes(home.data))


async def _delete_sandboxes(folder: Path) -> None:
    service = await LocalService.open(folder)
    try:
        async with Client(IN_PROCESS, service.key, access=Access(app=service.app)) as client:
            async for page in client.sandboxes.pages():
                for sandbox in page.items:
                    await client.sandboxes.delete(sandbox.id)
    finally:
        await service.aclose()
