"""How a person wants one list shown, as it is kept from run to run for each connection."""

from collections.abc import Collection
from typing import ClassVar, NamedTuple

from quarterdeck.fleet.kept import KeptModel


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


class KeptViews(KeptModel):
    """The views of one server by the list they are of, without those that are as by default."""

    kind: ClassVar[str] = "views"
    views: dict[str, View] = {}

    @classmethod
    def with_view(cls, kept: "KeptViews | None", name: str, view: View) -> "KeptViews | None":
        """What is kept, with this view of that list; None where all are as by default."""
        views = {**(kept.views if kept is not None else {}), name: view}
        worth = {each: chosen for each, chosen in views.items() if chosen != View()}
        return cls(views=worth) if worth else None
