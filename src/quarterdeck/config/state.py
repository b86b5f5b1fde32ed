"""State kept between runs: a small JSON file for each kind of model and each server."""

import hashlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import ClassVar, Protocol, Self, TypeVar

from pydantic import ValidationError

from quarterdeck.config import files
from quarterdeck.config.files import ConfigError

LARGEST = 8 * 1024 * 1024
"""Maximum size of a state file in bytes; a larger one is neither read nor written."""


class StateModel(Protocol):
    """A pydantic model that can be stored; without arguments it is what a missing file means.

    Its JSON is the content of the file. A secret member is written only if the model has a serializer for it, because
    pydantic writes stars for a `SecretStr`.
    """

    kind: ClassVar[str]
    """The name of the folder; unique among the models."""

    @property
    def version(self) -> int:
        """The version of the file's format; a file of another version is left alone."""

    @classmethod
    def model_validate_json(cls, json_data: str, /) -> Self:
        """Parse the content of a file."""

    def model_dump_json(self) -> str:
        """Return the content of a file."""


M = TypeVar("M", bound=StateModel)


class StateFiles:
    """Models in `FOLDER/KIND/HASH.json`, where HASH is computed from the server (its address, else its name).

    Files have mode 0600 and are written completely or not at all. A damaged file is renamed to a name that ends in
    `.damaged`, which `tell` gets, and counts as missing. Every method may block on the disk and raises ConfigError.
    """

    def __init__(self, folder: Path, tell: Callable[[Path], None] = lambda renamed: None) -> None:
        self._folder = folder
        self._tell = tell

    def read(self, model: type[M], about: str) -> M:
        """Return what is stored about a server, `model()` if there is nothing."""
        content = _content(self._path(model, about), model)
        return self.change(model, about, lambda kept: kept) if content is None else content

    def change(self, model: type[M], about: str, change: Callable[[M], M]) -> M:
        """Store and return the result of `change`, which receives the stored model; `model()` deletes the file.

        Nobody else changes it meanwhile, not even another process.
        """
        path = self._path(model, about)
        with files.changing(path):
            before = self._undamaged(path, model)
            after = change(before)
            if after == model():
                path.unlink(missing_ok=True)
            elif after != before:
                _write(path, after)
            return after

    def _undamaged(self, path: Path, model: type[M]) -> M:
        """Return the content of a file; a damaged one is renamed, without replacing an earlier damaged one."""
        if (content := _content(path, model)) is None:
            names = (path.with_suffix(f".{number}.damaged" if number else ".damaged") for number in count())
            self._tell(path.rename(next(name for name in names if not name.exists())))
        return content or model()

    def _path(self, model: type[StateModel], about: str) -> Path:
        return self._folder / model.kind / f"{hashlib.sha256(about.encode()).hexdigest()[:24]}.json"


def _content(path: Path, model: type[M]) -> M | None:
    """Return the content of a file, None if it is damaged: also where it says nothing, as no file written here does."""
    text = files.read(path, private=True, largest=LARGEST)
    if text is None:
        return model()
    try:
        content = model.model_validate_json(text)
    except ValidationError as error:
        if any(problem["loc"] == ("version",) for problem in error.errors(include_url=False, include_input=False)):
            raise ConfigError(f"{path} was written by another version of this program; it is left alone") from None
        return None
    return None if content == model() else content


def _write(path: Path, content: StateModel) -> None:
    try:
        text = content.model_dump_json()
    except ValueError:
        raise ConfigError(f"{path} could not be written: half a character of a server cannot be kept") from None
    if len(text.encode()) > LARGEST:
        raise ConfigError(f"{path} would be larger than {LARGEST // 1024} kB")
    files.write(path, text)
