"""Tables that commands print: columns aligned, a server's text made safe, times in UTC."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.cells import cell_len

from quarterdeck.tui.text import Shown, line


def table(titles: Sequence[str], rows: Sequence[Sequence[str | None]]) -> None:
    """Print rows under their titles, columns aligned; a missing value is a dash."""
    cells = [[Shown(title) for title in titles], *([line(value or "") or Shown("-") for value in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())


def moment(when: datetime | None) -> str:
    """A time in UTC to the minute; empty for one the server did not give."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M") if when is not None else ""
