"""What commands print: a server's text made safe, tables aligned, JSON in plain ASCII."""

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from quarterdeck.tui.text import Shown, line


class CommandError(Exception):
    """A command that cannot go on: what is wrong, what to do, and the exit status (2 for wrong usage)."""

    def __init__(self, words: str, advice: str = "", *, status: int = 1) -> None:
        super().__init__(words)
        self.words = words
        self.advice = advice
        self.status = status


def say(text: str) -> None:
    """Print one line on standard output."""
    print(line(text))


def note(words: str, advice: str = "") -> None:
    """Print one line on standard error."""
    print(line(f"quarterdeck: {words} {advice}"), file=sys.stderr)


def as_json(value: Any) -> None:
    """Print JSON; every character a terminal could act on is escaped."""
    print(_json(value, 2))


def json_line(value: Any) -> None:
    """Print JSON on one line, as one of many."""
    print(_json(value, None))


def table(titles: Sequence[str], rows: Sequence[Sequence[str | None]]) -> None:
    """Print rows under their titles, columns aligned; a missing value is a dash."""
    cells = [[Shown(title) for title in titles], *([line(value or "") or Shown("-") for value in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())


def moment(when: datetime | None) -> str:
    """A time in UTC to the minute; empty for one the server did not give."""
    return when.strftime("%Y-%m-%d %H:%M") if when is not None else ""


def _json(value: Any, indent: int | None) -> str:
    return json.dumps(value, indent=indent, default=str).replace("\x7f", "\\u007f")


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
