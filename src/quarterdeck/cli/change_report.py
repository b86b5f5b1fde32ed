"""What `sandboxes pause`, `resume` and `delete` say: a plan, each row as it ends, and what became of all of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quarterdeck.cli.following import Verb
from quarterdeck.cli.output import as_json, note, say, table
from quarterdeck.cli.selection import Selected
from quarterdeck.fleet.bulk import BulkRow, RowState, counted

NOT_DONE = frozenset({RowState.FAILED, RowState.UNCHANGED, RowState.UNDONE, RowState.GONE, RowState.STOPPED})
"""Ends of a row that was to be changed, and was not."""


def unknown_rows(selected: Selected) -> list[BulkRow]:
    """What is said of ids that the server does not know."""
    return [BulkRow(one, RowState.GONE, "There is no sandbox of this id.") for one in selected.unknown]


def in_order(rows: Iterable[BulkRow], selected: Selected, named: Sequence[str]) -> list[BulkRow]:
    """The rows as they were named, or as their server lists them."""
    places = {one: place for place, one in enumerate(named or selected.by_id)}
    return sorted(rows, key=lambda row: places[row.id])


def tell_plan(rows: Sequence[BulkRow], selected: Selected, verb: Verb, *, json: bool) -> None:
    """Say what would be done to each, and what would be left out and why."""
    statuses = {row.id: row.record.status for row in selected.rows}
    if json:
        as_json([_plain(row, statuses.get(row.id)) for row in rows])
        return
    cells = [
        (row.id, statuses.get(row.id), verb if row.state is RowState.WAITING else "skip", _why(row)) for row in rows
    ]
    table(("ID", "STATUS", "PLAN", "WHY"), cells)


def tell_row(row: BulkRow, status: str | None, *, json: bool) -> None:
    """Say of one row that has come to its end how it did: done on standard output, the rest on standard error."""
    if row.state is RowState.DONE and not json:
        say(f"{row.id}  {status or 'deleted'}")
    elif row.state in NOT_DONE:
        note(f"{row.id}: {row.state}. {_why(row)}")


def tell_end(rows: Sequence[BulkRow], statuses: Mapping[str, str | None], *, json: bool) -> None:
    """Say what became of all rows; `statuses` are the server's last words."""
    if json:
        as_json([_plain(row, statuses.get(row.id)) for row in rows])
    elif len(rows) > 1:
        note(f"{counted(rows)}.")


def _plain(row: BulkRow, status: str | None) -> dict[str, Any]:
    result = "planned" if row.state is RowState.WAITING else row.state.value
    return {"id": row.id, "done": row.state is RowState.DONE, "status": status, "result": result, "why": _why(row)}


def _why(row: BulkRow) -> str:
    """Why it is so; what a rule says after its semicolon names keys of the deck."""
    rule, semicolon, _ = row.words.partition(";")
    return f"{rule}." if row.state is RowState.SKIPPED and semicolon else row.words
