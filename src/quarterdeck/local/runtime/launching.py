"""Starting a sandbox's session, outside of the service's own family of processes."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from quarterdeck.local.errors import SandboxError
from quarterdeck.local.runtime.base import Identity
from quarterdeck.local.runtime.sessions import boot_id, identify
from quarterdeck.local.specs import Spec

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_LAUNCHES_WITHIN = 15.0
"""Seconds for a supervisor to say that its command runs."""
_ENDED_ALREADY = 0
"""Ticks that no live process has: for a leader that was gone before it could be looked at."""


@dataclass(frozen=True)
class Place:
    """The folder of one sandbox and what is in it."""

    folder: Path

    @property
    def workspace(self) -> Path:
        """Where its command runs."""
        return self.folder / "workspace"

    @property
    def log(self) -> Path:
        """What its command has written."""
        return self.folder / "output.log"

    @property
    def input(self) -> Path:
        """The FIFO a command reads whose spec says so."""
        return self.folder / "input"

    def make(self, spec: Spec) -> None:
        """Create it, for its owner alone."""
        self.folder.mkdir(mode=0o700, parents=True)
        self.workspace.mkdir()
        if spec.reads_input:
            os.mkfifo(self.input, 0o600)

    def remove(self) -> None:
        """Remove it with all that is in it, also from folders that their maker made read-only."""
        for parent, folders, _ in os.walk(self.folder):
            for folder in (Path(parent) / name for name in folders):
                if not folder.is_symlink():
                    folder.chmod(0o700)
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_words(self) -> str:
        """The last line its command has written, if any."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
                lines = log.read().decode(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def free_port(taken: Collection[int]) -> int:
    """A port of 127.0.0.1 that nobody listens on and no sandbox was given."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as trial:
            port = int(trial.getsockname()[1])
        if port not in taken:
            return port


def new_key() -> SecretStr:
    """A key that nobody guesses."""
    return SecretStr(secrets.token_urlsafe(32))


def launch(spec: Spec, place: Place, port: int | None, environment: Mapping[str, str]) -> Identity:
    """Start the session of a sandbox in its place and give the identity of its leader; blocks for ~30 ms.

    Raises `SandboxError` when its command cannot be run.
    """
    feed = str(place.input) if spec.reads_input else os.devnull
    command = [sys.executable, "-I", "-S", _SUPERVISOR, str(place.log), feed, *spec.command_line(port)]
    try:
        report = subprocess.run(
            command,
            cwd=place.workspace,
            env={**inherited_environment(), **spec.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LAUNCHES_WITHIN,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"The sandbox could not be started: {type(error).__name__}.") from error
    if report.returncode or not report.stdout.strip().isdecimal():
        raise SandboxError(f"The sandbox could not be started: {report.stderr.strip()[-300:] or 'no word why'}")
    pid = int(report.stdout)
    return identify(pid) or Identity(pid, _ENDED_ALREADY, boot_id())


def inherited_environment() -> dict[str, str]:
    """Our environment without what is for Quarterdeck alone, keys among it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QUARTERDECK_")}
