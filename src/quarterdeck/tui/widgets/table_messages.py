"""What a table tells its owner."""

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget


@dataclass
class TableMessage(Message):
    """A message of a table, which is its `control`."""

    table: Widget

    @property
    def control(self) -> Widget:
        """The table, for `@on(..., "#id")`."""
        return self.table


@dataclass
class Highlighted(TableMessage, namespace="live_table"):
    """The cursor is on another row; None where there are no rows."""

    id: str | None


@dataclass
class Chosen(TableMessage, namespace="live_table"):
    """Enter, or a second click on a row."""

    id: str


@dataclass
class Marked(TableMessage, namespace="live_table"):
    """The marks changed."""

    ids: frozenset[str]


@dataclass
class Seen(TableMessage, namespace="live_table"):
    """Other rows are on the screen now; their ids from the top."""

    ids: tuple[str, ...]


@dataclass
class SortAsked(TableMessage, namespace="live_table"):
    """The title of a column that can be sorted by was clicked."""

    key: str
