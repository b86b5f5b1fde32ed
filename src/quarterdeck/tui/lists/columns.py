"""The columns a person chose for a list."""

from __future__ import annotations

from collections.abc import Sequence

from quarterdeck.tui.widgets.table_layout import Column, R


def chosen_columns(columns: Sequence[Column[R]], names: Sequence[str] | None) -> tuple[Column[R], ...]:
    """The columns of these names in their order, the last ones dropped first where there is little room.

    None stands for all of them as they are; names that are not there are passed over.
    """
    if names is None:
        return tuple(columns)
    by_key = {column.key: column for column in columns}
    chosen = [by_key[name] for name in names if name in by_key]
    return tuple(column._replace(priority=at) for at, column in enumerate(chosen))
