"""The table of sandbox specs: a new spec is a new row."""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quarterdeck.client.models.enums import UrlName


@dataclass(frozen=True)
class Spec:
    """How a sandbox is run in its workspace folder; `{port}` in the command is replaced by a free port.

    With an `address`, the command serves HTTP on that port of 127.0.0.1, and is ready when it responds. With
    `reads_input`, its standard input is the FIFO `input` next to the workspace, which never ends.
    """

    id: str
    command: tuple[str, ...]
    address: UrlName | None = None
    reads_input: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    def command_line(self, port: int | None) -> tuple[str, ...]:
        """Return the command with its port."""
        return tuple(part.replace("{port}", str(port)) for part in self.command)


_FILE_SERVER = str(Path(__file__).with_name("runtime") / "file_server.py")

BUILT_IN = (
    Spec("files", (sys.executable, "-I", "-S", _FILE_SERVER, "{port}"), address=UrlName.WORKER_1),
    Spec("shell", (shutil.which("bash") or "sh",), reads_input=True),
)
"""Specs that any machine with Python can run; the first one is the default."""
