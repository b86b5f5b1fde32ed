"""How a person wants one list shown, as it is kept from run to run for each connection."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple


class View(NamedTuple):
    """The columns, the order and the filter of one list."""

    columns: tuple[str, ...] | None = None
    """The columns shown, in their order; None for the ones there is room for."""
    sort: str | None = None
    """The column sorted by; None for the default order."""
    reverse: bool = False
    filter: str = ""
    """As it was typed."""

    def among(self, columns: Collection[str]) -> "View":
        """The same without columns that are not there (any more)."""
        chosen = None if self.columns is None else tuple(name for name in self.columns if name in columns)
        return self._replace(columns=chosen or None, sort=self.sort if self.sort in columns else None)

    def to_note(self) -> dict[str, Any] | None:
        """What to note down of it; None when it is the default."""
        if self == View():
            return None
        chosen = None if self.columns is None else list(self.columns)
        return {"columns": chosen, "sort": self.sort, "reverse": self.reverse, "filter": self.filter}

    @classmethod
    def from_note(cls, note: Any) -> "View":
        """Read a note; whatever in it makes no sense is as by default."""
        if not isinstance(note, Mapping):
            return cls()
        columns, sort, typed = note.get("columns"), note.get("sort"), note.get("filter")
        names = columns if isinstance(columns, list) else ()
        named = tuple(dict.fromkeys(name for name in names if isinstance(name, str)))
        return cls(
            columns=named or None,
            sort=sort if isinstance(sort, str) else None,
            reverse=note.get("reverse") is True,
            filter=typed if isinstance(typed, str) else "",
        )
