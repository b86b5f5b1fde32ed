"""The report of a crash: where in the program it happened, without any of the program's data.

Messages of exceptions contain values, which may be keys, so only messages that name parts of the program are kept;
local variables never are. This module uses only the standard library, so that it works when little else does.
"""

import os
import platform
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from quarterdeck import __version__

REPORTS_KEPT = 10
_NAMES_PROGRAM_PARTS = (AttributeError, NameError, ImportError)


def describe(error: BaseException) -> str:
    """Return an exception and its causes as types and places, without values."""
    head = f"Quarterdeck {__version__}, Python {platform.python_version()}, {platform.system()}\n"
    return head + "".join(part for each in _chain(error) for part in _one(each))


def write_report(error: BaseException, folder: Path) -> Path:
    """Write a report to a new file of mode 0600 and return its path; raises OSError."""
    reports = folder / "crashes"
    for each in (folder, reports):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    path = reports / f"crash-{name}-{os.getpid()}.txt"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(describe(error))
    for old in sorted(reports.glob("crash-*.txt"))[:-REPORTS_KEPT]:
        old.unlink(missing_ok=True)
    return path


def farewell(error: BaseException, folder: Path) -> str:
    """Write the report, and return one line that says that the program ended and where the report is."""
    try:
        kept = f"A report without your data is in {write_report(error, folder)}"
    except OSError as failure:
        kept = f"No report could be written in {folder}: {failure.strerror}"
    return f"quarterdeck: it stopped because of an error of its own ({type(error).__name__}). {kept}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception and its causes, newest first, each once."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting.extend(each.exceptions)
        cause = each.__cause__ or each.__context__
        if cause is not None:
            waiting.append(cause)


def _one(error: BaseException) -> Iterator[str]:
    yield f"\n{type(error).__module__}.{type(error).__qualname__}{_safe_message(error)}\n"
    yield from traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), capture_locals=False).format()


def _safe_message(error: BaseException) -> str:
    """Return the part of a message that cannot contain a value: names of program parts, and the system's error text."""
    if isinstance(error, _NAMES_PROGRAM_PARTS):
        return f": {str(error)!a}"
    if isinstance(error, OSError) and error.errno is not None:
        return f": {os.strerror(error.errno)}"
    return ""
