"""The table of sandbox specs: a new spec is a new row."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from quarterdeck.client.models.enums import UrlName
from quarterdeck.local.records import now


@dataclass(frozen=True)
class Spec:
    """How a sandbox is run in its workspace folder, as in responses; `{port}` in the command becomes a free port.

    With an `address`, the command serves HTTP on that port of 127.0.0.1, and is ready when it responds. With
    `reads_input`, its standard input is the FIFO `input` next to the workspace, which never ends. Both are left out of
    responses.
    """

    id: str
    command: tuple[str, ...]
    created_at: str = field(default_factory=now)
    initial_env: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = "workspace"
    address: Annotated[UrlName | None, Field(exclude=True)] = None
    reads_input: Annotated[bool, Field(exclude=True)] = False

    def command_line(self, port: int | None) -> tuple[str, ...]:
        """Return the command with its port."""
        return tuple(part.replace("{port}", str(port)) for part in self.command)


_FILE_SERVER = str(Path(__file__).with_name("runtime") / "file_server.py")

BUILT_IN = (
    Spec("files", (sys.executable, "-I", "-S", _FILE_SERVER, "{port}"), address=UrlName.WORKER_1),
    Spec("shell", (shutil.which("bash") or "sh",), reads_input=True),
)
"""Specs that any machine with Python can run; the first one is the default."""
