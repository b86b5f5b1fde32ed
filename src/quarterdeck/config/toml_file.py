"""Small TOML files of people: read without trusting them, changed by lines, written whole or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from quarterdeck.config import files


class ConfigError(Exception):
    """Something in the configuration is wrong; the text says what and where, and holds no secret."""


def read(path: Path, *, private: bool = False) -> dict[str, Any]:
    """What a file says, nothing where there is none; a `private` one must be closed to everybody else.

    Raises ConfigError that names the file, and the line where TOML ends being TOML.
    """
    return _parsed(path, _text(path, private=private), private=private)


def change(path: Path, edit: Callable[[dict[str, Any], str], str], *, private: bool = False) -> None:
    """Write a file anew: `edit` turns what it says into what it shall say, and returns its text changed to that.

    Raises ConfigError, the old file intact, when it cannot be read, changed for certain, or written.
    """
    try:
        text = _text(path, private=private)
        says = _parsed(path, text, private=private)
    except ConfigError as error:
        raise ConfigError(f"{error}; nothing was written") from error
    new = edit(says, text)
    if not _says(new, says):
        raise ConfigError(f"{path} is not laid out in a way this program can change; nothing was written")
    if new == text:
        return
    try:
        files.write(path, (new,))
    except OSError as error:
        raise ConfigError(f"{path} could not be written: {error.strerror}") from error


def entries_of(says: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """The tables within a table, which is made if it is not there; raises ConfigError where it is something else."""
    entries = says.setdefault(name, {})
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise ConfigError(f"{name} are written as tables, like [{name}.work]; nothing was written")
    return entries


def line_of(path: Path, table: tuple[str, ...]) -> int | None:
    """The line on which a table begins, counted from one; None where it has no header of its own."""
    from quarterdeck.config.toml_lines import line_of

    try:
        return line_of(files.read(path) or "", table)
    except files.UnusableFileError:
        return None


def _text(path: Path, *, private: bool) -> str:
    try:
        return files.read(path, private=private) or ""
    except files.UnusableFileError as error:
        raise ConfigError(str(error)) from error


def _parsed(path: Path, text: str, *, private: bool) -> dict[str, Any]:
    if not text:
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, place, line = str(error).partition(" (at line ")
        where = f", line {line.partition(',')[0]}" if place else ", at its end"
        # The reason may quote what stands there, which in a private file is a secret.
        raise ConfigError(f"{path}{where}: not TOML{'' if private else f' ({reason})'}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path} is not TOML a person would write") from None


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    import tomllib

    try:
        return tomllib.loads(text) == wanted
    except (ValueError, RecursionError):
        return False
