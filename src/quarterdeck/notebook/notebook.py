"""Pages of a notebook: one small JSON document for each kind of thing and each server it is about."""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from quarterdeck.config import files
from quarterdeck.config.files import ConfigError

LARGEST = 8 * 1024 * 1024
"""Bytes of a page; a larger one is neither read nor written."""
MEMBERS = 3
"""Levels of a page that are written member by member: the page, what it says, and what that holds thousands of."""
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class NotebookError(Exception):
    """A page cannot be read or written; the text names it and says why."""


class Notebook:
    """Pages below a folder, files of mode 0600 that are written whole or not at all.

    A page that cannot be understood is put aside under another name, never overwritten. Every method may wait for the
    disk and raises NotebookError.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, kind: str, about: str) -> Any:
        """What the page of a kind says about a server; None where there is none."""
        return self._content(self._path(kind, about))

    def change(self, kind: str, about: str, change: Callable[[Any], Any]) -> Any:
        """Put on a page what `change` makes of what it says now, and give that; None takes the page away.

        Nobody else changes it meanwhile, not even another process.
        """
        path = self._path(kind, about)
        try:
            with _locked(path):
                said = self._content(path)
                says = change(said)
                if says is None:
                    path.unlink(missing_ok=True)
                elif says != said:
                    _write(path, {"about": about, "says": says})
                return says
        except OSError as error:
            raise NotebookError(f"{path} could not be written: {error.strerror}") from None

    def _path(self, kind: str, about: str) -> Path:
        name = hashlib.sha256(about.encode()).hexdigest()[:24]
        return self._folder / kind / f"{name}.json"

    def _content(self, path: Path) -> Any:
        try:
            text = files.read(path, private=True, largest=LARGEST)
        except ConfigError as error:
            raise NotebookError(str(error)) from None
        if text is None:
            return None
        try:
            return json.loads(text)["says"]
        except (ValueError, KeyError, TypeError, RecursionError):
            with suppress(OSError):
                path.replace(path.with_suffix(".damaged"))
            return None


def _write(path: Path, page: dict[str, Any]) -> None:
    files.write(path, "".join(_no_more(_pieces(page, MEMBERS), path)))


def _no_more(pieces: Iterable[str], path: Path) -> Iterator[str]:
    """The pieces as long as a page may take them."""
    room = LARGEST
    for piece in pieces:
        room -= len(piece.encode())
        if room < 0:
            raise NotebookError(f"{path} would be larger than {LARGEST // 1024} kB")
        yield piece


def _pieces(value: Any, levels: int) -> Iterator[str]:
    """JSON of a value, piece by piece: made at once, a long one takes seven times its room meanwhile."""
    if levels and value and isinstance(value, dict):
        for at, (name, member) in enumerate(value.items()):
            yield f"{',' if at else '{'}{_json(str(name))}:"
            yield from _pieces(member, levels - 1)
        yield "}"
    elif levels and value and isinstance(value, list):
        for at, member in enumerate(value):
            yield "," if at else "["
            yield from _pieces(member, levels - 1)
        yield "]"
    else:
        yield _json(value)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a page; a process that ends lets go of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
