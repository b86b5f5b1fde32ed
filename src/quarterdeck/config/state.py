"""What is kept between runs: one small JSON file for each kind of thing and each server it is about."""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import ClassVar, Protocol, Self, TypeVar

from pydantic import ValidationError

from quarterdeck.config import files
from quarterdeck.config.files import ConfigError

LARGEST = 8 * 1024 * 1024
"""Bytes of a state file; a larger one is neither read nor written."""


class StateModel(Protocol):
    """A pydantic model that can be kept.

    Its JSON is what stands in the file: a member that holds a secret is written only where the model has a serializer
    for it, for pydantic writes stars in the place of a `SecretStr`.
    """

    kind: ClassVar[str]
    """Name of the folder; no two models share one."""

    @property
    def version(self) -> int:
        """Which form of the file this is; a file of any other is left alone."""

    @classmethod
    def model_validate_json(cls, json_data: str, /) -> Self:
        """Read a file."""

    def model_dump_json(self) -> str:
        """Write a file."""


M = TypeVar("M", bound=StateModel)


class _DamagedError(Exception):
    """A file does not say what its model asks for."""


class StateFiles:
    """Models in `FOLDER/KIND/HASH.json`, HASH being of the server they are about (its address, else its name).

    Files of mode 0600 that are written whole or not at all. One that is damaged is put aside under a name that ends in
    `.damaged`, and counts as absent. Every method may wait for the disk and raises ConfigError.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, model: type[M], about: str) -> M | None:
        """What is kept about a server, None where nothing is."""
        path = self._path(model, about)
        try:
            return _content(path, model)
        except _DamagedError:
            return self.change(model, about, lambda kept: kept)

    def change(self, model: type[M], about: str, change: Callable[[M | None], M | None]) -> M | None:
        """Keep what `change` makes of what is kept, and return it; None deletes the file.

        Nobody else changes it meanwhile, not even another process.
        """
        path = self._path(model, about)
        try:
            with _locked(path):
                before = _undamaged(path, model)
                after = change(before)
                if after is None:
                    path.unlink(missing_ok=True)
                elif after != before:
                    _write(path, after)
                return after
        except OSError as error:
            raise ConfigError(f"{path} could not be written: {error.strerror}") from None

    def _path(self, model: type[StateModel], about: str) -> Path:
        return self._folder / model.kind / f"{hashlib.sha256(about.encode()).hexdigest()[:24]}.json"


def _content(path: Path, model: type[M]) -> M | None:
    text = files.read(path, private=True, largest=LARGEST)
    if text is None:
        return None
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        if any(problem["loc"] == ("version",) for problem in error.errors(include_url=False, include_input=False)):
            raise ConfigError(f"{path} was written by another version of this program; it is left alone") from None
        raise _DamagedError from None


def _undamaged(path: Path, model: type[M]) -> M | None:
    """What a file says; a damaged one goes out of the way, and never over one that was put aside before."""
    try:
        return _content(path, model)
    except _DamagedError:
        names = (path.with_suffix(f".{number}.damaged" if number else ".damaged") for number in count())
        path.rename(next(name for name in names if not name.exists()))
        return None


def _write(path: Path, content: StateModel) -> None:
    text = content.model_dump_json()
    if len(text.encode()) > LARGEST:
        raise ConfigError(f"{path} would be larger than {LARGEST // 1024} kB")
    files.write(path, text)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file; a process that ends lets go of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
