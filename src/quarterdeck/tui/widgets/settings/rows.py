"""The ids of the form's rows: a field's is its key, those of other rows begin with their kind."""

from enum import StrEnum

from quarterdeck.settings.fields import Problem


class RowKind(StrEnum):
    """What a row is; the value begins its id."""

    FIELD = ""
    SERVER = "mcp:"
    OTHER = "other:"
    MORE = "more:"
    SECRET = "secret:"  # noqa: S105 - begins a row's id
    TOKEN = "token:"  # noqa: S105 - begins a row's id
    PROFILE = "profile:"


AT_ONCE = frozenset({RowKind.SECRET, RowKind.TOKEN, RowKind.PROFILE})
"""Rows that are no part of the draft: what is done to them is done at once."""


_KINDS = {str(kind): kind for kind in RowKind}


def kind_of(row: str) -> RowKind:
    """What a row is; no field's key has a colon."""
    return _KINDS.get(row[: row.find(":") + 1], RowKind.FIELD)


def name_in(row: str) -> str:
    """What the id says besides the kind; empty for the row that stands where a list has none."""
    return row.removeprefix(kind_of(row))


def server_row(row: str) -> int | None:
    """The number of an MCP server's row, None for other rows."""
    return int(name_in(row)) if kind_of(row) is RowKind.SERVER and name_in(row) else None


def row_of(problem: Problem) -> str:
    """The row a problem is shown at."""
    return problem.key if problem.row is None else f"{RowKind.SERVER}{problem.row}"
