"""`quarterdeck serve` in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

KEY = "sentinel-key"


@contextmanager
def serving(*arguments: str, **environ: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a local service, and its process."""
    program = [sys.executable, "-m", "quarterdeck", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env={**os.environ, **environ})
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("serving http://127.0.0.1:"), first
        yield first.split()[1], process
    finally:
        process.kill()
        process.communicate()
